package compile

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// manyModules returns a model of n modules that share an action. Module i picks one of three values of x_i, in a CTMC with rates that are twice the
// probabilities in the first module.
func manyModules(kind string, n int) string {
	text := kind + "\n"
	for i := range n {
		weights := [3]string{"0.2", "0.3", "0.5"}
		if kind == "ctmc" && i == 0 {
			weights = [3]string{"0.4", "0.6", "1"}
		}
		text += fmt.Sprintf("module m%[1]d x%[1]d:[0..3]; [a] x%[1]d=0 -> %[2]s:(x%[1]d'=1) + %[3]s:(x%[1]d'=2) + %[4]s:(x%[1]d'=3); endmodule\n",
			i, weights[0], weights[1], weights[2])
	}
	return text
}

// Modules that share an action pick their updates independently. Their combinations are too many to multiply out: 3^24, and 3^70 is no int.
func TestManyModules(t *testing.T) {
	const samples = 20_000
	for _, kind := range []string{"dtmc", "ctmc"} {
		for _, n := range []int{2, 24, 70} {
			var goal []string
			for _, i := range []int{0, n / 2, n - 1} {
				goal = append(goal, fmt.Sprintf("(x%d=1 | x%d=3)", i, i))
			}
			probability := 0.7 * 0.7 // n/2 is n-1 if n is 2
			if n > 2 {
				probability *= 0.7
			}
			m, right := expr(t, manyModules(kind, n)+"label \"everywhere\" = true;", strings.Join(goal, " & "), Options{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			runner, err := m.NewRunner(ctx, Monitor{Kind: Until, Left: label(t, m, "everywhere"), Right: right, High: inf, MaxPath: 10})
			if err != nil {
				t.Fatal(err)
			}
			outcomes := make([]Outcome, samples)
			if err := runner.RunBatch(ctx, 7, 0, outcomes); err != nil {
				t.Fatal(err)
			}
			hits, meanTime := 0.0, 0.0
			for _, outcome := range outcomes {
				if outcome.Status == True {
					hits++
					meanTime += outcome.Time
				}
			}
			if deviation := math.Abs(hits/samples - probability); deviation > 5*math.Sqrt(probability*(1-probability)/samples) {
				t.Errorf("%s of %d modules: the probability is %v, want %v", kind, n, hits/samples, probability)
			}
			if want := 0.5; kind == "ctmc" && math.Abs(meanTime/hits-want) > 5*want/math.Sqrt(hits) { // the exit rate is 2
				t.Errorf("%d modules leave after %v, want %v", n, meanTime/hits, want)
			}
		}
	}
}
