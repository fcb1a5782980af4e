package native

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// counters is a model of so many counters to 9, each of which may be advanced with
// probability 1/2 at a time, or given up.
func counters(n int) string {
	var b strings.Builder
	b.WriteString("mdp\n")
	for i := range n {
		fmt.Fprintf(&b, "module m%d\n c%d:[0..9];\n [] c%d<8 -> 0.5:(c%d'=c%d+1) + 0.5:true;\n [] c%d<8 -> (c%d'=9);\nendmodule\n", i, i, i, i, i, i, i)
	}
	return b.String()
}

// TestBegun asks about a model of 10^9 states: what its first states answer, and what
// they do not, at a limit.
func TestBegun(t *testing.T) {
	t.Parallel()
	for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
		if accuracy == result.Bounded && !needs.IsFull() {
			continue
		}
		vs, err := runner.Check(t.Context(), New(), runner.Job{
			File: "m.prism", Model: []byte(counters(9)),
			Props: []string{
				"Pmax=? [ F c3=2 ]", "Pmax=? [ c0<3 U c0=2&c1=1 ]",
				"Pmax=? [ F c3>=0 & c4=8 & c5=8 & c6=8 ]", // by hiding variables
				"Pmax=? [ F c0=8 & c0+c1+c2+c3+c4+c5+c6+c7+c8=72 ]", "Pmax=? [ F c8=1 ]",
			},
			Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy, MaxStates: 30_000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, answered := range []bool{true, true, true, false, true} {
			switch v := vs[i]; {
			case !answered && (v.Err == nil || !v.Err.Class.Limited()):
				t.Errorf("%s: %v, %v, want the limit", v.Property, v.Value, v.Err)
			case answered && (v.Err != nil || v.Value.Num != 1 || v.Accuracy != accuracy || len(v.Warnings) != 1):
				t.Errorf("%s: %v (%v, %q), %v, want 1", v.Property, v.Value, v.Accuracy, v.Warnings, v.Err)
			}
		}
	}
}

// TestFirstPartAtALimit asks about a model whose first states lead to more states than the limit allows.
func TestFirstPartAtALimit(t *testing.T) {
	t.Parallel()
	verdicts, err := runner.Check(t.Context(), New(), runner.Job{
		File: "m.prism", Model: []byte(counters(9)),
		Props:    []string{"Pmax=? [ F c3=2 ]", "Pmax=? [ F c0=8 & c0+c1+c2+c3+c4+c5+c6+c7+c8=72 ]"},
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: 1_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if found := verdicts[0]; found.Err != nil || found.Value.Num != 1 {
		t.Errorf("%s: %v, %v, want 1", found.Property, found.Value, found.Err)
	}
	if found := verdicts[1]; found.Err == nil || !found.Err.Class.Limited() {
		t.Errorf("%s: %v, %v, want the limit", found.Property, found.Value, found.Err)
	}
}

// buildFunc is the type of run.build.
type buildFunc = func(constants sema.Valuation) (*sema.Program, instance, error)

// checkBuilt checks the properties of a job with the instances that a function builds, which may change the method before.
func checkBuilt(t *testing.T, job runner.Job, newBuild func(*run, *statesMethod) buildFunc) []result.Verdict {
	t.Helper()
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := await(t.Context(), plan, func(r *run) error {
		method, err := newStatesMethod(r.plan)
		if err != nil {
			return err
		}
		r.build = newBuild(r, method)
		return r.checkPlan()
	})
	if err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// inStages checks properties of a chain, parts of which have so many states, after first ones.
func inStages(t *testing.T, job runner.Job, first, stage int) []result.Verdict {
	t.Helper()
	return checkBuilt(t, job, func(r *run, method *statesMethod) buildFunc {
		if want := (partOptions{first: firstChainStates, stage: stageStates}); method.partOptions != want {
			t.Errorf("begins with %+v, want %+v", method.partOptions, want)
		}
		method.partOptions = partOptions{first: first, stage: stage}
		return func(constants sema.Valuation) (*sema.Program, instance, error) { return r.compile(method, constants) }
	})
}

// TestStagesOrAll: what stages answer, and what needs all states, are the values that all
// states have, in any order; a small model is not answered in stages.
func TestStagesOrAll(t *testing.T) {
	t.Parallel()
	props := []string{"P=? [ F x=30&y=7 ]", "P=? [ G y<30 ]", "R=? [ F x=60 ]", "P=? [ F x=30&y=7 ]"}
	job := runner.Job{
		File: "m.prism", Props: props, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
		Model: []byte("dtmc\nmodule m\n x:[0..60]; y:[0..60];\n [] x<60 -> 1/3:(x'=x+1)&(y'=y) + 2/3:(x'=x+1)&(y'=min(y+1,60));\n" +
			"endmodule\nrewards y>3 : y; endrewards\n"),
	}
	want, err := runner.Check(t.Context(), New(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}} {
		job.Props = nil
		for _, i := range order {
			job.Props = append(job.Props, props[i])
		}
		for _, first := range []int{500, 5000} { // of 1891
			for k, v := range inStages(t, job, first, 100) {
				w := want[order[k]]
				if v.Err != nil || v.Value.Rat.Cmp(w.Value.Rat) != 0 {
					t.Errorf("%s: %v, %v, want %v", v.Property, v.Value, v.Err, w.Value)
				}
				staged := strings.Contains(strings.Join(v.Warnings, " "), "stages")
				if wants := first == 500 && order[k] != 1; staged != wants {
					t.Errorf("%s: in stages %v, want %v", v.Property, staged, wants)
				}
			}
		}
	}
}

// TestStagesInLittleMemory answers a chain whose states do not fit.
func TestStagesInLittleMemory(t *testing.T) {
	t.Parallel()
	job := runner.Job{
		File: "m.prism", Props: []string{"P=? [ F x=2000&y=0 ]", "P=? [ G y<30 ]"}, Settings: runner.Settings{Numeric: runner.Numeric{MaxMemory: 1 << 20}},
		Model: []byte("dtmc\nmodule m\n x:[0..2000]; y:[0..19];\n [] x<2000 -> 1/3:(x'=x+1)&(y'=y) + 2/3:(x'=x+1)&(y'=mod(y+1,20));\nendmodule\n"),
	}
	vs := inStages(t, job, 1<<20, 1000)
	if v := vs[0]; v.Err != nil || v.Bound == nil || v.Bound.Lo < 0.05-1e-9 || v.Bound.Hi > 0.05+1e-9 {
		t.Errorf("%v in %v, %v, want nearly 0.05", v.Value, v.Bound, v.Err)
	}
	if v := vs[1]; v.Err == nil || !v.Err.Class.Limited() {
		t.Errorf("%v, %v, want the limit of memory", v.Value, v.Err)
	}
}

// queue is a model without end: from x customers, the queue becomes empty with probability (1/2)^x.
const queue = `
module m
 x : int init 3;
 [] x>0 -> 2/3:(x'=x+1) + 1/3:(x'=x-1);
 [] x<=0 -> true;
endmodule
rewards "long" x>3 : 1; endrewards
`

// TestCertificateWithoutEnd expects that a certificate in a model with infinitely many states is refused with the reason.
func TestCertificateWithoutEnd(t *testing.T) {
	t.Parallel()
	vs, err := runner.Check(t.Context(), New(), runner.Job{
		File: "m.prism", Model: []byte("dtmc" + queue), Props: []string{"P=? [ F<=3 x=0 ]"},
		Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: 3_000, Accuracy: result.Proven}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v := vs[0]; v.Err == nil || !v.Err.Class.Limited() || !strings.Contains(v.Err.Message, `variable "x" has no bounds, and a certificate needs all states`) {
		t.Errorf("%v, %v, want a limit and its reason", v.Value, v.Err)
	}
}

// TestWithoutEnd asks about models that have infinitely many states.
func TestWithoutEnd(t *testing.T) {
	t.Parallel()
	walk := func(low, high int) float64 { // the probability to reach 0 before high
		r := math.Pow(0.5, float64(high))
		return (math.Pow(0.5, float64(low)) - r) / (1 - r)
	}
	for _, tt := range []struct {
		kind, property string
		want           float64 // negative for an error
		narrow         bool
	}{
		{"dtmc", "P=? [ F<=3 x=0 ]", 1. / 27, true},
		{"dtmc", "P=? [ F<=5 x=0 ]", 1./27 + 3*2./243, true},
		{"dtmc", `R{"long"}=? [ C<=2 ]`, 2. / 3, true},
		{"dtmc", `R{"long"}=? [ I=1 ]`, 2. / 3, true},
		{"dtmc", "P=? [ x<40 U x=0 ]", walk(3, 40), true},
		{"dtmc", "P=? [ F x=0 ]", 1. / 8, false},
		{"dtmc", "P=? [ G x>0 ]", 7. / 8, false},
		{"dtmc", "S=? [ x=0 ]", -1, false},
		{"mdp", "Pmax=? [ x<40 U x=0 ]", walk(3, 40), true},
		{"mdp", "Pmin=? [ F<=3 x=0 ]", 1. / 27, true},
		{"ctmc", "P=? [ F<=0.001 x=0 ]", 6.166e-12, true},
	} {
		vs, err := runner.Check(t.Context(), New(), runner.Job{
			File: "m.prism", Model: []byte(tt.kind + queue), Props: []string{tt.property},
			Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: 3_000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		switch v := vs[0]; {
		case tt.want < 0:
			if v.Err == nil || !v.Err.Class.Limited() || !strings.Contains(v.Err.Message, "has no bounds") {
				t.Errorf("%s: %v, %v, want a limit", tt.property, v.Value, v.Err)
			}
		case v.Err != nil:
			t.Errorf("%s: %v", tt.property, v.Err)
		case v.Bound.Lo > tt.want*(1+1e-3) || v.Bound.Hi < tt.want*(1-1e-3):
			t.Errorf("%s: %v, want %v", tt.property, v.Bound, tt.want)
		case tt.narrow != (v.Bound.Hi-v.Bound.Lo < 1e-6):
			t.Errorf("%s: %v, want a narrow interval %v", tt.property, v.Bound, tt.narrow)
		}
	}
}

// TestFiniteModelAtALimit asks about models with more states than the limit allows. The bounds of their parts are wide. The computation on a part of the walk ends
// early as long as a greater part may be explored. Greater parts of the switches are skipped: see skipParts.
func TestFiniteModelAtALimit(t *testing.T) {
	t.Parallel()
	const walk = `ctmc module walk
x:[0..3000]; y:[0..3000];
[] x<3000 -> 2:(x'=x+1); [] x>0 -> 1:(x'=x-1); [] y<3000 -> 2:(y'=y+1); [] y>0 -> 1:(y'=y-1);
endmodule`
	const numSwitches = 18
	switches, sum := "ctmc\n", "0"
	for i := range numSwitches {
		switches += fmt.Sprintf("module m%[1]d x%[1]d:[0..1]; [] x%[1]d<1 -> 1:(x%[1]d'=1); [] x%[1]d>0 -> 9:(x%[1]d'=0); endmodule\n", i)
		sum += fmt.Sprintf("+x%d", i)
	}
	for _, tt := range []struct {
		model, property string
		numStates       int
	}{
		{walk, "P=? [ F<=100 x>=60 ]", 0},
		{switches, "P=? [ F<=1 " + sum + ">=7 ]", 1 << numSwitches},
	} {
		check := func(maxStates int) result.Verdict {
			verdicts, err := runner.Check(t.Context(), New(), runner.Job{
				File: "m.prism", Model: []byte(tt.model), Props: []string{tt.property},
				Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: maxStates}},
			})
			if err != nil || verdicts[0].Err != nil {
				t.Fatal(err, verdicts[0].Err)
			}
			return verdicts[0]
		}
		whole := check(0)
		if whole.Bound.Hi-whole.Bound.Lo > 1e-8 {
			t.Errorf("%s: %v, want narrow bounds", tt.property, whole.Bound)
		}
		if tt.numStates > 0 && whole.States != int64(tt.numStates) {
			t.Errorf("%s: %d states, want %d", tt.property, whole.States, tt.numStates)
		}
		for _, maxStates := range []int{3_000, 10_000, 100_000} {
			if part := check(maxStates).Bound; !(part.Lo <= whole.Bound.Lo && part.Hi >= whole.Bound.Hi && (part.Lo > 0 || part.Hi < 1)) {
				t.Errorf("%s: up to %d states: %v, want bounds around %v", tt.property, maxStates, part, whole.Bound)
			}
		}
	}
}

// TestSkipParts: if greater parts are hardly left later, as in speed-ind of QComp, all others are skipped. In its cluster, each part is left four times as late.
func TestSkipParts(t *testing.T) {
	speedInd, cluster := []float64{0.0007, 0.0011, 0.0013}, []float64{0.002, 0.009, 0.03}
	for _, tt := range []struct {
		shares []float64 // of the steps after which each part is left
		sizes  []int     // before the next part
	}{
		{speedInd[:1], []int{2000}},
		{speedInd, []int{2000, maxTruncated, maxTruncated}},
		{cluster, []int{2000, 8000, 32000}},
		{[]float64{0.5, 0.4}, []int{2000, maxTruncated}},
	} {
		truncation := truncation{size: firstTruncated}
		for i, share := range tt.shares {
			truncation.skipParts(share)
			if truncation.size != tt.sizes[i] {
				t.Errorf("parts left after %v of the steps: the size is %d, want %d", tt.shares[:i+1], truncation.size, tt.sizes[i])
			}
			truncation.size = min(truncation.size*partGrowth, maxTruncated)
		}
	}
}

// TestOverflowBehindTheHorizon asks about models whose numbers double: after about 30 steps they do not fit 32 bits. Properties about fewer steps have values, in
// fractions and as bounds; properties about more steps, or without a bound, have the error.
func TestOverflowBehindTheHorizon(t *testing.T) {
	t.Parallel()
	const model = `dtmc
module m
 x : int init 1;
 [] true -> 0.5:(x'=2*x+3) + 0.5:(x'=x);
endmodule
rewards
 true : 1;
endrewards
`
	for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
		verdicts, err := runner.Check(t.Context(), New(), runner.Job{
			File: "m.prism", Model: []byte(model), Props: []string{"P=? [ F<=4 x>20 ]", "R=? [ C<=6 ]", "P=? [ F<=40 x>20 ]", "P=? [ F x>20 ]"},
			Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{5. / 16, 6} {
			if v := verdicts[i]; v.Err != nil || math.Abs(v.Value.Num-want) > 1e-6 {
				t.Errorf("%v: property %d: %v, %v, want %v", accuracy, i+1, v.Value, v.Err, want)
			}
		}
		for _, v := range verdicts[2:] {
			if v.Err == nil || !strings.Contains(v.Err.Message, "integer overflow") {
				t.Errorf("%v: %v, %v, want an integer overflow", accuracy, v.Value, v.Err)
			}
		}
	}
}
