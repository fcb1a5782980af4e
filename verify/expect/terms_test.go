package expect_test

import (
	"math"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// parseTerms returns the TILECHECK annotations of the last property, and all
// mistakes of the file as line:col: message.
func parseTerms(t *testing.T, src string) (ts []expect.Terms, mistakes []string) {
	t.Helper()
	file, err := syntax.ParseProperties("x.props", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range expect.Check([]byte(src), file) {
		mistakes = append(mistakes, m.Pos.String()+": "+m.Msg)
	}
	p, ok := file.Items[len(file.Items)-1].(*syntax.Property)
	if !ok {
		t.Fatal("the last item is not a property")
	}
	return expect.ParseTerms([]byte(src), p), mistakes
}

func TestTerms(t *testing.T) {
	src := "// TILECHECK (N=3, p=0.5): tolerance=1e-6 absolute=0.001\r\n" +
		"\t// TILECHECK:samples=500  confidence=0.999 flakes=1e-4 width=0.1 seed=7 maxpath=100 maxreward=5\r\n" +
		"// see TILECHECK: error=\"state limit\" engines=native,storm:exact  \r\n" +
		"P=? [ F s=1 ]"
	ts, mistakes := parseTerms(t, src)
	if len(ts) != 3 {
		t.Fatalf("%d annotations", len(ts))
	}
	want := []string{"3:8: this TILECHECK never applies, because the TILECHECK at 2:5 always applies first"}
	if strings.Join(mistakes, "; ") != strings.Join(want, "; ") {
		t.Errorf("mistakes %q, want %q", mistakes, want)
	}
	for _, x := range ts {
		if text := src[x.Pos.Offset:x.End.Offset]; text != x.Text || !strings.HasPrefix(text, "TILECHECK") || strings.TrimSpace(text) != text {
			t.Errorf("positions select %q, text is %q", text, x.Text)
		}
	}
	a, b, c := ts[0], ts[1], ts[2]
	if len(a.Conditions) != 2 || a.Conditions[1].Name != "p" || *a.Tolerance != 1e-6 || *a.Absolute != 0.001 || a.Statistical != nil {
		t.Errorf("got %+v", a)
	}
	s := *b.Statistical
	if *s.Seed != 7 {
		t.Errorf("seed %d", *s.Seed)
	}
	s.Seed = nil
	if s != (expect.Statistical{Samples: 500, Confidence: 0.999, Flakes: 1e-4, Width: 0.1, MaxPath: 100, MaxReward: 5}) {
		t.Errorf("got %+v", s)
	}
	if len(c.Errors) != 1 || c.Errors[0] != result.Memory {
		t.Errorf("got %v", c.Errors)
	}
	for engine, wants := range map[string]bool{"native": true, "native:exact": true, "storm": false, "storm:exact": true, "prism": false} {
		if c.Wants(engine) != wants {
			t.Errorf("%s: %v", engine, !wants)
		}
	}
	if (*expect.Terms)(nil).Wants("prism") != true {
		t.Error("no terms are for every engine")
	}
}

// TestMistakes: every mistake is found where it is.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"// RESULT: 1/6", ""},
		{"// RESULT: [0.1,0.2] or so", ""},
		{"// RESULT: Error:range,state", ""},
		{"// RESULT: ~0.5 RESULT (N=1): 7", "1:17: this RESULT never applies, because the RESULT at 1:4 always applies first"},
		{"// RESULT: [0.1, 0.2]", `1:12: found "[0.1,", want an interval without blanks, as in [0.2,0.4]`},
		{"// RESULT: [0.3,0.2]", "1:12: the interval [0.3,0.2] is empty, want the smaller number first"},
		{"// RESULT: [0.3,x]", "1:12: found the interval [0.3,x], want two numbers"},
		{"// RESULT: 1+", `1:12: found the value "1+", want a number, a fraction, an interval, true, false, Error, ? or an expression`},
		{"// RESULT: Error:a,,b", `1:12: found an empty word in "Error:a,,b", want Error:word,word`},
		{"// RESULT (N=1,M): 3", `1:16: found the condition "M", want name=value`},
		{"// RESULT{noprobchecks}: 0.3", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"//Result: 0.3", "1:3: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// tilecheck tolerance=1", ""}, // prose may say so
		{"// tilecheck: tolerance=1", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// the result: not known", ""},
		{"// RESLT: 1/5", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// RESUTL (N=1): 1/5", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// TILCHECK: tolerance=1", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// Result 0.2", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// Result [0.1,0.2] (bounds)", "1:4: this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"},
		{"// Result 3 of the thesis", ""},
		{"// Results: see the thesis", ""},
		{"// Default: 3", ""},
		{"// RESULT (N=1): 1\n// RESULT (M=2,N=1): 2\n// RESULT (M=2): 3", "2:4: this RESULT never applies, because the RESULT at 1:4 always applies first"},
		{"// RESULT: 1\n\n// x", "1:4: found an annotation without a property, want it directly above a property"},
		{"// TILECHECK: tolerance=1e-3\n\n// x", "1:4: found an annotation without a property, want it directly above a property"},
		{"// RESULT: 1\n// P=? [ F s=2 ];\n\n// x", ""}, // a property that is commented out
		{"// TILECHECK tolerance=1", "1:14: want a colon behind TILECHECK, as in TILECHECK: tolerance=1e-6"},
		{"// TILECHECK:", "1:14: want terms, as in TILECHECK: tolerance=1e-6"},
		{"// TILECHECK (N=1: tolerance=0.1", "1:14: the conditions have no end, want )"},
		{"// TILECHECK (N): tolerance=0.1", `1:15: found the condition "N", want name=value`},
		{"// TILECHECK: tolerance=0.1 loosely", `1:29: found "loosely", want a term such as tolerance=1e-6`},
		{"// TILECHECK: tolerance=0.1, samples=3", `1:25: tolerance is "0.1,", want a number greater than 0 and less than 1`},
		{"// TILECHECK: precision=0.1", `1:15: unknown term "precision", want one of tolerance, absolute, samples, confidence, flakes, width, seed, maxpath, maxreward, error, engines`},
		{"// TILECHECK: absolute=0.1 absolute=0.2", "1:28: absolute is given twice"},
		{"// TILECHECK: absolute=-1", `1:24: absolute is "-1", want a number greater than 0`},
		{"// TILECHECK: tolerance=NaN", `1:25: tolerance is "NaN", want a number greater than 0 and less than 1`},
		{"// TILECHECK: samples=0", `1:23: samples is "0", want a number from 1`},
		{"// TILECHECK: samples=9 seed=-1", `1:30: seed is "-1", want a number that is not negative`},
		{"// TILECHECK: confidence=0.9", "1:4: found terms for sampling without the number of samples, want samples=N"},
		{"// TILECHECK: samples=9 tolerance=0.1", "1:4: found a tolerance for a sampled value, want none; its confidence interval is compared"},
		{"// TILECHECK: samples=9 error=any", "1:4: found both samples and error, want one of them"},
		{"// TILECHECK: error=unsupported|oops", `1:21: unknown class of errors "oops", want any, limit, unsupported, model, deadlock, timeout, memory, …`},
		{`// TILECHECK: error="state limit`, `1:21: the value has no end, want "`},
		{"// TILECHECK: engines=native,nuxmv", `1:23: unknown engine "nuxmv", want native, prism, prism-games or storm`},
		{"// TILECHECKS: tolerance=1", ""},
	} {
		_, got := parseTerms(t, tt.src+"\ntrue")
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tt.src, strings.Join(got, "; "), tt.want)
		}
	}
}

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		s     expect.Statistical
		share float64
		want  float64
	}{
		{expect.Statistical{}, 0, 0.99},
		{expect.Statistical{}, 0.5, 0.99},
		{expect.Statistical{}, 0.001, 0.999},
		{expect.Statistical{Confidence: 0.9}, 0.05, 0.95},
		{expect.Statistical{Confidence: 0.9999, Flakes: 0.01}, 0.05, 0.9999},
		{expect.Statistical{Flakes: 0.002}, 0.05, 0.998},
	} {
		if got := tt.s.Level(tt.share); got != tt.want {
			t.Errorf("%+v, share %g: %v, want %v", tt.s, tt.share, got, tt.want)
		}
	}
	if got := (&expect.Statistical{}).Level(1e-300); !(got < 1) {
		t.Errorf("a tiny share asks for confidence %v", got)
	}
}

