package solve

import (
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// Long step bounds of games agree with single steps, are as narrow as asked for, and are computed in fewer steps.
func TestLongGameSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 8))
	fewer := map[string]int{}
	numModels := needs.Some(80)
	for number := range numModels {
		graph, target, reward := rareTarget(t, rng, sparse.MDP, 6+rng.IntN(3), number%2 == 1, false)
		if number%4 > 1 { // without a target, rewards grow forever
			graph, target, reward = randomSteps(t, rng, sparse.MDP, 5)
		}
		game := NewGame(graph, sparsetest.RandomSet(rng, graph.NumStates(), 0.5))
		k := 16_000 + rng.IntN(2000)
		for name, compute := range map[string]func(Options) (*Values, error){
			"C<=k": func(opts Options) (*Values, error) { return game.CumulReward(t.Context(), reward, k, opts) },
			"I=k":  func(opts Options) (*Values, error) { return game.InstantReward(t.Context(), reward, k, opts) },
			"F<=k": func(opts Options) (*Values, error) {
				return game.BoundedUntil(t.Context(), sparse.FullSet(graph.NumStates()), target, StepBound{High: k}, opts)
			},
		} {
			values, err := compute(Options{})
			if err != nil {
				t.Fatal(err)
			}
			single, err := compute(Options{Classic: true}) // takes every step
			if err != nil {
				t.Fatal(err)
			}
			isEqual := true
			for s, lower := range values.Lower {
				upper := values.Upper[s]
				isWide := upper-lower > 1e-8*upper && upper > 1e-250 // smaller values may have underflowed on the way
				if isWide || lower > single.Upper[s] || upper < single.Lower[s] {
					t.Errorf("model %d, %s, state %d: [%v, %v], single steps give [%v, %v]", number, name, s, lower, upper, single.Lower[s], single.Upper[s])
				}
				isEqual = isEqual && lower == single.Lower[s]
			}
			if !isEqual {
				fewer[name]++
			}
		}
	}
	for _, name := range []string{"C<=k", "F<=k"} {
		if fewer[name] == 0 {
			t.Errorf("%s: steps were skipped in no model", name)
		}
	}
}
