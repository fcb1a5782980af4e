package splitting_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// The estimate is the same bits for every number of workers, and another one for another seed.
func TestWorkersAndSeeds(t *testing.T) {
	rare := &rareEvent{model: queue, property: "P=? [ x>0 U x=8 ]"}
	for _, method := range methods {
		first := rare.split(t, method, runner.Simulation{Seed: 5, Samples: 40, Workers: 1})
		for _, workers := range []int{2, 5} {
			if again := rare.split(t, method, runner.Simulation{Seed: 5, Samples: 40, Workers: workers}); again.Value.Num != first.Value.Num || *again.HalfWidth != *first.HalfWidth {
				t.Errorf("%s: %v ± %v with %d workers, want %v ± %v", method, again.Value.Num, *again.HalfWidth, workers, first.Value.Num, *first.HalfWidth)
			}
		}
		if other := rare.split(t, method, runner.Simulation{Seed: 6, Samples: 40}); other.Value.Num == first.Value.Num {
			t.Errorf("%s: the estimate is %v for two seeds", method, first.Value.Num)
		}
	}
}

// Without a number of replications, the half-width is 5 % of the estimate.
func TestRelativeWidth(t *testing.T) {
	rare := &rareEvent{model: bits, property: "P=? [ F n=20 ]"}
	for _, method := range methods {
		got := rare.split(t, method, runner.Simulation{Seed: 1, Confidence: 0.95})
		if got.Err != nil || *got.HalfWidth > 0.06*got.Value.Num || math.Abs(got.Value.Num*(1<<20)-1) > 0.1 {
			t.Errorf("%s: %v ± %v (%v), want 2^-20 with 5 %%", method, got.Value.Num, got.HalfWidth, got.Err)
		}
	}
}

// What is not estimated is refused by name.
func TestRefused(t *testing.T) {
	const late = "dtmc module m x : [0..5]; y : [0..1]; [] x<5 -> (x'=x+1); [] x=5 -> 1e-9:(y'=1) + (1-1e-9):true; endmodule"
	const failures = "dtmc module m x : [0..400]; [] x<400 -> 0.01:(x'=x+1) + 0.99:(x'=0); endmodule"
	const loop = "dtmc module m x : [0..2]; [] x=0 -> 1e-17:(x'=1) + 1-1e-17:true; [] x=1 -> 0.5:(x'=2) + 0.5:(x'=0); endmodule"
	for _, test := range []struct{ model, property, want string }{
		{failures, "P=? [ F<=500 x=400 ]", "less than any double"},
		{loop, "P=? [ F x=2 ]", "was not decided after"},
		{gambler, "P>=0.5 [ F x=70 ]", "found a bounded property"},
		{gambler, "P=? [ G x<70 ]", "found a negated path formula"},
		{gambler, "P=? [ X x=2 ]", "found the operator X"},
		{gambler, "P=? [ F[2,5] x=3 ]", "found a lower bound"},
		{gambler + ` rewards "r" true : 1; endrewards`, "R=? [ F x=70 ]", "found a reward"},
		{gambler, "P=? [ F x=1 ]", "not rare"},
		{gambler, "P=? [ F x>70 ]", "cannot be reached"},
		{late, "P=? [ F<=8 y=1 ]", "does not lead to the target"},
	} {
		rare := &rareEvent{model: test.model, property: test.property}
		verdict := rare.split(t, runner.Splitting, runner.Simulation{Seed: 1, Samples: 25})
		if verdict.Err == nil || !strings.Contains(verdict.Err.Message, test.want) {
			t.Errorf("%s: found %v %v, want %q", test.property, verdict.Value, verdict.Err, test.want)
		}
		if verdict.Err != nil && verdict.Err.Class == result.Other {
			t.Errorf("%s: %v has no class", test.property, verdict.Err)
		}
	}
	several, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.prism", Model: []byte("dtmc module m x : [0..1]; endmodule init true endinit"), Props: []string{"P=? [ F x=1 ]"}, Settings: runner.Settings{Method: runner.Splitting}})
	if err != nil || several[0].Err == nil || !strings.Contains(several[0].Err.Message, "2 initial states") {
		t.Errorf("several initial states: %v %v", several, err)
	}
}

// A bound of one step does not make a target unreachable that one step reaches.
func TestOneStep(t *testing.T) {
	rare := &rareEvent{model: "dtmc module m x : [0..2]; [] x=0 -> 0.01:(x'=1) + 0.99:(x'=2); endmodule", property: "P=? [ F<=1 x=1 ]"}
	if got := rare.split(t, runner.Splitting, runner.Simulation{Seed: 1, Samples: 50}); got.Err != nil || math.Abs(got.Value.Num-0.01) > 2**got.HalfWidth {
		t.Errorf("%v ± %v (%v), want 0.01", got.Value.Num, got.HalfWidth, got.Err)
	}
}

// The nominal interval contains the value at least as often as it says. A correct method fails with a probability of 1e-3 for each row; after a
// change of the seeds, a failure can be chance.
func TestCoverage(t *testing.T) {
	needs.Full(t)
	runs, confidences := 150, []float64{0.9}
	if needs.IsLong() {
		runs, confidences = 10_000, []float64{0.9, 0.99}
	}
	for _, rare := range []rareEvent{
		{name: "bits", model: bits, property: "P=? [ F n=12 ]"},
		{name: "queue", model: queue, property: "P=? [ x>0 U x=8 ]"},
		{name: "queue within a time", model: queue, property: "P=? [ F<=3 x=8 ]"},
	} {
		for _, method := range methods {
			for _, confidence := range confidences {
				t.Run(fmt.Sprintf("%s by %s with %v", rare.name, method, confidence), func(t *testing.T) {
					t.Parallel()
					checkCoverage(t, &rare, method, confidence, runs)
				})
			}
		}
	}
}

// checkCoverage checks how many of the intervals of a number of seeds contain the value.
func checkCoverage(t *testing.T, rare *rareEvent, method runner.Method, confidence float64, runs int) {
	t.Helper()
	want, covered, below, refused, sum := rare.value(t), 0, 0, 0, 0.0
	for seed := range runs {
		got := rare.split(t, method, runner.Simulation{Seed: uint64(seed), Samples: 30, Confidence: confidence, Workers: 1})
		if got.Err != nil {
			refused++
			continue
		}
		sum += got.Value.Num
		if math.Abs(got.Value.Num-want) <= *got.HalfWidth {
			covered++
		} else if got.Value.Num < want {
			below++
		}
	}
	n := float64(runs - refused)
	t.Logf("%d of %.0f intervals contain %.4g, %d are below it, %d refused, mean of the estimates %.4g", covered, n, want, below, refused, sum/n)
	if least := n*confidence - 3.1*math.Sqrt(n*confidence*(1-confidence)); n == 0 || float64(covered) < least {
		t.Errorf("%d of %.0f intervals contain the value, want at least %.0f", covered, n, least)
	}
}
