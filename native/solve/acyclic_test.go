package solve_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// acyclicModel has transitions to smaller states and self-loops only, and many states whose value is
// zero or one.
func acyclicModel(rng *rand.Rand, kind sparse.Kind, states int) *sparse.Model {
	b := sparse.NewBuilder(kind)
	for s := range states {
		b.State()
		choices := 1
		if kind == sparse.MDP {
			choices = 1 + rng.IntN(3)
		}
		for range choices {
			if kind == sparse.MDP {
				b.Choice(sparse.NoAction)
			}
			targets := map[int]bool{}
			for range 1 + rng.IntN(3) {
				targets[max(0, s-rng.IntN(min(states, 30)))] = true
			}
			left := int64(12)
			for t := range s + 1 {
				if !targets[t] {
					continue
				}
				delete(targets, t)
				part := 1 + rng.Int64N(3)
				if len(targets) == 0 {
					part = left
				}
				left -= part
				b.AddRat(t, big.NewRat(part, 12), sparse.NoAction)
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return model
}

// TestAcyclic compares the values with exact ones, and the states with value zero or one with the graph
// algorithms. The largest models are solved on several processors.
func TestAcyclic(t *testing.T) {
	for seed := range needs.Some(uint64(300)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		states := 1 + rng.IntN(40)
		if seed%100 == 29 {
			states = 6000
		}
		model := acyclicModel(rng, sparse.Kind(seed%3), states)
		graph := sparse.NewGraph(model)
		left, right := sparsetest.RandomSet(rng, states, 0.9), sparsetest.RandomSet(rng, states, 0.15)
		if _, ok := model.Topological(left.Minus(right)); !ok {
			t.Fatalf("seed %d: no order", seed)
		}
		for _, dir := range []solve.Direction{solve.Min, solve.Max} {
			values, err := solve.Until(t.Context(), graph, left, right, dir, solve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			zero, one := graph.Prob0E(left, right), graph.Prob1A(left, right)
			if dir == solve.Max {
				zero = graph.Prob0A(left, right)
				if one, err = graph.Prob1E(t.Context(), left, right); err != nil {
					t.Fatal(err)
				}
			}
			for s := range states {
				if isZero := values.Upper[s] == 0; isZero != zero.Has(s) {
					t.Errorf("seed %d, %v, state %d: [%v, %v], zero %v", seed, dir, s, values.Lower[s], values.Upper[s], zero.Has(s))
				}
				if isOne := values.Lower[s] == 1; isOne != one.Has(s) {
					t.Errorf("seed %d, %v, state %d: [%v, %v], one %v", seed, dir, s, values.Lower[s], values.Upper[s], one.Has(s))
				}
			}
			if states < 100 {
				withinBounds(t, graph, left, right, dir, values)
			}
		}
	}
}

func withinBounds(t *testing.T, graph *sparse.Graph, left, right *sparse.Set, dir solve.Direction, values *solve.Values) {
	t.Helper()
	x, err := solve.Until(t.Context(), graph, left, right, dir, solve.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range x.Exact {
		lo, hi := new(big.Rat).SetFloat64(values.Lower[s]), new(big.Rat).SetFloat64(values.Upper[s])
		if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 || values.Upper[s]-values.Lower[s] > 1e-12 {
			t.Errorf("%v, state %d: [%v, %v], want %s", dir, s, values.Lower[s], values.Upper[s], want.RatString())
		}
	}
}

// TestRepeatedLoops has a state with a choice whose two transitions both lead back to it, as in a model that is reduced by symmetry. A
// scheduler that minimises stays there; one that maximises takes the other choice.
func TestRepeatedLoops(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	b.State()
	b.Choice(sparse.NoAction)
	b.AddRat(0, big.NewRat(1, 4), sparse.NoAction)
	b.AddRat(0, big.NewRat(3, 4), sparse.NoAction)
	b.Choice(sparse.NoAction)
	b.AddRat(1, big.NewRat(1, 1), sparse.NoAction)
	b.State()
	b.Choice(sparse.NoAction)
	b.AddRat(1, big.NewRat(1, 1), sparse.NoAction)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	all, goal := sparse.FullSet(2), sparse.SetOf(2, 1)
	for dir, want := range map[solve.Direction]float64{solve.Min: 0, solve.Max: 1} {
		values, err := solve.Until(t.Context(), sparse.NewGraph(model), all, goal, dir, solve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if values.Lower[0] != want || values.Upper[0] != want {
			t.Errorf("direction %v: [%v, %v], want %v", dir, values.Lower[0], values.Upper[0], want)
		}
	}
}
