package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
)

// slowChain returns a chain of n states in a row, which is left at its end with a probability of about 1/n² a step. In a
// periodic one every step goes to a neighbour.
func slowChain(t *testing.T, rng *rand.Rand, n int, periodic bool) (*sparse.Graph, *sparse.Set, *sparse.Reward) {
	t.Helper()
	b := sparse.NewBuilder(sparse.DTMC)
	reward := &sparse.Reward{State: make([]float64, n+1)}
	for s := range n {
		b.State()
		stay := float64(rng.IntN(8)) / 16
		if periodic {
			stay = 0
		} else if stay > 0 {
			b.Add(s, stay)
		}
		right := (1 - stay) / 2
		b.Add(max(s-1, 1-s), 1-stay-right)
		b.Add(s+1, right)
		reward.State[s] = float64(rng.IntN(3)) / 4
	}
	b.State()
	b.Add(n, 1)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	target := sparse.NewSet(n + 1)
	target.Add(n)
	return sparse.NewGraph(m), target, reward
}

// Bounds of geometric series contain the values of 400 bits, and save steps.
func TestGeometricSteps(t *testing.T) {
	needs.Full(t)
	rng := rand.New(rand.NewPCG(39, 34))
	for i := range 4 + needs.Some(20) {
		g, target, reward := randomSteps(t, rng, sparse.DTMC, 3+rng.IntN(4))
		slow := i < 2
		if slow {
			g, target, reward = slowChain(t, rng, 8+rng.IntN(8), i%2 == 1)
		}
		k := 70_000 + rng.IntN(1000)
		for name, c := range map[string]struct {
			reward *sparse.Reward
			want   []*big.Float
		}{"F<=k": {nil, afterSteps(g, target, nil, true, k)}, "C<=k": {reward, afterSteps(g, nil, reward, true, k)}} {
			sys, err := newStepwise(g, c.reward, Min, Options{})
			if err != nil {
				t.Fatal(err)
			}
			open := sparse.FullSet(g.NumStates())
			if c.reward == nil {
				open = open.Minus(target)
				sys.isProbability = true
				sys.values.setAll(target, 1)
			}
			var states []uint32
			for s := range open.All() {
				states = append(states, uint32(s))
			}
			if !sys.allowsGeometricSteps(Options{}, states, k) {
				t.Fatal("geometric steps are not used")
			}
			steps := sys.newGeometricSteps(Options{}, states, k)
			if err := steps.run(newMeter(t.Context(), Options{}, k)); err != nil {
				t.Fatal(err)
			}
			if slow && steps.current.count > k/4 {
				t.Errorf("model %d, %s: took %d of %d steps", i, name, steps.current.count, k)
			}
			for _, s := range states {
				lower, upper := sys.values.Lower[s], sys.values.Upper[s]
				if c.want[s].Cmp(big.NewFloat(lower)) < 0 || c.want[s].Cmp(big.NewFloat(upper)) > 0 || upper-lower > 1e-6*upper {
					t.Errorf("model %d, %s, state %d: [%v, %v] is wide or does not contain %.20g", i, name, s, lower, upper, c.want[s])
				}
			}
		}
	}
}

// BenchmarkGeometricSteps takes 10^6 steps of a chain of 1,000 states that mixes fast and is left with probability 2^-20 a step.
func BenchmarkGeometricSteps(b *testing.B) {
	const n = 1000
	rng := rand.New(rand.NewPCG(1, 1))
	builder := sparse.NewBuilder(sparse.DTMC)
	for range n {
		builder.State()
		builder.Add(rng.IntN(n), 0.5)
		builder.Add(rng.IntN(n), 0.5-0x1p-20)
		builder.Add(n, 0x1p-20)
	}
	builder.State()
	builder.Add(n, 1)
	m, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	target := sparse.NewSet(n + 1)
	target.Add(n)
	for b.Loop() {
		if _, err := BoundedUntil(b.Context(), sparse.NewGraph(m), sparse.FullSet(n+1), target, StepBound{High: 1_000_000}, Max, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
