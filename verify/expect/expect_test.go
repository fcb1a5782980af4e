package expect_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// parse returns the annotations of the last property of a file.
func parse(t *testing.T, src string) []expect.Expectation {
	t.Helper()
	file, err := syntax.ParseProperties("x.props", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := file.Items[len(file.Items)-1].(*syntax.Property)
	if !ok {
		t.Fatal("the last item is not a property")
	}
	return expect.Parse([]byte(src), p)
}

// TestParse: every case was run with prism -testall, which found the same annotations.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      string // value@line:col per annotation
	}{
		{"one", "// RESULT: 1/6\nP=? [ F s=1 ];\n", "1/6@1:12"},
		{"named", "const int k;\n\n// a comment\n  //RESULT : 0.5 (from a book)\n\"x\": P=? [ F s=1 ]", "0.5@4:14"},
		{"text in front, several on a line", "// see RESULT: 1 and RESULT: 2\ntrue", "1@1:16 2@1:30"},
		{"behind another property", "true // RESULT: 3\nfalse", "3@1:17"},
		{"behind another property and its semicolon", "true; // RESULT: 3\n// RESULT: 4\nfalse", "3@1:18 4@2:12"},
		{"blank line", "// RESULT: 1\n\ntrue", ""},
		{"blank line between", "// RESULT: 1\n\n// RESULT: 2\ntrue", "2@3:12"},
		{"conditions", "// RESULT (N=1, p = 1/3,): ~0.5\n// RESULT(N=2):7\ntrue", "~0.5@1:28 7@2:16"},
		{"over two lines", "// RESULT (N=1,\n//    p=2): 5\ntrue", "5@2:13"},
		{"CR LF", "// x\r\n// RESULT: 1\r\ntrue", "1@2:12"},
		{"another modifier", "// RESULT{noprobchecks}: 0.3\ntrue", ""},
		{"interval with a blank", "// RESULT: [0.2, 0.4]\ntrue", "[0.2,@1:12"},
		{"value on the next line", "// RESULT:\n// 5\ntrue", ""},
		{"not ASCII", "// größer RESULT: 1\ntrue", "1@1:21"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, e := range parse(t, tt.src) {
				got = append(got, e.Value+"@"+e.ValuePos.String())
				if text := tt.src[e.Pos.Offset:e.End.Offset]; text != e.Text || !strings.HasPrefix(text, "RESULT") || !strings.HasSuffix(text, e.Value) {
					t.Errorf("positions select %q, text is %q", text, e.Text)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	es := parse(t, "// RESULT ( N = 1 ,, a==b, c, d=, =1, e=1=): 5\ntrue")
	want := []expect.Condition{
		{Text: "N = 1", Name: "N", Value: "1", IsWellFormed: true},
		{Text: "a==b"},
		{Text: "c"},
		{Text: "d="},
		{Text: "=1", Value: "1", IsWellFormed: true},
		{Text: "e=1=", Name: "e", Value: "1", IsWellFormed: true},
	}
	if len(es) != 1 || len(es[0].Conditions) != len(want) {
		t.Fatalf("got %+v", es)
	}
	for i, c := range es[0].Conditions {
		if int(c.Pos.Col) != 1+strings.Index("// RESULT ( N = 1 ,, a==b, c, d=, =1, e=1=): 5", c.Text) {
			t.Errorf("%q is at %v", c.Text, c.Pos)
		}
		c.Pos = syntax.Pos{}
		if c != want[i] {
			t.Errorf("condition %d: %+v, want %+v", i, c, want[i])
		}
	}
}

// constants are those of a model, and one of the properties.
func constants() []sema.NamedValue {
	return []sema.NamedValue{
		{Name: "N", Val: sema.IntValue(3)},
		{Name: "p", Val: sema.RatValue(big.NewRat(1, 3))},
		{Name: "b", Val: sema.BoolValue(true)},
		{Name: "x", Val: sema.DoubleValue(2)},
	}
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		src   string
		exact bool
		want  string // the value, or the error
	}{
		{"// RESULT: 1\n// RESULT (N=3): 2", false, "1"},
		{"// RESULT (N=2): 1\n// RESULT (N=3): 2", false, "2"},
		{"// RESULT (N=3.0): 1\n// RESULT (N=3): 2", false, "2"}, // ints are compared as text
		{"// RESULT (p=1/3): 1", false, "1"},
		{"// RESULT (p=0.3333333333333): 1", false, "1"}, // relative 1e-12
		{"// RESULT (p=0.33333333333): 1\n// RESULT: 2", false, "2"},
		{"// RESULT (p=0.3333333333333): 1\n// RESULT (p=1/3): 2", true, "2"},
		{"// RESULT (b=true,x=2.0): 1", false, "1"},
		{"// RESULT (b=TRUE): 1\n// RESULT (x=4/2): 2", false, "2"},
		{"// RESULT (y=1): 1\n// RESULT: 2", false, "2"}, // unknown constant
		{"// RESULT (N): 1\n// RESULT: 2", false, `Badly formed RESULT specification "RESULT (N): 1"`},
		{"// RESULT: 1\n// RESULT (N): 2", false, "1"},
		{"// RESULT (N=2): 1", false, "Did not find a RESULT specification (for N=3,p=0.333333333333,b=true,x=2) to test against"},
	} {
		e, err := expect.Select(parse(t, tt.src+"\ntrue"), expect.Rules{Constants: constants(), Exact: tt.exact})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = e.Value
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.src, got, tt.want)
		}
	}
}