// sampledVerdict is k of n samples.
func sampledVerdict(k, n int64) result.Verdict {
	return result.Verdict{
		Property: "P=? [ F s=1 ]", Value: result.Value{Kind: result.Number, Num: float64(k) / float64(n)},
		Accuracy: result.Probable, Samples: n,
	}
}

func TestJudgeTerms(t *testing.T) {
	interval := sampledVerdict(50, 100)
	interval.Bound, interval.Confidence = &result.Interval{Lo: 0.4, Hi: 0.6}, 0.99
	reward := parseDouble(5, result.Probable)
	reward.Property, reward.Samples = "R=? [ F s=1 ]", 100
	for _, tt := range []struct {
		value, terms string
		v            result.Verdict
		want         string
	}{
		{"0.5", "tolerance=0.01", parseDouble(0.505, result.Float), "PASS"},
		{"0.5", "tolerance=0.01", parseDouble(0.506, result.Float), "FAIL: Wrong result (expected 0.5, got 0.506, abs err = 0.006000000000000005 > 0.005)"},
		{"0.5", "tolerance=1e-9", bounded(0.4, 0.4999999, 0.6), "FAIL: Wrong result (expected 0.5, got 0.4999999, abs err = 1.0000000000287557E-7 > 5.0E-10)"},
		{"0.5", "tolerance=1e-9 absolute=0.01", parseDouble(0.509, result.Float), "PASS"},
		{"1/3", "absolute=0.01", parseDouble(0.34, result.Float), "PASS"},
		{"[0.2,0.3]", "absolute=0.01", parseDouble(0.309, result.Float), "PASS"},
		{"[0.2,0.3]", "absolute=0.01", parseDouble(0.18, result.Float), "FAIL: Wrong result (expected [0.2,0.3], got 0.18, abs err = 0.020000000000000018 > 0.01)"},
		{"N*0.1", "absolute=0.01", parseDouble(0.305, result.Float), "PASS"},
		{"b", "absolute=0.01", parseDouble(0.305, result.Float), `FAIL: Invalid RESULT specification "b": want a number`},
		{"Infinity", "tolerance=0.01", parseDouble(math.Inf(1), result.Float), "PASS"},
		{"[0.1,Infinity]", "tolerance=0.01", parseDouble(7, result.Float), "PASS"},
		{"[0.1,Infinity]", "tolerance=0.01", parseDouble(math.Inf(1), result.Float), "PASS"},
		{"[9,Infinity]", "tolerance=0.01", parseDouble(7, result.Float), "FAIL: Wrong result (expected [9,Infinity], got 7.0, abs err = 2.0 > 0.09)"},
		{"1", "tolerance=0.01", parseDouble(math.Inf(1), result.Float), "FAIL: Wrong result (expected 1, got Infinity)"},
		{"1", "tolerance=0.01", parseDouble(math.NaN(), result.Float), "FAIL: Wrong result (expected 1, got NaN)"},
		{"true", "tolerance=0.01", boolean(true), "PASS"},
		{"Error", "tolerance=0.01", parseDouble(1, result.Float), "FAIL: Was expecting an error"},
		{"Error:bad", "tolerance=0.01", failed(result.Model, "Bad"), "PASS"},
		{"1", "tolerance=0.01", failed(result.Unsupported, "LTL"), "UNSUPPORTED: LTL"},
		{"?", "tolerance=0.01", parseDouble(1, result.Float), "NOT TESTED"},

		{"0.41", "samples=100", interval, "PASS"},
		{"0.61", "samples=100", interval, "FAIL: Wrong result (expected 0.61, got 0.5 in [0.4, 0.6] with confidence 0.99 from 100 samples)"},
		{"[0.55,0.7]", "samples=100", interval, "PASS"},
		{"0.5", "samples=100 width=0.05", interval, "FAIL: The interval [0.4, 0.6] is too wide (half-width 0.09999999999999998, want at most 0.05)"},
		// 99 % Clopper-Pearson of 50 in 100 is [0.3689, 0.6311].
		{"0.37", "samples=100", sampledVerdict(50, 100), "PASS"},
		{"0.36", "samples=100", sampledVerdict(50, 100), "FAIL"},
		{"5", "samples=100", reward, "FAIL: No confidence interval with confidence 0.99 is known for the sampled value (a reward needs the term maxreward)"},
		{"0.5", "samples=100", parseDouble(0.5, result.Exact), "FAIL: Was expecting a sampled number, got one that is exact"},

		{"", "error=unsupported", failed(result.Unsupported, "LTL"), "PASS"},
		{"", "error=limit", failed(result.Timeout, "slow"), "PASS"},
		{"", "error=any", failed(result.Deadlock, "d"), "PASS"},
		{"", "error=model", failed(result.Unsupported, "LTL"), "FAIL: Was expecting an error of class model, got one of class unsupported: LTL"},
		{"", "error=model|deadlock", parseDouble(1, result.Exact), "FAIL: Was expecting an error of class model or deadlock"},
		{"Error:rate", "error=model", failed(result.Model, "bad rate"), "PASS"},
		{"Error:sum", "error=model", failed(result.Model, "bad rate"), `FAIL: Error message should contain "sum" (it is "bad rate")`},
	} {
		terms, mistakes := expect.NewTerms(tt.terms, "", syntax.Pos{Line: 1, Col: 1})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		c := expect.Annotations{Terms: &terms}
		if tt.value != "" {
			c.Result = &expect.Expectation{Value: tt.value}
		}
		got := c.Judge(tt.v, expect.Rules{Constants: constants(), Level: 0.99}).String()
		if got != tt.want && !(tt.want == "FAIL" && strings.HasPrefix(got, "FAIL: Wrong result")) {
			t.Errorf("%s with %s: got %q, want %q", tt.value, tt.terms, got, tt.want)
		}
	}
}

