package sparse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// TestTopological: there is an order exactly if no component has two states, and
// no transition contradicts it.
func TestTopological(t *testing.T) {
	orders := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		m := sparsetest.Random(rng, sparsetest.Shape{Kind: sparse.Kind(seed % 3), States: 7, Choices: 2, Branching: 2, Forward: 0.8})
		part := sparsetest.RandomSet(rng, m.NumStates(), 0.7)
		comps := m.Components(part, nil)
		order, ok := m.Topological(part)
		if want := comps.Num() == part.Count(); ok != want {
			t.Fatalf("seed %d: %v, want %v", seed, ok, want)
		}
		if !ok {
			continue
		}
		orders++
		if got := slices.Sorted(slices.Values(order.Order)); !slices.EqualFunc(got, slices.Collect(part.All()), func(a uint32, b int) bool { return int(a) == b }) {
			t.Fatalf("seed %d: order %v of %v", seed, order, part)
		}
		level := map[uint32]int{}
		for i := range len(order.Start) - 1 {
			for _, s := range order.Order[order.Start[i]:order.Start[i+1]] {
				level[s] = i
			}
		}
		if len(level) != len(order.Order) {
			t.Fatalf("seed %d: levels %v", seed, order)
		}
		for s := range part.All() {
			first, end := m.Choices(s)
			for _, to := range m.Target[m.FirstTransition[first]:m.FirstTransition[end]] {
				if int(to) != s && part.Has(int(to)) && level[to] >= level[uint32(s)] {
					t.Fatalf("seed %d: %v, transition from %d to %d", seed, order, s, to)
				}
			}
		}
	}
	if orders < 200 {
		t.Errorf("only %d orders", orders)
	}
}
