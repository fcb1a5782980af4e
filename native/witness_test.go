package native_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

func witnessOf(t *testing.T, model, property string, w runner.Witness) result.Verdict {
	t.Helper()
	vs, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}, Outputs: runner.Outputs{Witness: &w}})
	if err != nil {
		t.Fatal(err)
	}
	return vs[0]
}

const (
	// A coin that is thrown until it shows heads, or is lost with 1/4.
	coin = "dtmc module m x:[0..2]; [t] x=0 -> 1/2:(x'=1) + 1/4:(x'=2) + 1/4:true; endmodule"
	// A safe way of 1/2, and a risky one of 9/10.
	ways  = "mdp module m x:[0..3]; [safe] x=0 -> 1/2:(x'=1) + 1/2:(x'=2); [risky] x=0 -> 9/10:(x'=1) + 1/10:(x'=2); endmodule"
	race  = "ctmc module m x:[0..2]; [a] x=0 -> 3:(x'=1); [b] x=0 -> 1:(x'=2); [c] x=1 -> 7:(x'=2); endmodule"
	start = "dtmc module m x:[0..3]; [] x=0 -> 1/3:(x'=2) + 2/3:(x'=3); [] x=1 -> 1/2:(x'=2) + 1/2:(x'=3); endmodule init x<=1 endinit"
)

// The expectations are by hand.
func TestWitness(t *testing.T) {
	for _, tt := range []struct {
		model, property string
		want            string // holds, count, sum, wanted, shown; and the actions of the first path
	}{
		{coin, "P=? [ F x=1 ]", "holds 3 of 21/32 [t]"},
		{coin, "P<=0.6 [ F x=1 ]", "holds 2 of 5/8 >3/5 shown [t]"},
		{coin, "P<0.625 [ F x=1 ]", "holds 2 of 5/8 >=5/8 shown [t]"},
		{coin, "P>=0.7 [ F x=1 ]", "fails 2 of 5/16 >3/10 shown [t]"},
		{coin, "P>0.9 [ F x=1 ]", "fails 1 of 1/4 >=1/10 shown [t]"},
		{coin, "P>=0.5 [ F x=1 ]", "holds 1 of 1/2 >=1/2 shown [t]"},
		{coin, "P>=0.7 [ G x!=2 ]", "fails 2 of 5/16 >3/10 shown [t]"},
		{coin, "P<=0.6 [ G x!=2 ]", "holds 2 of 5/8 >3/5 shown [t]"},
		{coin, "P<=0.6 [ !(F x=2) ]", "holds 2 of 5/8 >3/5 shown [t]"},
		{coin, "P<=0.2 [ X x=1 ]", "holds 1 of 1/2 >1/5 shown [t]"},
		{coin, "P>=0.7 [ F<=2 x=1 ]", "fails 2 of 5/16 >3/10 shown [t]"},
		{coin, "P<=0.1 [ F[2,3] x=1 ]", "holds 1 of 1/2 >1/10 shown [t ]"},
		{coin, "P<=0.1 [ F>=2 x=1 ]", "holds 1 of 1/2 >1/10 shown [t ]"},
		{coin, "P<=0.1 [ x=0 U P>=1 [ X x=1 ] ]", "holds 1 of 1/2 >1/10 shown [t]"},
		{ways, "P<=0.6 [ F x=1 ]", "holds 1 of 9/10 >3/5 shown [risky]"},
		{ways, "P>=0.6 [ F x=1 ]", "fails 1 of 1/2 >2/5 shown [safe]"},
		{ways, "P<=0.95 [ F x=1 ]", "fails 1 of 1/10 >=1/20 [risky]"},
		{ways, "Pmin=? [ F<=1 x=1 ]", "holds 1 of 1/2 all [safe]"},
		{race, "P<=0.7 [ F x=1 ]", "holds 1 of 3/4 >7/10 shown [a]"},
		{race, "P=? [ F x=2 ]", "holds 2 of 1 all [a c]"},
		{start, "P<=0.4 [ F x=2 ]", "holds 1 of 1/2 >2/5 shown []"},
		{start, "P>=0.4 [ F x=2 ]", "fails 1 of 2/3 >3/5 shown []"},
	} {
		v := witnessOf(t, tt.model, tt.property, runner.Witness{Paths: 3})
		if len(v.Witnesses) != 1 {
			t.Errorf("%s: no witness: %v %v", tt.property, v.Err, v.Warnings)
			continue
		}
		if got := summary(&v.Witnesses[0]); got != tt.want {
			t.Errorf("%s: found %s, want %s", tt.property, got, tt.want)
		}
	}
}

