package solve

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// Long step bounds of games contain the values of an oracle and agree with single steps, are as narrow as asked for, and are computed in fewer steps.
func TestLongGameSteps(t *testing.T) {
	fewer := map[string]int{}
	for number := range needs.Models(t, 100) {
		rng := rand.New(rand.NewPCG(number, 8))
		graph, target, reward := rareTarget(t, rng, sparse.MDP, 6+rng.IntN(3), number%2 == 1, false)
		if number%4 > 1 { // without a target, rewards grow forever
			graph, target, reward = randomSteps(t, rng, sparse.MDP, 5)
		}
		n, k := graph.NumStates(), 16_000+rng.IntN(2000)
		all, none, maximized := sparse.FullSet(n), sparse.NewSet(n), sparsetest.RandomSet(rng, n, 0.5)
		game, minimized := NewGame(graph, maximized), maximized.Complement()
		for bound, c := range map[string]struct {
			compute func(Options) (*Values, error)
			oracle  []float64
		}{
			"C<=k": {
				func(opts Options) (*Values, error) { return game.CumulReward(t.Context(), reward, k, opts) },
				afterManySteps(graph, make([]float64, n), none, reward, minimized, Max, k),
			},
			"I=k": {
				func(opts Options) (*Values, error) { return game.InstantReward(t.Context(), reward, k, opts) },
				afterManySteps(graph, reward.State, none, nil, minimized, Max, k),
			},
			"F<=k": {
				func(opts Options) (*Values, error) {
					return game.BoundedUntil(t.Context(), all, target, StepBound{High: k}, opts)
				},
				afterManySteps(graph, indicatorOf(n, target), target, nil, minimized, Max, k),
			},
		} {
			if checkLongSteps(t, fmt.Sprintf("model %d, %s", number, bound), c.compute, c.oracle, k) {
				fewer[bound]++
			}
		}
	}
	for _, bound := range []string{"C<=k", "F<=k"} {
		if fewer[bound] == 0 {
			t.Errorf("%s: steps were skipped in no model", bound)
		}
	}
}
