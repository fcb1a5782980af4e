package solve_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// spending is a random MDP whose free steps lead to states of smaller numbers, or back to
// where they start.
func spending(t *testing.T, rng *rand.Rand) (model *sparse.Model, cost []int) {
	t.Helper()
	n := 2 + rng.IntN(6)
	b := sparse.NewBuilder(sparse.MDP)
	for s := range n {
		b.State()
		for range 1 + rng.IntN(3) {
			b.Choice(0)
			k, among := rng.IntN(4), n
			if k == 0 {
				among = s + 1
			}
			x, y := rng.IntN(among), rng.IntN(among)
			if x == y {
				b.Add(x, 1)
			} else {
				b.Add(x, 0.25)
				b.Add(y, 0.75)
			}
			cost = append(cost, k)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return model, cost
}

// spent is the probability by its recursion, in fractions.
func spent(model *sparse.Model, cost []int, left, right *sparse.Set, least bool, s, budget int) *big.Rat {
	switch {
	case right.Has(s):
		return big.NewRat(1, 1)
	case !left.Has(s):
		return new(big.Rat)
	}
	var best *big.Rat
	first, end := model.Choices(s)
	for c := first; c < end; c++ {
		x, leaves := new(big.Rat), new(big.Rat)
		lo, hi := model.Transitions(c)
		for i := lo; i < hi && cost[c] <= budget; i++ {
			p, t := new(big.Rat).SetFloat64(model.Prob(i)), int(model.Target[i])
			if t == s && cost[c] == 0 {
				continue
			}
			leaves.Add(leaves, p)
			x.Add(x, p.Mul(p, spent(model, cost, left, right, least, t, budget-cost[c])))
		}
		if leaves.Sign() > 0 {
			x.Quo(x, leaves)
		}
		if best == nil || least == (x.Cmp(best) < 0) {
			best = x
		}
	}
	return best
}

func TestBudgetUntil(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range needs.Some(400) {
		model, cost := spending(t, rng)
		n := model.NumStates()
		left, right := sparse.NewSet(n), sparse.SetOf(n, rng.IntN(n))
		for s := range n {
			if rng.IntN(5) > 0 {
				left.Add(s)
			}
		}
		for _, dir := range []solve.Direction{solve.Min, solve.Max} {
			budget := rng.IntN(7)
			values, ok, err := solve.BudgetUntil(t.Context(), sparse.NewGraph(model), left, right, solve.Budget{Costs: cost, Limit: budget}, dir, solve.Options{})
			if err != nil || !ok {
				t.Fatalf("model %d: %v, error %v", i, ok, err)
			}
			model.Fractions = nil
			for _, w := range model.Weights {
				model.Fractions = append(model.Fractions, new(big.Rat).SetFloat64(w))
			}
			x, ok, err := solve.BudgetUntil(t.Context(), sparse.NewGraph(model), left, right, solve.Budget{Costs: cost, Limit: budget}, dir, solve.Options{Exact: true})
			if err != nil || !ok {
				t.Fatalf("model %d: %v, error %v", i, ok, err)
			}
			for s := range n {
				want := spent(model, cost, left, right, dir == solve.Min, s, budget)
				lo, hi := new(big.Rat).SetFloat64(values.Lower[s]), new(big.Rat).SetFloat64(values.Upper[s])
				if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 || values.Upper[s]-values.Lower[s] > 1e-12 {
					t.Errorf("model %d, state %d, %v, budget %d: found [%v, %v], want %s", i, s, dir, budget, values.Lower[s], values.Upper[s], want.FloatString(12))
				}
				if x.Exact[s].Cmp(want) != 0 {
					t.Errorf("model %d, state %d, %v, budget %d: found %s, want %s", i, s, dir, budget, x.Exact[s].RatString(), want.RatString())
				}
			}
		}
	}
}

// Nothing more is spent after some time, and what is left of a large budget is worth nothing:
// it is not counted.
func TestLargeBudget(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	b.State()
	b.Choice(0)
	b.Add(0, 0.5)
	b.Add(1, 0.5)
	b.State()
	b.Choice(0)
	b.Add(1, 1)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	left, right := sparse.FullSet(2), sparse.SetOf(2, 1)
	values, ok, err := solve.BudgetUntil(t.Context(), sparse.NewGraph(model), left, right, solve.Budget{Costs: []int{3, 0}, Limit: 1 << 30}, solve.Max, solve.Options{})
	if err != nil || !ok || !(values.Lower[0] > 1-1e-12) || values.Upper[0] != 1 {
		t.Errorf("found %v, %v, error %v; want 1", values, ok, err)
	}
}

// What costs nothing goes round in circles: that is left to others.
func TestBudgetCycle(t *testing.T) {
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 3 {
		b.State()
		b.Add((s+1)%2, 0.5)
		b.Add(2, 0.5)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	values, ok, err := solve.BudgetUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(3), sparse.SetOf(3, 2), solve.Budget{Costs: make([]int, 3), Limit: 4}, solve.Max, solve.Options{})
	if values != nil || ok || err != nil {
		t.Errorf("found %v, %v, error %v; want none", values, ok, err)
	}
}