func TestSelectTerms(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"// TILECHECK (N=2): tolerance=0.1\n// TILECHECK (N=3): tolerance=0.2\n// TILECHECK: tolerance=0.3", "tolerance=0.2"},
		{"// TILECHECK (N=2): tolerance=0.1", ""},
		{"// TILECHECK (N=2): tolerance=x\n// TILECHECK: tolerance=0.3", "tolerance=0.3"},
		{"// TILECHECK: tolerance=x", `Badly formed annotation "TILECHECK: tolerance=x": tolerance is "x", want a number greater than 0 and less than 1`},
		{"// TILECHECK (N): tolerance=0.1", `Badly formed RESULT specification "TILECHECK (N): tolerance=0.1"`},
	} {
		ts, _ := parseTerms(t, tt.src+"\ntrue")
		x, err := expect.SelectTerms(ts, expect.Rules{Constants: constants()})
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case x != nil:
			got = expect.Annotations{Terms: x}.String()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.src, got, tt.want)
		}
	}
}

// TestNew: expectations that are written elsewhere are read by the same rules,
// and their mistakes have places there.
func TestNew(t *testing.T) {
	at := syntax.Pos{Offset: 100, Line: 7, Col: 11}
	e, mistakes := expect.NewExpectation("1/6", "N=3,p=0.5", at)
	if len(mistakes) > 0 || e.Value != "1/6" || len(e.Conditions) != 2 || e.Conditions[1].Value != "0.5" {
		t.Errorf("got %+v, %v", e, mistakes)
	}
	if _, mistakes := expect.NewExpectation("1 / 6", "", at); len(mistakes) != 1 || mistakes[0].Pos != at {
		t.Errorf("got %v", mistakes)
	}
	if _, mistakes := expect.NewExpectation("1", "N", at); len(mistakes) != 1 {
		t.Errorf("got %v", mistakes)
	}
	_, mistakes = expect.NewTerms("tolerance=0.1 samples=x", "", at)
	if len(mistakes) != 1 || mistakes[0].Pos.Line != 7 || mistakes[0].Pos.Col != 11+22 {
		t.Errorf("got %v", mistakes)
	}
}

