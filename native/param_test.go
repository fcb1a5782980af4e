package native_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomParametric is a chain over eight states with the parameters p and q, which keep
// its probabilities positive if both are below a half.
func randomParametric(r *rand.Rand, ctmc bool) string {
	var b strings.Builder
	kind := "dtmc"
	if ctmc {
		kind = "ctmc"
	}
	fmt.Fprintf(&b, "%s\nconst double p; const double q; const double both = p*q;\nmodule m\n  s : [0..7] init 0;\n", kind)
	for s := range 7 {
		t := func() int { return r.IntN(8) }
		weights := [][]string{
			{"p", "1-p"},
			{"p", "q", "1-p-q"},
			{"both", "1-both"},
			{"p^2/(p+q)", "p*q/(p+q)", "1-p"},
			{"1/3", "2/3"},
			{"(s>2 ? q : p)", "(s>2 ? 1-q : 1-p)"},
		}[r.IntN(6)]
		if ctmc && r.IntN(2) == 0 {
			weights = append(weights, "2+q")
		}
		var updates []string
		for _, w := range weights {
			updates = append(updates, fmt.Sprintf("%s : (s'=%d)", w, t()))
		}
		fmt.Fprintf(&b, "  [%s] s=%d -> %s;\n", []string{"", "a", "b"}[r.IntN(3)], s, strings.Join(updates, " + "))
		if r.IntN(5) == 0 {
			fmt.Fprintf(&b, "  [a] s=%d -> (s'=%d);\n", s, t())
		}
	}
	b.WriteString("  [a] false -> true;\nendmodule\nrewards \"r\"\n  s>2 : 1+p;\n  [a] true : q/(1-p);\n  [] s<4 : 2;\nendrewards\n")
	return b.String()
}

