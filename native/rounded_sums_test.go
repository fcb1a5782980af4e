package native_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// Probabilities that sum to 1 but for rounding are divided by their sum, as PRISM's
// 0.3333333333333333 has it, in all kinds of models and whatever makes use of
// fractions; only where fractions are asked for are they refused. Three times
// 0.333333333333 is exactly 1 - 1e-12, and the float64 sum, which decides, is nearer to 1.
func TestRoundedSums(t *testing.T) {
	for _, third := range []string{"0.33333333333333333", "0.333333333333"} {
		for _, kind := range []string{"dtmc", "mdp", "pomdp", "smg"} {
			checkRoundedSums(t, kind, third)
		}
	}
}

// checkRoundedSums checks a model that makes three steps with the same rounded probability.
func checkRoundedSums(t *testing.T, kind, third string) {
	t.Helper()
	model, prop := kind, "Pmax=? [ F x=1 ]"
	switch kind {
	case "dtmc":
		prop = "P=? [ F x=1 ]"
	case "pomdp":
		model += " observables x endobservables"
	case "smg":
		model, prop = model+" player p m endplayer", "<<p>> Pmax=? [ F x=1 ]"
	}
	model += strings.ReplaceAll(` module m x:[0..3];
			[] x=0 -> T:(x'=1) + T:(x'=2) + T:(x'=3);
			[] x>0 -> true;
		endmodule`, "T", third)
	for _, num := range []runner.Numeric{{}, {Reduce: true}, {Accuracy: result.Exact}, {Accuracy: result.Exact, Reduce: true}} {
		vs, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.prism", Model: []byte(model), PropsFile: "p.props", Properties: []byte(prop), Settings: runner.Settings{Numeric: num},
		})
		if err != nil {
			t.Fatal(err)
		}
		v, what := &vs[0], fmt.Sprintf("%s %s %+v", kind, third, num)
		switch {
		case num.Accuracy == result.Exact:
			if v.Err == nil || !strings.Contains(v.Err.Message, "exactly, not to 1") {
				t.Errorf("%s: %v, %v, want the sum refused", what, v.Value, v.Err)
			}
		case v.Err != nil:
			t.Errorf("%s: %v", what, v.Err)
		case v.Accuracy != result.Bounded || v.Value.Rat != nil || math.Abs(v.Value.Num-1./3) > 1e-9 || v.Bound.Lo > 0.33333333333333326 || v.Bound.Hi < 0.33333333333333326:
			t.Errorf("%s: %v %s %v, want 1/3, with bounds", what, v.Value, v.Accuracy, v.Bound)
		}
	}
}