func summary(w *result.Witness) string {
	out := map[bool]string{true: "holds ", false: "fails "}[w.Holds] + strings.TrimSpace(strings.Join([]string{strconv.Itoa(w.Count), "of", w.SumFraction, w.Wanted}, " "))
	if w.Shown {
		out += " shown"
	}
	if w.All && w.Wanted == "" {
		out += " all"
	}
	var actions []string
	if len(w.Paths) > 0 {
		for _, s := range w.Paths[0].Steps[1:] {
			actions = append(actions, s.Action)
		}
	}
	return out + " [" + strings.Join(actions, " ") + "]"
}

// A bound that is the value itself is approached by paths and not reached: the sum of
// finitely many is less than 2/3.
func TestWitnessOfTheValue(t *testing.T) {
	v := witnessOf(t, coin, "P<2/3 [ F x=1 ]", runner.Witness{Paths: 1})
	if w := v.Witnesses[0]; v.Value.Bool || w.Enough || w.Shown || w.Wanted != ">=2/3" {
		t.Errorf("found %+v", w)
	}
}

// What has no paths of that kind is refused by name, and keeps its value.
func TestNoWitness(t *testing.T) {
	for _, tt := range []struct{ model, property, why string }{
		{coin, "P=? [ F G x=1 ]", "LTL"},
		{coin, `R{"r"}=? [ F x=1 ]`, "operator P"},
		{coin, "E [ F x=1 ]", "operator E or A"},
		{coin, "filter(max, P=? [ F x=1 ])", "filter"},
		{race, "P=? [ F<=1 x=1 ]", "without a time bound"},
		{coin, "P=? [ x=0 ]", "state in which a path begins"},
	} {
		model := tt.model
		if strings.HasPrefix(tt.property, "R") {
			model += ` rewards "r" true : 1; endrewards`
		}
		v := witnessOf(t, model, tt.property, runner.Witness{Paths: 1})
		if v.Err != nil || len(v.Witnesses) > 0 || !strings.Contains(strings.Join(v.Warnings, "\n"), tt.why) {
			t.Errorf("%s: found %v, warnings %q, want one about %q", tt.property, v.Err, v.Warnings, tt.why)
		}
	}
}

// A path of 0 steps that violates the formula has the choices of the scheduler in the states with several choices. The same run writes the
// scheduler.
func TestWitnessOfNoSatisfyingPath(t *testing.T) {
	const model = "mdp module m s:[0..3]; [safe] s=0 -> 1/2:(s'=1) + 1/2:true; [fast] s=0 -> (s'=3); [back] s=1 -> (s'=0); [on] s=1 -> (s'=2); [] s>1 -> true; endmodule"
	var written strings.Builder
	scheduler := &runner.SchedulerFile{Target: "best.txt", Write: func(name string, write func(io.Writer) error) error { return write(&written) }}
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{"P>=0.5 [ F s=3 ]"}, Outputs: runner.Outputs{Witness: &runner.Witness{Paths: 1}, Scheduler: scheduler}}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Err != nil || len(verdicts[0].Witnesses) != 1 {
		t.Fatalf("found %v and %v, want one witness", verdicts, err)
	}
	choices := verdicts[0].Witnesses[0].Choices
	if choices == nil || choices.Count != len(choices.First) || choices.First[0].Action != "safe" || choices.First[0].State.String() != "s=0" {
		t.Errorf("found the choices %+v, want safe in s=0 and the others", choices)
	}
	if !strings.Contains(written.String(), "(0)=safe\n") {
		t.Errorf("found the scheduler\n%s\nwant one with (0)=safe", written.String())
	}
	for _, property := range []string{"P<=0.5 [ F s=3 ]", "Pmax=? [ F s=3 ]"} {
		if verdict := witnessOf(t, model, property, runner.Witness{Paths: 1}); verdict.Witnesses[0].Choices != nil {
			t.Errorf("%s: found choices, want none beside a path with steps", property)
		}
	}
}