func boolean(b bool) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: b}, Accuracy: result.Exact}
}

func integer(n float64) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Integer, Num: n, Rat: new(big.Rat).SetFloat64(n)}, Accuracy: result.Exact}
}

func parseDouble(x float64, acc result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, Accuracy: acc}
}

func bounded(lo, x, hi float64) result.Verdict {
	v := parseDouble(x, result.Bounded)
	v.Bound = &result.Interval{Lo: lo, Hi: hi}
	return v
}

func parseRational(a, b int64) result.Verdict {
	r := big.NewRat(a, b)
	f, _ := r.Float64()
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: f, Rat: r}, Accuracy: result.Exact}
}

func of(property string, v result.Verdict) result.Verdict {
	v.Property = property
	return v
}

func failed(class result.Class, msg string) result.Verdict {
	return result.Verdict{Err: &result.Failure{Class: class, Message: msg}}
}

// TestJudge: the reasons are those of prism -testall, but for the wording of
// what PRISM's parser says, and for Java's class names.
func TestJudge(t *testing.T) {
	half := 0.01
	sampled := parseDouble(0.425, result.Probable)
	sampled.HalfWidth = &half
	for _, tt := range []struct {
		value string
		v     result.Verdict
		want  string
	}{
		{"?", boolean(true), "NOT TESTED"},
		{"?", failed(result.Unsupported, "LTL"), "NOT TESTED"},
		{"1", failed(result.Unsupported, "LTL"), "UNSUPPORTED: LTL"},
		{"Error", failed(result.Unsupported, "LTL"), "UNSUPPORTED: LTL"},

		{"Error", failed(result.Model, "Bad rate"), "PASS"},
		{"Error:rate,BAD", failed(result.Model, "Bad rate"), "PASS"},
		{"Error:rate,good", failed(result.Model, "Bad rate"), `FAIL: Error message should contain "good" (it is "Bad rate")`},
		{"Error:,rate", failed(result.Model, "Bad rate"), "FAIL: Invalid RESULT specification: no expected words immediately following 'Error:'"},
		{"Error", boolean(true), "FAIL: Was expecting an error"},
		{"1", failed(result.Model, "Bad rate"), "FAIL: Unexpected error: Bad rate"},

		{"true", boolean(true), "PASS"},
		{"TRUE", boolean(true), "PASS"},
		{"N>2&b", boolean(true), "PASS"},
		{"N>3", boolean(true), "FAIL: Wrong result (expected N>3 = false, got true)"},
		{"false", boolean(true), "FAIL: Wrong result (expected false, got true)"},
		{"N", boolean(true), `FAIL: Invalid RESULT specification "N": found an int, want a bool`},

		// PRISM says here that NaN is an unknown identifier
		{"NaN", boolean(false), "FAIL: Wrong result (expected NaN, got false)"},
		{"-Infinity", boolean(true), "FAIL: Wrong result (expected -Infinity, got true)"},
		{"[0,1]", boolean(true), "FAIL: Wrong result (expected [0,1], got true)"},
		{"NaN", of("multi(Pmax=? [ F a ], P>=0.5 [ F b ])", boolean(false)), "PASS"},
		{"NaN", of("multi(Pmax=? [ F a ], P>=0.5 [ F b ])", boolean(true)), "FAIL: Wrong result (expected NaN, got true)"},

		{"NaN", integer(3), "FAIL: Wrong result (expected NaN, got 3)"},
		{"~[0,9]", integer(3), "FAIL: Wrong result (expected ~[0,9], got 3)"},
		{"3", integer(3), "PASS"},
		{"N", integer(3), "PASS"},
		{"N+1", integer(3), "FAIL: Wrong result (expected N+1 = 4, got 3)"},
		{"3.0", integer(3), `FAIL: Invalid RESULT specification "3.0": found a double, want an int`},

		{"0.3", parseDouble(0.3, result.Float), "PASS"},
		{"~0.3", parseDouble(0.3, result.Float), "PASS"},
		{"0.300001", parseDouble(0.3, result.Float), "FAIL: Wrong result (expected 0.300001, abs err = 1.0000000000287557E-6 > 0.0)"},
		{"0.300001", parseDouble(0.3, result.Estimated), "PASS"},
		{"0.30001", parseDouble(0.3, result.Estimated), "FAIL: Wrong result (expected 0.30001, abs err = 1.0000000000010001E-5 > 3.0E-6)"},
		{"0.300001", parseDouble(0.3, result.Unknown), "PASS"},
		{"1/3", parseDouble(1.0/3, result.Float), "PASS"},
		{"p", parseDouble(1.0/3, result.Float), "PASS"},
		{"1-2*p", parseDouble(1.0/3, result.Float), "PASS"},
		{"1/x", parseDouble(0.5, result.Float), "PASS"},
		{"1/x", parseDouble(0.6, result.Float), "FAIL: Wrong result (expected 1/x = 0.5, abs err = 0.09999999999999998 > 0.0)"},
		{"q", parseDouble(0.6, result.Float), `FAIL: Invalid RESULT specification "q": undeclared identifier "q"`},
		{"1+", parseDouble(0.6, result.Float), `FAIL: Invalid RESULT specification "1+"`},
		{"NaN", parseDouble(math.NaN(), result.Float), "PASS"},
		{"NaN", parseDouble(1, result.Float), "FAIL: Wrong result (expected NaN, got 1.0)"},
		{"Infinity", parseDouble(math.Inf(1), result.Bounded), "PASS"},
		{"-Infinity", parseDouble(math.Inf(1), result.Float), "FAIL: Wrong result (expected -Infinity, got Infinity)"},
		{"1", parseDouble(math.Inf(1), result.Float), "FAIL: Wrong result (expected 1, got Infinity)"},

		{"0.31", bounded(0.2, 0.3, 0.32), "PASS"},
		{"0.33", bounded(0.28, 0.3, 0.32), "FAIL: Wrong result (expected 0.33, abs err = 0.030000000000000027 > 0.020000000000000018)"},
		{"0.43", sampled, "PASS"},
		{"0.44", sampled, "FAIL: Wrong result (expected 0.44, abs err = 0.015000000000000013 > 0.01)"},
		{"[0.31,0.4]", bounded(0.28, 0.3, 0.32), "PASS"},
		{"[0.33,0.4]", bounded(0.28, 0.3, 0.32), "FAIL: Wrong result (expected [0.33,0.4], got 0.3)"},
		{"[0.2,", parseDouble(0.3, result.Float), `FAIL: Invalid RESULT specification "[0.2,"`},
		{"[a,1]", parseDouble(0.3, result.Float), `FAIL: Invalid RESULT specification "[a,1]": found ends that are not numbers`},
		{"[(0.5,0.5),(1.0,0)]", curve(1e-6, 1, 0.0000001, 0.5, 0.5), "PASS"},
		{"[(0.5,0.5),(1.0,0)]", curve(1e-6, 1, 0, 0.5, 0.51), "FAIL: Wrong result (expected [(0.5,0.5),(1.0,0)], got [(1.0,0.0),(0.5,0.51)])"},
		{"[(0.5,0.5)]", curve(1e-6, 1, 0, 0.5, 0.5), "FAIL: Wrong result (expected [(0.5,0.5)], got [(1.0,0.0),(0.5,0.5)])"},
		{"[(0.5,0.5,1)]", curve(1e-6, 0.5, 0.5), "FAIL: Wrong result (expected [(0.5,0.5,1)], got [(0.5,0.5)])"},
		{"0.5", curve(1e-6, 0.5, 0.5), "FAIL: Wrong result (expected 0.5, got a Pareto curve)"},
		{"[0.1,0.2]", result.Verdict{Value: result.Value{Kind: result.Range, Num: 0.1, Hi: 0.2}}, "FAIL: Don't know how to test properties of type interval of double"},
	} {
		e := expect.Expectation{Value: tt.value}
		got := e.Judge(tt.v, expect.Rules{Constants: constants()}).String()
		if got != tt.want && !(strings.HasSuffix(tt.want, `"`) && strings.HasPrefix(got, tt.want+": ")) {
			t.Errorf("%s: got %q, want %q", tt.value, got, tt.want)
		}
	}
}

