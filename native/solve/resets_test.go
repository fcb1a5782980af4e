package solve_test

import (
	"fmt"
	"math/big"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// resets is a path from 0 to n. Each choice of a state has a probability of a reset to 0 instead of the next step.
// There is one choice for each of the given probabilities.
func resets(tb testing.TB, n int, probabilities ...float64) *sparse.Model {
	tb.Helper()
	kind := sparse.DTMC
	if len(probabilities) > 1 {
		kind = sparse.MDP
	}
	b := sparse.NewBuilder(kind)
	for s := range n + 1 {
		b.State()
		for _, p := range probabilities {
			if kind == sparse.MDP {
				b.Choice(sparse.NoAction)
			}
			if s == n {
				b.Add(n, 1)
				break
			}
			b.Add(s+1, 1-p)
			b.Add(0, p)
		}
	}
	return finish(tb, b)
}

// resetSteps returns the expected number x(k) of steps from each state k to state n, computed with 200 bits. The differences
// d(k) = x(0) - x(k) satisfy d(0) = 0 and d(k+1) = (1 + d(k)) / (1-p). Since x(n) is 0, x(0) is d(n).
func resetSteps(n int, p float64) []*big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	difference := []*big.Float{number(0)}
	for k := range n {
		sum := number(1)
		sum.Add(sum, difference[k])
		difference = append(difference, sum.Quo(sum, number(1-p)))
	}
	steps := make([]*big.Float, n+1)
	for k := range steps {
		steps[k] = number(0).Sub(difference[n], difference[k])
	}
	return steps
}

// TestResets compares with the exact solution of chains that start again from 0 so often that they take up to 10^10 steps.
// Sweeps would need as many. In an MDP the greater probability is best for the maximum in every state, by differences
// that are as small as the rounding errors of the values.
func TestResets(t *testing.T) {
	const rare, frequent = 0x1p-10, 0x1.8p-10
	for _, n := range []int{50, 3000, 10_000} {
		for _, test := range []struct {
			name          string
			probabilities []float64
			dir           solve.Direction
			best          float64
		}{
			{"chain", []float64{rare}, solve.Max, rare},
			{"max", []float64{rare, frequent}, solve.Max, frequent},
			{"min", []float64{rare, frequent}, solve.Min, rare},
		} {
			t.Run(fmt.Sprintf("%s %d", test.name, n), func(t *testing.T) {
				graph := sparse.NewGraph(resets(t, n, test.probabilities...))
				reward := &sparse.Reward{State: constant(n+1, 1)}
				values, err := solve.ReachReward(t.Context(), graph, reward, sparse.SetOf(n+1, n), test.dir, solve.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for s, want := range resetSteps(n, test.best) {
					checkNear(t, "steps", values, s, want)
				}
				if values.Sweeps > 100 {
					t.Errorf("%d sweeps", values.Sweeps)
				}
			})
		}
	}
}
