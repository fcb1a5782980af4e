package report_test

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/report"
	"tilecheck/result"
)

// TestExportResults: what is wanted was written by PRISM 4.10.2-dev's -exportresults
// (-ex, N=2:3, p=0.3, T=1:2), but for the texts of errors, which are ours.
func TestExportResults(t *testing.T) {
	number := func(x float64) result.Value { return result.Value{Kind: result.Number, Num: x} }
	constants := func(texts ...string) []result.Constant {
		var out []result.Constant
		for _, text := range texts {
			name, value, _ := strings.Cut(text, "=")
			out = append(out, result.Constant{Name: name, Value: value})
		}
		return out
	}
	var verdicts []result.Verdict
	for _, n := range []string{"N=2", "N=3"} {
		for _, k := range []string{"T=1", "T=2"} {
			verdicts = append(verdicts, result.Verdict{
				Property: "P=? [ F<=T x=N ]", Constants: constants(n, "p=0.3", k), Value: number(0.3),
			})
		}
		verdicts = append(verdicts,
			result.Verdict{Property: "P>0.2 [ F x=N ]", Name: "named", Constants: constants(n, "p=0.3"), Value: result.Value{Kind: result.Boolean, Bool: n == "N=2"}},
			result.Verdict{Property: "P=? [ F x=N ]/3", Constants: constants(n, "p=0.3"), Value: number(0.1 / 3)},
			result.Verdict{Property: "P=? [ F x=N ]/3", Constants: constants(n, "p=0.3"), Accuracy: result.Exact, Value: result.Value{Kind: result.Number, Rat: big.NewRat(3, 79)}},
			result.Verdict{Property: "R=? [ F x=9 ]", Constants: constants(n, "p=0.3"), Err: &result.Failure{Message: "no rewards"}},
			result.Verdict{Property: "filter(range, P=? [ F x=N ])", Constants: constants(n, "p=0.3"), Value: result.Value{Kind: result.Range, Num: 0, Hi: 1}},
		)
	}
	for style, want := range map[string]string{
		"": `P=? [ F<=T x=N ]:
N	T	Result
2	1	0.3
2	2	0.3
3	1	0.3
3	2	0.3

"named": P>0.2 [ F x=N ]:
N	Result
2	true
3	false

P=? [ F x=N ]/3:
N	Result
2	0.0333333333333
3	0.0333333333333

P=? [ F x=N ]/3:
N	Result
2	3/79
3	3/79

R=? [ F x=9 ]:
N	Result
2	Error: no rewards
3	Error: no rewards

filter(range, P=? [ F x=N ]):
N	Result
2	[0.0,1.0]
3	[0.0,1.0]
`,
		"csv": `"P=? [ F<=T x=N ]"
N,T,Result
2,1,0.3
2,2,0.3
3,1,0.3
3,2,0.3

"""named"": P>0.2 [ F x=N ]"
N,Result
2,true
3,false
`,
		"dataframe": `Property,N,T,Result
Property_1,2,1,0.3
Property_1,2,2,0.3
Property_1,3,1,0.3
Property_1,3,2,0.3
named,2,,true
named,3,,false
Property_3,2,,0.0333333333333
`,
		"comment": `// RESULT (p=0.3,N=2,T=1): 0.3
// RESULT (p=0.3,N=2,T=2): 0.3
// RESULT (p=0.3,N=3,T=1): 0.3
// RESULT (p=0.3,N=3,T=2): 0.3
P=? [ F<=T x=N ]

// RESULT (p=0.3,N=2): true
// RESULT (p=0.3,N=3): false
"named": P>0.2 [ F x=N ]
`,
	} {
		s, err := report.ParseResultsStyle(style)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.ExportResults(&out, s, verdicts); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasPrefix(got, want) || style == "" && got != want {
			t.Errorf("style %q: got\n%s\nwant\n%s", style, got, want)
		}
	}
	if _, err := report.ParseResultsStyle("matrices"); err == nil {
		t.Error("style matrices was accepted")
	}
}

// TestExportMatrix: what is wanted was written by PRISM 4.10.2-dev (-ex,
// N=1:2,M=0:1,T=2:4, and for one property N=1,M=0:1 and N=1,M=1).
func TestExportMatrix(t *testing.T) {
	number := func(property string, x float64, constants ...result.Constant) result.Verdict {
		return result.Verdict{Property: property, Constants: constants, Value: result.Value{Kind: result.Number, Num: x}}
	}
	sure := func(constants ...result.Constant) result.Verdict {
		return result.Verdict{Property: "P>=1 [ F x=4 ]", Name: "sure", Constants: constants, Value: result.Value{Kind: result.Boolean, Bool: true}}
	}
	constant := func(name, value string) result.Constant { return result.Constant{Name: name, Value: value} }
	var verdicts []result.Verdict
	for _, n := range []string{"1", "2"} {
		for i, m := range []string{"0", "1"} {
			for k, x := range [][]float64{{0, 0, 0.0625}, {0, 0.125, 0.125}}[i] {
				verdicts = append(verdicts, number("P=? [ F<=T x=4 ]", x, constant("N", n), constant("M", m), constant("T", []string{"2", "3", "4"}[k])))
			}
			verdicts = append(verdicts, sure(constant("N", n), constant("M", m)))
		}
	}
	one := []result.Verdict{sure(constant("N", "1"), constant("M", "0")), sure(constant("N", "1"), constant("M", "1"))}
	for _, tt := range []struct {
		style    string
		verdicts []result.Verdict
		want     string
	}{
		{"matrix", verdicts, `P=? [ F<=T x=4 ]:
N=1, M\T:
	2	3	4
0	0	0	0.0625
1	0	0.125	0.125

N=2, M\T:
	2	3	4
0	0	0	0.0625
1	0	0.125	0.125

"sure": P>=1 [ F x=4 ]:
N\M:
	0	1
1	true	true
2	true	true
`},
		{"matrix,csv", verdicts, `"P=? [ F<=T x=4 ]"
"N=1, M\T"
,2,3,4
0,0,0,0.0625
1,0,0.125,0.125

"N=2, M\T"
,2,3,4
0,0,0,0.0625
1,0,0.125,0.125

"""sure"": P>=1 [ F x=4 ]"
"N\M"
,0,1
1,true,true
2,true,true
`},
		{"matrix", one, "M:\n0\t1\ntrue\ttrue\n"},
		{"csv,matrix", one, "\"M\"\n0,1\ntrue,true\n"},
		{"matrix", one[:1], "true\n"},
		// Not every valuation has a verdict.
		{"matrix,csv", verdicts[:6], "\"P=? [ F<=T x=4 ]\"\n\"M\\T\"\n,2,3,4\n0,0,0,0.0625\n1,0,0.125,\n\n\"\"\"sure\"\": P>=1 [ F x=4 ]\"\ntrue\n"},
	} {
		s, err := report.ParseResultsStyle(tt.style)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.ExportResults(&out, s, tt.verdicts); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != tt.want {
			t.Errorf("style %q: got\n%s\nwant\n%s", tt.style, got, tt.want)
		}
	}
}

// TestExportOne: no heading for one property, no constants that do not vary.
func TestExportOne(t *testing.T) {
	var out strings.Builder
	v := result.Verdict{Property: "P=? [ F a ]", Constants: []result.Constant{{Name: "p", Value: "0.3"}}, Value: result.Value{Kind: result.Number, Num: 1e-7}}
	if err := report.ExportResults(&out, report.ResultsCSV, []result.Verdict{v}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "Result\n1e-07\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
