// Package sparsetest makes small random models for tests, and solves them by
// enumerating all memoryless schedulers.
package sparsetest

import (
	"iter"
	"math/big"
	"math/rand/v2"

	"tilecheck/native/space/sparse"
)

// Shape describes random models.
type Shape struct {
	Kind      sparse.Kind
	States    int // at most
	Choices   int // at most, per state of an MDP
	Branching int // at most, transitions per choice
	// Forward is the probability that all transitions of a state lead to greater states, so that some
	// models are partly acyclic.
	Forward float64
	// Denominator bounds the denominators of the probabilities; 0 stands for 10.
	Denominator int
	Rewards     bool // adds one structure with small rewards, about half of them zero
}

// Random returns a random exact model, which depends on the stream only.
func Random(rng *rand.Rand, sh Shape) *sparse.Model {
	n := 1 + rng.IntN(sh.States)
	b := sparse.NewBuilder(sh.Kind)
	for s := range n {
		b.State()
		if sh.Kind != sparse.MDP {
			row(rng, b, sh, s, n)
			continue
		}
		for range 1 + rng.IntN(sh.Choices) {
			b.Choice(sparse.Action(rng.IntN(3)))
			row(rng, b, sh, s, n)
		}
	}
	m, err := b.Finish()
	if err != nil {
		panic(err)
	}
	m.Initial = []uint32{0}
	if sh.Rewards {
		m.Rewards = []sparse.Reward{reward(rng, m)}
	}
	return m
}

func row(rng *rand.Rand, b *sparse.Builder, sh Shape, s, n int) {
	forward := rng.Float64() < sh.Forward
	var targets []int
	seen := map[int]bool{}
	for range 1 + rng.IntN(sh.Branching) {
		t := rng.IntN(n)
		if forward && s+1 < n {
			t = s + 1 + rng.IntN(n-s-1)
		}
		if !seen[t] {
			seen[t] = true
			targets = append(targets, t)
		}
	}
	d := sh.Denominator
	if d == 0 {
		d = 10
	}
	parts := make([]int64, len(targets))
	sum := int64(0)
	for i := range parts {
		parts[i] = 1 + rng.Int64N(int64(d))
		sum += parts[i]
	}
	if sh.Kind == sparse.CTMC {
		sum = 1 + rng.Int64N(4)
	}
	for i, t := range targets {
		b.AddRat(t, big.NewRat(parts[i], sum), sparse.NoAction)
	}
}

func reward(rng *rand.Rand, m *sparse.Model) sparse.Reward {
	draw := func(n int) ([]float64, []*big.Rat) {
		f, r := make([]float64, n), make([]*big.Rat, n)
		for i := range f {
			if rng.IntN(2) == 0 {
				r[i] = big.NewRat(1+rng.Int64N(20), 1+rng.Int64N(4))
				f[i], _ = r[i].Float64()
			}
		}
		return f, r
	}
	out := sparse.Reward{Name: "r"}
	if rng.IntN(4) > 0 {
		out.State, out.StateRat = draw(m.NumStates())
	}
	if rng.IntN(4) > 0 {
		out.Choice, out.ChoiceRat = draw(m.NumChoices())
	}
	return out
}

// RandomSet returns a random subset of 0..n-1 that contains each number with probability p.
func RandomSet(rng *rand.Rand, n int, p float64) *sparse.Set {
	s := sparse.NewSet(n)
	for i := range n {
		if rng.Float64() < p {
			s.Add(i)
		}
	}
	return s
}

// Schedulers yields every memoryless deterministic scheduler of m as the choice of each state. The
// slice is reused.
func Schedulers(m *sparse.Model) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		n := m.NumStates()
		scheduler := make([]uint32, n)
		for s := range n {
			first, _ := m.Choices(s)
			scheduler[s] = uint32(first)
		}
		for {
			if !yield(scheduler) {
				return
			}
			s := 0
			for ; s < n; s++ {
				first, end := m.Choices(s)
				if scheduler[s]++; int(scheduler[s]) < end {
					break
				}
				scheduler[s] = uint32(first)
			}
			if s == n {
				return
			}
		}
	}
}

// NumSchedulers returns the number of these schedulers, at most limit.
func NumSchedulers(m *sparse.Model, limit int) int {
	count := 1
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		if count *= end - first; count >= limit {
			return limit
		}
	}
	return count
}

// Matrix returns the dense matrix of the exact weights under a scheduler.
func Matrix(m *sparse.Model, scheduler []uint32) [][]*big.Rat {
	n := m.NumStates()
	a := make([][]*big.Rat, n)
	for s := range n {
		a[s] = make([]*big.Rat, n)
		for t := range n {
			a[s][t] = new(big.Rat)
		}
		lo, hi := m.Row(int(scheduler[s]))
		for i := lo; i < hi; i++ {
			t := m.Target[i]
			a[s][t].Add(a[s][t], m.Rat(i))
		}
	}
	return a
}

// Reach returns, for each pair of states, whether the second is reachable from the first in any number
// of steps, leaving only states of via.
func Reach(a [][]*big.Rat, via *sparse.Set) [][]bool {
	n := len(a)
	r := make([][]bool, n)
	for s := range n {
		r[s] = make([]bool, n)
		for t := range n {
			r[s][t] = s == t || via.Has(s) && a[s][t].Sign() > 0
		}
	}
	for k := range n {
		for s := range n {
			for t := range n {
				r[s][t] = r[s][t] || r[s][k] && r[k][t]
			}
		}
	}
	return r
}
