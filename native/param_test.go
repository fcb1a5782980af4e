package native_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"tilecheck/internal/needs"
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
	needs.NotShort(t, "uses one goroutine")
	functions, infinite := 0, 0
	for seed := range needs.AllModels(t, 60) {
		r := rand.New(rand.NewPCG(seed, 7))
		ctmc := seed%3 == 2
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

// randomChoices is an MDP over six states with the parameter p, whose probabilities are
// positive from 0 to 1.
func randomChoices(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("mdp\nconst double p;\nmodule m\n  s : [0..6] init 0;\n")
	for s := range 6 {
		for range 1 + r.IntN(3) {
			t := func() int { return r.IntN(7) }
			w := [][]string{{"p", "1-p"}, {"p^2", "1-p^2"}, {"p/2", "1/2", "(1-p)/2"}, {"1/3", "2/3"}, {"1-p*(1-p)", "p*(1-p)"}, {"1"}, {"3/4", "1/4"}}[r.IntN(7)]
			var updates []string
			for _, x := range w {
				updates = append(updates, fmt.Sprintf("%s : (s'=%d)", x, t()))
			}
			fmt.Fprintf(&b, "  [%s] s=%d -> %s;\n", []string{"", "a", "b"}[r.IntN(3)], s, strings.Join(updates, " + "))
		}
	}
	b.WriteString("  [a] false -> true;\nendmodule\nrewards \"r\"\n  s>2 : 1+p;\n  [a] true : p;\n  [] s<3 : 2-p;\nendrewards\n")
	return b.String()
}

// TestParametersOfMDPs compares functions of one parameter with what is computed with
// fractions at points: of all regions, and in each that is told, of the function there.
func TestParametersOfMDPs(t *testing.T) {
	functions, regions := 0, 0
	props := []string{
		`Pmax=? [ F s=6 ]`, `Pmin=? [ F s=6 ]`, `Pmax=? [ s<5 U s=3 ]`, `Pmin=? [ s<5 U s>3 ]`, `Pmin=? [ G s!=5 ]`, `Pmax=? [ s<5 W s=6 ]`,
		`Rmin=? [ F s>4 ]`, `Rmax=? [ F s>4 ]`, `1-Pmax=? [ F s=6 ]`, `filter(state, 2*(Pmin=? [ s=6 R s<6 ]), s=0)`,
		`Pmax=? [ F<=3 s=6 ]`, `Pmin=? [ F<4 s>4 ]`, `Pmax=? [ s<5 U[1,3] s=3 ]`, `Pmin=? [ G<=3 s!=5 ]`, `Pmin=? [ F[2,3] s>4 ]`, `Pmax=? [ X s>3 ]`, `Pmin=? [ s<5 W<=2 s=6 ]`,
		`Rmax=? [ C<=2 ]`, `Rmin=? [ C<=3 ]`, `Rmax=? [ C<=0 ]`, `Rmin=? [ I=2 ]`, `Rmax=? [ I=0 ]`,
	}
	for seed := range needs.Models(t, 100) {
		r := rand.New(rand.NewPCG(seed, 17))
		job := runner.Job{File: "m.prism", Model: []byte(randomChoices(r)), Props: props, Params: []string{"p"}}
		open, err := runner.Check(context.Background(), native.New(), job)
		if err != nil {
			t.Fatalf("%v\n%s", err, job.Model)
		}
		for range 3 {
			sameAtPoint(t, job, open, nil, big.NewRat(1+r.Int64N(95), 97).RatString())
		}
		for i, v := range open {
			if v.Err != nil {
				t.Fatalf("%s: %v\n%s", v.Property, v.Err, job.Model)
			}
			job := job
			job.Props = props[i : i+1]
			if v.Value.Kind == result.Function {
				functions++
			}
			for _, m := range regexp.MustCompile(`(?:: |, )([-+*/^()p0-9]+) from (\S+) to (about )?([0-9/.]+)`).FindAllStringSubmatch(strings.Join(v.Warnings, " "), -1) {
				low, _ := new(big.Rat).SetString(m[2])
				high, _ := new(big.Rat).SetString(m[4])
				if low == nil {
					continue // about so much
				}
				low.Add(low, high).Mul(low, big.NewRat(1, 2))
				sameAtPoint(t, job, open[i:i+1], m[1:2], low.RatString())
				regions++
			}
		}
	}
	if functions < 15 || regions < 2 {
		t.Errorf("compared only %d functions, and %d regions", functions, regions)
	}
}

// sameAtPoint compares functions, which are those of the verdicts unless others are given,
// and numbers, with the values where p is given.
func sameAtPoint(t *testing.T, job runner.Job, open []result.Verdict, formulas []string, p string) {
	t.Helper()
	job.Params, job.Consts, job.Numeric.Accuracy = nil, []string{"p=" + p}, result.Exact
	fixed, err := runner.Check(context.Background(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := new(big.Rat).SetString(p)
	for i, v := range open {
		want, got, formula := fixed[i].Value, v.Value.Rat, v.Value.Formula
		if formulas != nil {
			formula = formulas[i]
		}
		if v.Value.Kind == result.Function {
			got = at(t, formula, []sema.NamedValue{{Name: "p", Val: sema.RatValue(x)}})
		}
		if fixed[i].Err != nil || (got == nil) != (want.Rat == nil) || got != nil && got.Cmp(want.Rat) != 0 {
			t.Errorf("%s is %s, which at %s is %s; want %v, %v\n%s", v.Property, formula, p, got, want.Rat, fixed[i].Err, job.Model)
		}
	}
}

// TestTieOfSchedulers: both choices have the same value at p=1/2, and the second one is smaller at all other points.
func TestTieOfSchedulers(t *testing.T) {
	const model = "mdp const double p; module m s : [0..2]; [] s=0 -> 1-p*(1-p) : (s'=1) + p*(1-p) : (s'=2); [] s=0 -> 3/4 : (s'=1) + 1/4 : (s'=2); [] s>0 -> true; endmodule"
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{`Pmin=? [ F s=1 ]`}, Params: []string{"p=0:1"}}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Err != nil || verdicts[0].Value.Rat == nil || verdicts[0].Value.Rat.RatString() != "3/4" {
		t.Errorf("found %v, %v, want 3/4", verdicts, err)
	}
}

// TestParametersOfChoices compares with regions that were found by hand.
func TestParametersOfChoices(t *testing.T) {
	const two = "mdp const double p; const double q; module m s:[0..2]; [] s=0 -> %s:(s'=1)+1-(%[1]s):(s'=2); [] s=0 -> %s:(s'=1)+1-(%[2]s):(s'=2); endmodule"
	for _, c := range []struct{ a, b, prop, param, value, note string }{
		{"p", "1-p", "Pmax=? [ F s=1 ]", "p", "max(-1*p+1, p)", ": -1*p+1 from 0 to 1/2, p from 1/2 to 1;"},
		{"p", "1-p", "Pmin=? [ F s=1 ]", "p", "min(p, -1*p+1)", ": p from 0 to 1/2, -1*p+1 from 1/2 to 1;"},
		{"p", "1-p", "Pmin=? [ G s!=1 ]", "p", "min(p, -1*p+1)", ": p from 0 to 1/2, -1*p+1 from 1/2 to 1;"},
		{"p", "1-p", "Pmax=? [ F s=1 ]", "p=0.1:0.4", "-1*p+1", "between the bounds of the parameters;"},
		{"p^2", "1-p", "Pmax=? [ F s=1 ]", "p", "max(-1*p+1, p^2)", "to about 0.6180339887, p^2 from about 0.6180339887 to 1;"},
		{"p", "1-p", "1-(Pmax=? [ F s=1 ])", "p", "min(p, -1*p+1)", ""},
		{"p", "1-p", "2*(Pmax=? [ F s=1 ])", "p", "max(-2*p+2, 2*p)", ": -2*p+2 from 0 to 1/2, 2*p from 1/2 to 1;"},
		{"p", "1-p", "(Pmax=? [ F s=1 ])/(-2)", "p", "min((p-1)/2, (-1*p)/2)", ""},
		{"p", "1-p", "1-(-2)*(Pmin=? [ F s=1 ])", "p", "min(2*p+1, -2*p+3)", ""},
		{"p", "1-p", "(Pmin=? [ F s>0 ])*(Pmax=? [ F s=1 ])", "p", "max(-1*p+1, p)", ""},
		{"p", "1-p", "0*(Pmin=? [ F s=1 ])", "p", "0", ""},
		{"(2*p-1)^2", "1/2-(2*p-1)^2/2", "Pmax=? [ F s=1 ]", "p=0.1:0.4", "max(4*p^2-4*p+1, -2*p^2+2*p)", "to about 0.211"},
		{"p*q", "p*q/2", "Pmax=? [ F s=1 ]", "p,q", "p*q", "between the bounds"},
		{"p", "1/4+(p-1/2)^2/4", "Pmin=? [ F s=1 ]", "p=0.5:0.9", "(4*p^2-4*p+5)/16", ""},
	} {
		text := fmt.Sprintf(two, c.a, c.b)
		job := runner.Job{File: "m.prism", Model: []byte(strings.Replace(text, "const double q;", map[bool]string{true: "const double q;"}[strings.Contains(c.param, "q")], 1)), Props: []string{c.prop}, Params: []string{c.param}}
		vs, err := runner.Check(context.Background(), native.New(), job)
		if err != nil || vs[0].Err != nil {
			t.Errorf("%s of %s and %s: %v %v", c.prop, c.a, c.b, err, vs)
			continue
		}
		if v := vs[0]; v.Value.Formula != c.value || !strings.Contains(strings.Join(v.Warnings, " "), c.note) {
			t.Errorf("%s of %s and %s: found %s, %v, want %s, %s", c.prop, c.a, c.b, v.Value.Formula, v.Warnings, c.value, c.note)
		}
	}
	for _, prop := range []string{"(Pmax=? [ F s=1 ])*(Pmin=? [ F s=1 ])", "1/(Pmax=? [ F s=1 ])"} {
		job := runner.Job{File: "m.prism", Model: []byte(fmt.Sprintf(strings.Replace(two, "const double q;", "", 1), "p", "1-p")), Props: []string{prop}, Params: []string{"p"}}
		if vs, err := runner.Check(context.Background(), native.New(), job); err != nil || vs[0].Err == nil || !strings.Contains(vs[0].Err.Message, "values that several schedulers attain") {
			t.Errorf("%s: found %v, %v, want a refusal", prop, err, vs)
		}
	}
	// Which is better depends on both.
	job := runner.Job{File: "m.prism", Model: []byte(fmt.Sprintf(two, "p", "q")), Props: []string{"Pmax=? [ F s=1 ]"}, Params: []string{"p,q"}}
	if vs, err := runner.Check(context.Background(), native.New(), job); err != nil || vs[0].Err == nil || !strings.Contains(vs[0].Err.Message, "could not be proved optimal") {
		t.Errorf("found %v, %v, want a refusal", vs, err)
	}
}

func TestParametersRefused(t *testing.T) {
	const chain = "dtmc const double p; module m s:[0..2]; [] s=0 -> p:(s'=1)+1-p:(s'=2); endmodule rewards s=1 : p; endrewards label \"l\" = p>0.5;"
	replaced := func(old, with string) string { return strings.Replace(chain, old, with, 1) }
	for _, c := range []struct{ model, prop, param, want string }{
		{chain, "filter(state, P>=0.5 [ F s=1 ], s=0)", "p", "found a bound in a model with parameters"},
		{chain, "P=? [ F P>=0.5 [ X s=1 ] ]", "p", "found a nested operator"},
		{chain, "P=? [ F s=1 & p>0.2 ]", "p", "the property depends on the parameter p itself"},
		{chain, `P=? [ F "l" ]`, "p", "the property depends on the parameter p itself"},
		{chain, "P=? [ F G s=1 ]", "p", "found a nested operator"},
		{chain, "P=? [ F>=2 s=1 ]", "p", "only a lower bound"},
		{chain, "P=? [ F s=1 ]", "p=2:3", "is negative in state (s=0), where p="},
		{replaced("p;", "p=0.3;"), "P=? [ F s=1 ]", "q", `parameter "q" is not a constant of the model`},
		{chain, "P=? [ F s=1 ]", "p=1:0", `found "p=1:0", want name or name=low:high`},
		{replaced("s=0 ->", "s=0 & p<0.9 ->"), "P=? [ F s=1 ]", "p", "found a parameter in a guard"},
		{replaced("(s'=1)", "(s'=floor(p)+1)"), "P=? [ F s=1 ]", "p", "found a parameter in an update"},
		{replaced("+1-p:", "+p:"), "P=? [ F s=1 ]", "p=0:0.5", "not to 1 in state (s=0), where p="},
		{replaced("p:(s'=1)+1-p:", "min(p,0.5):(s'=1)+1-min(p,0.5):"), "P=? [ F s=1 ]", "p", "found min of a parameter"},
		{replaced("dtmc", "pta"), "Pmax=? [ F s=1 ]", "p", "want a DTMC, CTMC or MDP"},
		{replaced("dtmc", "mdp"), "Pmax=? [ F<=300000 s=1 ]", "p", "want at most 100000 pairs of a state and a number of steps"},
		{replaced("dtmc", "mdp"), "Rmax=? [ C ]", "p", "found another reward than F, C<=k or I=k of an MDP"},
		{replaced("dtmc", "mdp"), "P=? [ F s=1 ]", "p", "query without min or max"},
		{replaced("dtmc", "mdp"), "filter(min, Pmin=? [ F s=1 ])", "p", "a filter over all states"},
		{replaced("dtmc", "mdp"), "filter(max, Pmin=? [ F s=1 ], s<2)", "p", "a filter that selects other states than the initial one"},
		{strings.Replace(replaced("dtmc", "mdp"), "p:(s'=1)+1-p:", "2*p:(s'=1)+1-2*p:", 1), "Pmin=? [ F s=1 ]", "p", "-2*p+1 could not be proved positive"},
		{strings.Replace(replaced("dtmc", "mdp"), "p:(s'=1)+1-p:", "(p-0.5)^2+0.1:(s'=1)+0.9-(p-0.5)^2:", 1), "Pmin=? [ F s=1 ]", "p=0:2", "could not be proved positive"},
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
	for i, want := range []float64{1, math.Inf(1)} { // where p=0, the first is 0; the second says first why it is infinite
		if v := vs[i]; v.Err != nil || v.Value.Num != want || len(v.Warnings) != 1+i || !strings.HasPrefix(v.Warnings[i], "this value is valid for all values of the parameters that make every probability") {
			t.Errorf("%s: %v, %v, warnings %q", v.Property, v.Value, v.Err, v.Warnings)
		}
	}
}