func TestJudgeExact(t *testing.T) {
	infinite := parseDouble(math.Inf(1), result.Exact)
	for _, tt := range []struct {
		value string
		v     result.Verdict
		want  string
	}{
		{"1/3", parseRational(1, 3), "PASS"},
		{"p", parseRational(1, 3), "PASS"},
		{"0.25", parseRational(1, 4), "PASS"},
		{"2.5e-1", parseRational(1, 4), "PASS"},
		{"~0.333333", parseRational(1, 3), "PASS"},
		{"0.333333", parseRational(1, 3), "FAIL: Inexact, but close result (expected '0.333333' = 333333/1000000 (0.333333), got 1/3 (0.3333333333333333))"},
		{"~0.33", parseRational(1, 3), "FAIL: Wrong result (expected '0.33' = 33/100 (0.33), got 1/3 (0.3333333333333333))"},
		{"[0.2,0.4]", parseRational(1, 3), `FAIL: Invalid RESULT specification "[0.2,0.4]"`},
		{"3", integer(3), "PASS"},
		{"~3.0000001", integer(3), "FAIL: Wrong result (expected '3.0000001' = 30000001/10000000 (3.0000001), got 3 (3.0))"},
		{"Infinity", infinite, "PASS"},
		{"Infinity", parseRational(1, 3), "FAIL: Wrong result (expected Infinity, got 0.3333333333333333)"},
		{"5", infinite, "FAIL: Wrong result (expected 5, got Infinity)"},
		{"true", boolean(true), "PASS"},
	} {
		e := expect.Expectation{Value: tt.value}
		got := e.Judge(tt.v, expect.Rules{Constants: constants(), Exact: true}).String()
		if got != tt.want && !(strings.HasSuffix(tt.want, `"`) && strings.HasPrefix(got, tt.want+": ")) {
			t.Errorf("%s: got %q, want %q", tt.value, got, tt.want)
		}
	}
}

