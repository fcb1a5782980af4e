package solve_test

import (
	"math/big"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// TestExactEliminatesActions checks that a state is not solved which only a suboptimal choice reaches, although it is in the component of the wanted state.
func TestExactEliminatesActions(t *testing.T) {
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
	all, goals := sparse.FullSet(numStates), sparse.SetOf(numStates, goal)
	values, err := solve.Until(t.Context(), sparse.NewGraph(model), all, goals, solve.Max, solve.Options{Exact: true, Within: sparse.SetOf(numStates, start)})
	if err != nil {
		t.Fatal(err)
	}
	if got := values.Exact[start]; !equal(got, twoThirds) {
		t.Errorf("value of the wanted state %s, want 2/3", text(got))
	}
	if got := values.Exact[detour]; got.Sign() != 0 {
		t.Errorf("the state behind the suboptimal choice was solved: %s", text(got))
	}
}