func FuzzAnnotations(f *testing.F) {
	for _, src := range []string{
		"// RESULT (N=1,p=1/3): [0.1,0.2]\n// TILECHECK (N=1): samples=10 error=\"a\n//x\ntrue",
		"// RESULT: Error:a,b\r\n// TILECHECK: tolerance=1e-6 engines=native\r\nP=? [ F s=1 ];\r\ntrue // RESULT: 1",
		"\n// TILECHECK\ntrue", "// RESULT:", "true//TILECHECK:=\nfalse",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, err := syntax.ParseProperties("x", []byte(src))
		if err != nil {
			return
		}
		for _, m := range expect.Check([]byte(src), file) {
			if m.Pos.Line < 1 || m.Pos.Col < 1 || int(m.Pos.Offset) > len(src) || m.Msg == "" {
				t.Errorf("%+v is no place in %q", m, src)
			}
		}
		for _, x := range file.Items {
			p, ok := x.(*syntax.Property)
			if !ok {
				continue
			}
			r := expect.Rules{Constants: constants(), Level: 0.99}
			ts, err := expect.SelectTerms(expect.ParseTerms([]byte(src), p), r)
			e, err2 := expect.Select(expect.Parse([]byte(src), p), r)
			if err != nil || err2 != nil || e == nil {
				continue
			}
			expect.Annotations{Result: e, Terms: ts}.Judge(parseDouble(0.5, result.Float), r)
			expect.Annotations{Result: e, Terms: ts}.Judge(failed(result.Model, "m"), r)
		}
	})
}