// TestRelative grants what PRISM grants to its default engines.
func TestRelative(t *testing.T) {
	e := expect.Expectation{Value: "0.333333"}
	v := bounded(0.3333333333, 1.0/3, 0.3333333334)
	if got := e.Judge(v, expect.Rules{}); got.Outcome != expect.Fail {
		t.Errorf("PRISM's rule: %v", got)
	}
	if got := e.Judge(v, expect.Rules{Relative: expect.DefaultRelative}); got.Outcome != expect.Pass {
		t.Errorf("with a relative error: %v", got)
	}
}

// TestFormsOfPRISM: the forms of values in PRISM's own suite (commit 9486c774,
// 1,936 annotations) are no mistakes; the last one is one there, too.
func TestFormsOfPRISM(t *testing.T) {
	forms := []string{
		"0.5", "true", "False", "1/6", "3", "1.0E-5", "Infinity", "+Infinity", "-Infinity", "NaN", "?", "Error", "Error:a,b",
		"[0.1,0.2]", "~0.25", "-1/2", "-7", "1/4+1/8+1/8", "1+1/2+1+2/3+1", "(1*p+2)/(3*p)", "max(0.5,0.1+0.2*p)", "max(1/2,1/4+p/2)",
		"-p/(2*p-1)", "pow(p,2)", "(-2*p-1)/(p-1)", "(2*p^3+1*p^2)/(p^2+1)", "1-p",
		"[(1,2)]", "[(1,2),(3,4)]", "[(1,0.5)]", "[(0.5,1.5),(2.0,2),(1,0.25)]",
	}
	for _, value := range forms {
		if got := mistakesOf(t, "// RESULT: "+value+"\ntrue"); got != "" {
			t.Errorf("%s: %s", value, got)
		}
	}
	if got := mistakesOf(t, "// RESULT: [(1,1))]\ntrue"); got != `1:12: found "[(1,1))]", want points without blanks, as in [(0.5,1.0),(1.0,0.5)]` {
		t.Errorf("got %s", got)
	}
}

