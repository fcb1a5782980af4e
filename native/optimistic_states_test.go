//go:build !js

package native

import (
	"math"
	"testing"

	"tilecheck/result"
	"tilecheck/runner"
)

// optimisticRefiner returns the optimistic search for a property, or nil.
func optimisticRefiner(partial *partialStates, property *checkedProperty) refiner {
	if search := partial.newOptimisticSearch(property); search != nil {
		return search
	}
	return nil
}

// minefield has 2*10^9 states. Each step in it may be the last one: with probability 1/20 along z, and 1/10 along x and y.
const minefield = `mdp
module walker
  x : [0..999] init 500; y : [0..999] init 500; z : [0..999] init 500;
  alive : bool init true;
  [] alive & x<999 -> 9/10:(x'=x+1) + 1/10:(alive'=false);
  [] alive & x>0 -> 9/10:(x'=x-1) + 1/10:(alive'=false);
  [] alive & y<999 -> 9/10:(y'=y+1) + 1/10:(alive'=false);
  [] alive & y>0 -> 9/10:(y'=y-1) + 1/10:(alive'=false);
  [] alive & z<999 -> 19/20:(z'=z+1) + 1/20:(alive'=false);
  [] alive & z>0 -> 19/20:(z'=z-1) + 1/20:(alive'=false);
endmodule
label "goal" = x=504 & y=499 & z=502 & alive;
label "gone" = x=504 & !alive;
`

// TestOptimisticSearchOfALargeModel asks about a model of more states than the limit. The goal is 4+1+2 steps away.
func TestOptimisticSearchOfALargeModel(t *testing.T) {
	t.Parallel()
	for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
		job := runner.Job{File: "m.prism", Model: []byte(minefield), Props: []string{`Pmax=? [ F "goal" ]`, `Pmax=? [ z<=500 U "goal" | x=503 & alive ]`, `Pmax=? [ F "gone" ]`, `Pmin=? [ F "gone" ]`}}
		job.Settings.Numeric.Accuracy, job.Settings.Numeric.MaxStates = accuracy, 30_000
		verdicts := checkByRefiner(t, job, optimisticRefiner)
		for i, want := range []float64{math.Pow(0.9, 5) * math.Pow(0.95, 2), math.Pow(0.9, 3), math.Pow(0.9, 4)} {
			verdict := verdicts[i]
			isRight := verdict.Err == nil && verdict.Accuracy == accuracy && math.Abs(verdict.Value.Num-want) <= 1e-8
			hasBounds := verdict.Bound != nil && verdict.Bound.Lo <= want+1e-15 && verdict.Bound.Hi >= want-1e-15
			isExact := accuracy != result.Exact || verdict.Value.Rat.String() == []string{"21316689/40000000", "729/1000", "6561/10000"}[i]
			if !isRight || !hasBounds || !isExact || verdict.States > 20_000 {
				t.Errorf("%s: %v in %v (%v), %v, %d states, want %v", verdict.Property, verdict.Value, verdict.Bound, verdict.Accuracy, verdict.Err, verdict.States, want)
			}
			t.Log(verdict.States, verdict.Warnings)
		}
		if minimum := verdicts[3]; minimum.Err == nil {
			t.Errorf("%s: found %v, want no answer: only maxima are supported", minimum.Property, minimum.Value)
		}
	}
}
