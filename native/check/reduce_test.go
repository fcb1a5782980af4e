package check_test

import (
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// reduced checks properties with and without reduction, exactly.
func reduced(t *testing.T, model, properties string) (whole, small []result.Verdict) {
	t.Helper()
	for _, reduce := range []bool{false, true} {
		job := runner.Job{File: "m.prism", Model: []byte(model), PropsFile: "p.props", Properties: []byte(properties)}
		job.Numeric = runner.Numeric{Accuracy: result.Exact, Reduce: reduce}
		plan, err := runner.NewPlan(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		small, err = native.New().Check(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if !reduce {
			whole = small
		}
	}
	return whole, small
}

// TestReduce wants the same fractions and truth values of the quotients. Sizes: on 2x2 to
// 8 the eight symmetries of the board alone leave at most 155/8 states and those that are
// their own mirror images.
func TestReduce(t *testing.T) {
	boardText := board(t, modelgen.Config{Rows: 2, Cols: 2, Max: 8, Spawn: modelgen.SpawnUniform})
	const die = `dtmc module die s:[0..7]; d:[0..6];
[] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s=1 -> 0.5:(s'=3)+0.5:(s'=4); [] s=2 -> 0.5:(s'=5)+0.5:(s'=6);
[] s=3 -> 0.5:(s'=1)+0.5:(s'=7)&(d'=1); [] s=4 -> 0.5:(s'=7)&(d'=2)+0.5:(s'=7)&(d'=3);
[] s=5 -> 0.5:(s'=7)&(d'=4)+0.5:(s'=7)&(d'=5); [] s=6 -> 0.5:(s'=2)+0.5:(s'=7)&(d'=6); [] s=7 -> true; endmodule
label "six" = d=6; rewards "flips" s<7 : 1; endrewards`
	const queue = `ctmc module q a:[0..2]; b:[0..2];
[] a<2 -> 1.5:(a'=a+1); [] a>0 -> 2:(a'=a-1); [] b<2 -> 1.5:(b'=b+1); [] b>0 -> 2:(b'=b-1); endmodule
rewards "n" true : a+b; endrewards`
	for _, test := range []struct {
		model, properties string
		most              int64 // states of the quotients
	}{
		{die, "P=? [ F \"six\" ]\nP=? [ F<=4 d=6 ]\nP>0.1 [ X F d=6 ]\nP=? [ G !(P>0.4 [ F d=6 ]) ]", 8},
		{die, "R{\"flips\"}=? [ F s=7 ]\nS=? [ d>3 ]\nR{\"flips\"}=? [ C<=3 ]\nP=? [ (F s=3) & (F d=2) ]\nE [ F d=2 ]", 13},
		{boardText, "Pmax=? [ F \"success\" ]\nPmin=? [ F \"fail\" ]\nPmax=? [ F<=9 \"success\" ]\nA [ F \"fail\"|\"success\" ]", 50},
		{queue, "filter(max, P=? [ X a+b=3 ], a+b=2)\nfilter(min, R{\"n\"}=? [ F a=2&b=2 ])\nfilter(range, P=? [ X a+b=2 ], \"init\")\n" +
			"filter(exists, P>0.9 [ X b=1 ], a=1)\nfilter(forall, P>=0.2 [ X a+b>1 ], a<2 | filter(max, P=? [ X b=1 ], a=1)>0.1)", 9},
		{queue, "S=? [ a+b=4 ]\nR{\"n\"}=? [ S ]\nP=? [ F a=2&b=2 ]", 6},
	} {
		whole, small := reduced(t, test.model, test.properties)
		for i := range whole {
			v, w := whole[i], small[i]
			if v.Err != nil || w.Err != nil || v.Value.Bool != w.Value.Bool || (v.Value.Rat == nil) != (w.Value.Rat == nil) || v.Value.Rat != nil && v.Value.Rat.Cmp(w.Value.Rat) != 0 {
				t.Errorf("%s: %+v (%v), reduced %+v (%v)", v.Property, v.Value, v.Err, w.Value, w.Err)
			}
			if w.States > test.most || w.States > v.States || len(w.Warnings) > len(v.Warnings) {
				t.Errorf("%s: %d states of %d, want %d; %v", v.Property, w.States, v.States, test.most, w.Warnings)
			}
		}
	}
}

// TestNotReduced wants what speaks about single states to be checked on the whole model,
// with a warning.
func TestNotReduced(t *testing.T) {
	const walk = "dtmc module m s:[0..3]; [] s<3 -> 0.5:(s'=s+1) + 0.5:true; [] s=3 -> true; endmodule"
	whole, small := reduced(t, walk, "filter(count, P>0.5 [ F s=3 ])\nfilter(avg, P=? [ F<=1 s=3 ])")
	for i := range whole {
		v, w := whole[i], small[i]
		if w.Err != nil || v.States != w.States || w.Value.Rat.Cmp(v.Value.Rat) != 0 || len(w.Warnings) != 1 || !strings.HasPrefix(w.Warnings[0], "not reduced: found a filter") {
			t.Errorf("%s: %+v %v %v", v.Property, w.Value, w.Err, w.Warnings)
		}
	}
}

// TestNegativeNotReduced wants negative rewards to be checked on the whole model, with a warning.
func TestNegativeNotReduced(t *testing.T) {
	const walk = "dtmc module m s:[0..3]; [] s<3 -> 0.5:(s'=s+1) + 0.5:true; [] s=3 -> true; endmodule rewards s<3 : -1; endrewards"
	whole, small := reduced(t, walk, "R=? [ F s=3 ]\nR=? [ C<=2 ]")
	for i, want := range []string{"-6", "-2"} {
		v, w := whole[i], small[i]
		if w.Err != nil || v.States != w.States || w.Value.Rat.RatString() != want || len(w.Warnings) != 1 || !strings.HasPrefix(w.Warnings[0], "not reduced: found negative rewards") {
			t.Errorf("%s: %+v %v %v", v.Property, w.Value, w.Err, w.Warnings)
		}
	}
}