// mistakesOf joins what Check says about a file.
func mistakesOf(t *testing.T, src string) string {
	t.Helper()
	file, err := syntax.ParseProperties("x.props", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range expect.Check([]byte(src), file) {
		out = append(out, m.Pos.String()+": "+m.Msg)
	}
	return strings.Join(out, "; ")
}

// TestJavaNumbers: the spellings of a number that PRISM takes, as prism -testall
// was seen to do, and some that it does not.
func TestJavaNumbers(t *testing.T) {
	for value, want := range map[string]string{
		"0x1p-3": "PASS", "1.25E-1d": "PASS", ".125f": "PASS", "+0.125": "PASS", "0X.2P+0D": "PASS",
		"0x1": "FAIL", "1.25E-1dd": "FAIL", "d": "FAIL", "0x_1p-3": "FAIL", "+1/8": "FAIL",
	} {
		es := parse(t, "// RESULT: "+value+"\nP=? [ F s=1 ]")
		v := result.Verdict{Value: result.Value{Kind: result.Number, Num: 0.125}, Accuracy: result.Float}
		if got := es[0].Judge(v, expect.Rules{}); got.Outcome.String() != want {
			t.Errorf("%s: got %v, want %s", value, got, want)
		}
	}
}

// curve is a verdict with points of two numbers.
func curve(precision float64, numbers ...float64) result.Verdict {
	v := result.Value{Kind: result.Curve, Num: precision}
	for i := 0; i < len(numbers); i += 2 {
		v.Points = append(v.Points, numbers[i:i+2])
	}
	return result.Verdict{Value: v, Accuracy: result.Bounded}
}