// TestParameters compares functions with what is computed with fractions at points.
func TestParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	functions, infinite := 0, 0
	for model := range 60 {
		ctmc := model%3 == 2
		props := []string{
			`P=? [ F s=7 ]`, `P=? [ s<6 U s=3 ]`, `P=? [ G s!=5 ]`, `P=? [ X s>3 ]`, `P=? [ s<5 W s=6 ]`, `P=? [ s=6 R s<6 ]`,
			`S=? [ s>4 ]`, `R=? [ F s>5 ]`, `R=? [ S ]`, `R=? [ C ]`,
		}
		if !ctmc {
			props = append(props, `P=? [ F<=5 s=7 ]`, `P=? [ F[2,4] s=2 ]`, `P=? [ s<5 U<3 s=5 ]`, `P=? [ G<=3 s<7 ]`, `R=? [ C<=4 ]`, `R=? [ I=3 ]`)
		}
		job := runner.Job{File: "m.prism", Model: []byte(randomParametric(r, ctmc)), Props: props, Params: []string{"p=0:0.5,q=0:0.5"}}
		open, err := runner.Check(context.Background(), native.New(), job)
		if err != nil {
			t.Fatalf("%v\n%s", err, job.Model)
		}
		point := []sema.NamedValue{
			{Name: "p", Val: sema.RatValue(big.NewRat(1+r.Int64N(30), 73))}, {Name: "q", Val: sema.RatValue(big.NewRat(1+r.Int64N(30), 79))},
		}
		job.Params, job.Numeric.Accuracy = nil, result.Exact
		job.Consts = []string{fmt.Sprintf("p=%s,q=%s", point[0].Val.Rat.RatString(), point[1].Val.Rat.RatString())}
		fixed, err := runner.Check(context.Background(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range open {
			want := fixed[i].Value
			if v.Err != nil || fixed[i].Err != nil {
				t.Fatalf("%s: %v, %v\n%s", v.Property, v.Err, fixed[i].Err, job.Model)
			}
			switch v.Value.Kind {
			case result.Function:
				functions++
				if got := at(t, v.Value.Formula, point); want.Rat == nil || got.Cmp(want.Rat) != 0 {
					t.Errorf("%s is %s, which at %s is %s; want %v\n%s", v.Property, v.Value.Formula, job.Consts, got, want.Rat, job.Model)
				}
			case result.Number:
				if v.Value.Rat == nil {
					infinite++
				}
				if v.Value.Num != want.Num {
					t.Errorf("%s is %v, want %v\n%s", v.Property, v.Value.Num, want.Num, job.Model)
				}
			default:
				t.Errorf("%s is of kind %s", v.Property, v.Value.Kind)
			}
		}
	}
	if functions < 250 || infinite < 10 {
		t.Errorf("compared only %d functions, and %d infinite values", functions, infinite)
	}
}

// at evaluates an expression.
func at(t *testing.T, text string, point []sema.NamedValue) *big.Rat {
	t.Helper()
	tree, err := syntax.ParseExpr("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x, err := sema.ResolveConstant(tree, point)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := sema.EvalExact(x, nil)
	if err != nil || v.Rat == nil {
		t.Fatalf("%s: %v, %v", text, v, err)
	}
	return v.Rat
}

// TestParametersOfTheGraph asks for numbers that are others where a probability is zero.
func TestParametersOfTheGraph(t *testing.T) {
	job := runner.Job{
		File:  "m.prism",
		Model: []byte("dtmc const double p; module m s:[0..1]; [] s=0 -> p:(s'=1)+1-p:(s'=0); [] s=1 -> true; endmodule rewards true : 1; endrewards"),
		Props: []string{`P=? [ F s=1 ]`, `R=? [ C ]`}, Params: []string{"p"},
	}
	vs, err := runner.Check(context.Background(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, math.Inf(1)} { // where p=0, the first is 0
		if v := vs[i]; v.Err != nil || v.Value.Num != want || len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "this is the value wherever every probability") {
			t.Errorf("%s: %v, %v, warnings %q", v.Property, v.Value, v.Err, v.Warnings)
		}
	}
}

func TestParametersRefused(t *testing.T) {
	const chain = "dtmc const double p; module m s:[0..2]; [] s=0 -> p:(s'=1)+1-p:(s'=2); endmodule rewards s=1 : p; endrewards label \"l\" = p>0.5;"
	replaced := func(old, with string) string { return strings.Replace(chain, old, with, 1) }
	for _, c := range []struct{ model, prop, param, want string }{
		{chain, "P>=0.5 [ F s=1 ]", "p", "found a bound in a model with parameters"},
		{chain, "P=? [ F P>=0.5 [ X s=1 ] ]", "p", "found an operator within another"},
		{chain, "P=? [ F s=1 & p>0.2 ]", "p", "the property depends on the parameter p itself"},
		{chain, `P=? [ F "l" ]`, "p", "the property depends on the parameter p itself"},
		{chain, "P=? [ F G s=1 ]", "p", "found an operator within another"},
		{chain, "P=? [ F>=2 s=1 ]", "p", "from below alone"},
		{chain, "P=? [ F s=1 ]", "p=2:3", "is negative in state (s=0), where p="},
		{replaced("p;", "p=0.3;"), "P=? [ F s=1 ]", "q", `parameter "q" is not a constant of the model`},
		{chain, "P=? [ F s=1 ]", "p=1:0", `found "p=1:0", want name or name=low:high`},
		{replaced("s=0 ->", "s=0 & p<0.9 ->"), "P=? [ F s=1 ]", "p", "found a parameter in a guard"},
		{replaced("(s'=1)", "(s'=floor(p)+1)"), "P=? [ F s=1 ]", "p", "found a parameter in an update"},
		{replaced("+1-p:", "+p:"), "P=? [ F s=1 ]", "p=0:0.5", "not to 1 in state (s=0), where p="},
		{replaced("p:(s'=1)+1-p:", "min(p,0.5):(s'=1)+1-min(p,0.5):"), "P=? [ F s=1 ]", "p", "found min of a parameter"},
		{replaced("dtmc", "mdp"), "Pmax=? [ F s=1 ]", "p", "want a dtmc or ctmc"},
	} {
		job := runner.Job{File: "m.prism", Model: []byte(c.model), Props: []string{c.prop}, Params: []string{c.param}}
		vs, err := runner.Check(context.Background(), native.New(), job)
		if err == nil && vs[0].Err != nil {
			err = vs[0].Err
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: error %v, want %s", c.prop, c.param, err, c.want)
		}
	}
}
