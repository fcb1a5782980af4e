package bridge_test

import (
	"math"
	"slices"
	"testing"

	"tilecheck/bridge"
	"tilecheck/runner"
)

// ruin is a gambler whose states are found in another order than PRISM's: 2, 1, 3, 0, 4.
const gambler = `dtmc
const int k;
module gambler
  s : [0..4] init 2;
  fixed : [7..8] init 7;
  [] s>0 & s<4 -> 1/2 : (s'=s-1) + 1/2 : (s'=s+1);
  [] s=0 | s=4 -> true;
endmodule
rewards "steps" s>0 & s<4 : 1; endrewards
`

// What Storm exports of all states comes in PRISM's order. The values are those of
// the gambler's ruin: s/4, s (4-s) steps, and no end of those to 4 alone.
func TestStormValues(t *testing.T) {
	inf := math.Inf(1)
	for property, want := range map[string][]float64{
		"P=? [ F s=k ]":                {0, 0.25, 0.5, 0.75, 1},
		"filter(print, P=? [ F s=k ])": {0, 0.25, 0.5, 0.75, 1},
		"1-P=? [ F s=k ]":              {1, 0.75, 0.5, 0.25, 0},
		`R{"steps"}=? [ F s=0 | s=4 ]`: {0, 3, 4, 3, 0},
		`R{"steps"}=? [ F s=4 ]`:       {inf, inf, inf, inf, 0},
		"P=? [ F P>=0.4 [ F s=4 ] ]":   {0, 0.5, 1, 1, 1},
	} {
		plan, err := runner.NewPlan(t.Context(), runner.Job{File: "ruin.prism", Model: []byte(gambler), Props: []string{property}, Consts: []string{"k=4"}})
		if err != nil {
			t.Fatal(err)
		}
		storm := bridge.Storm(&emulator{}, bridge.Options{})
		got, err := storm.Values(t.Context(), plan, 0, slices.Collect(plan.Models())[0], nil)
		if err != nil || !slices.EqualFunc(got, want, func(x, y float64) bool { return x == y || math.Abs(x-y) < 1e-6 }) {
			t.Errorf("%s: %v %v, want %v", property, got, err, want)
		}
	}
}
