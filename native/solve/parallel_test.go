package solve_test

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// TestParallelSame checks that results do not depend on the number of processors, to the last bit.
func TestParallelSame(t *testing.T) {
	const n = 40_000
	walk := func(kind sparse.Kind) *sparse.Graph {
		b := sparse.NewBuilder(kind)
		for s := range n {
			b.State()
			if kind == sparse.MDP {
				b.Choice(0)
			}
			b.Add(min(s+1, n-1), 0.3)
			b.Add(max(s-1, 0), 0.7)
			if kind == sparse.MDP && s%3 == 0 {
				b.Choice(0)
				b.Add(s*7919%n, 1)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return sparse.NewGraph(model)
	}
	all, goal := sparse.FullSet(n), sparse.SetOf(n, 30)
	reward := &sparse.Reward{State: make([]float64, n)}
	for s := range n {
		reward.State[s] = float64(s % 11)
	}
	chain, mdp := walk(sparse.CTMC), walk(sparse.MDP)
	for name, ask := range map[string]func() (*solve.Values, error){
		"until": func() (*solve.Values, error) {
			return solve.TimedUntil(t.Context(), chain, all, goal, solve.Interval{From: at(1), To: at(9)}, solve.Options{})
		},
		"rewards": func() (*solve.Values, error) {
			return solve.TimedCumulReward(t.Context(), chain, reward, at(9), solve.Options{})
		},
		"steps": func() (*solve.Values, error) {
			return solve.BoundedUntil(t.Context(), mdp, all, goal, solve.StepBound{Low: 2, High: 20}, solve.Max, solve.Options{Scheduler: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			one, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			runtime.GOMAXPROCS(4)
			four, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one.Lower, four.Lower) || !slices.Equal(one.Upper, four.Upper) || !reflect.DeepEqual(one.StepChoices, four.StepChoices) {
				t.Error("found other values with four processors than with one")
			}
		})
	}
}
