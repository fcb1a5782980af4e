package solve

import (
	"math/big"
	"testing"

	"tilecheck/native/space/sparse"
)

// TestEliminateActions checks that a suboptimal choice is removed, and the state in the same component that only this choice reaches.
func TestEliminateActions(t *testing.T) {
	const start, detour, goal, trap, numStates = 0, 1, 2, 3, 4
	third, twoThirds := big.NewRat(1, 3), big.NewRat(2, 3)
	builder := sparse.NewBuilder(sparse.MDP)
	for _, choices := range [numStates][]map[int]*big.Rat{
		start:  {{goal: twoThirds, trap: third}, {detour: big.NewRat(1, 1)}},
		detour: {{start: third, trap: twoThirds}},
		goal:   {{goal: big.NewRat(1, 1)}},
		trap:   {{trap: big.NewRat(1, 1)}},
	} {
		builder.State()
		for _, choice := range choices {
			builder.Choice(sparse.NoAction)
			for target := range numStates {
				if weight := choice[target]; weight != nil {
					builder.AddRat(target, weight, sparse.NoAction)
				}
			}
		}
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Exact: true, Within: sparse.SetOf(numStates, start)}
	system, err := newSystem(sparse.NewGraph(model), nil, Max, opts)
	if err != nil {
		t.Fatal(err)
	}
	system.isProbability, system.maybe = true, sparse.SetOf(numStates, start, detour)
	system.values.setAll(sparse.SetOf(numStates, goal), 1)
	if err := system.eliminateActions(t.Context(), opts, true); err != nil {
		t.Fatal(err)
	}
	const optimal, suboptimal = 0, 1 // the choices of start
	if !system.choices.Has(optimal) || system.choices.Has(suboptimal) {
		t.Errorf("choices of start: optimal %t, suboptimal %t; want true, false", system.choices.Has(optimal), system.choices.Has(suboptimal))
	}
	if !system.maybe.Has(start) || system.maybe.Has(detour) {
		t.Errorf("maybe states: start %t, detour %t; want true, false", system.maybe.Has(start), system.maybe.Has(detour))
	}
}
