package solve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
)

// randomSteps returns a random DTMC or MDP of n states, its set of targets, and a reward for each state. Weights are multiples of 1/16.
func randomSteps(t *testing.T, rng *rand.Rand, kind sparse.Kind, n int) (*sparse.Graph, *sparse.Set, *sparse.Reward) {
	t.Helper()
	b := sparse.NewBuilder(kind)
	for range n {
		b.State()
		for range 1 + rng.IntN(2)*int(kind) {
			if kind == sparse.MDP {
				b.Choice(0)
			}
			rest := 16
			for range 2 {
				if k := rng.IntN(rest); k > 0 {
					b.Add(rng.IntN(n), float64(k)/16)
					rest -= k
				}
			}
			b.Add(rng.IntN(n), float64(rest)/16)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	target, reward := sparse.NewSet(n), &sparse.Reward{State: make([]float64, n)}
	target.Add(rng.IntN(n))
	for s := range n {
		reward.State[s] = float64(rng.IntN(4))
	}
	return sparse.NewGraph(model), target, reward
}

// with400Bits returns a number with 400 bits.
func with400Bits(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

// afterSteps returns the values of k steps, with 400 bits: the rewards on the way, or the probability of the target if reward is nil.
func afterSteps(graph *sparse.Graph, target *sparse.Set, reward *sparse.Reward, min bool, k int) []*big.Float {
	x := make([]*big.Float, graph.NumStates())
	for s := range x {
		x[s] = with400Bits(0)
		if reward == nil && target.Has(s) {
			x[s] = with400Bits(1)
		}
	}
	if reward != nil {
		target = sparse.NewSet(len(x))
	}
	return applyEquations(graph, x, target, reward, min, k)
}

// applyEquations applies the equations of one step k times to x, with 400 bits. The values of fixed states stay; reward may be nil.
func applyEquations(graph *sparse.Graph, x []*big.Float, fixed *sparse.Set, reward *sparse.Reward, min bool, k int) []*big.Float {
	for range k {
		next := make([]*big.Float, len(x))
		for s := range x {
			if fixed.Has(s) {
				next[s] = x[s]
				continue
			}
			first, end := graph.Choices(s)
			for c := first; c < end; c++ {
				sum := with400Bits(0)
				if reward != nil {
					sum = with400Bits(reward.State[s])
				}
				lo, hi := graph.Transitions(c)
				for i := lo; i < hi; i++ {
					sum.Add(sum, with400Bits(0).Mul(with400Bits(graph.Prob(i)), x[graph.Target[i]]))
				}
				if next[s] == nil || min == (sum.Cmp(next[s]) < 0) {
					next[s] = sum
				}
			}
		}
		x = next
	}
	return x
}

// Bounds after many steps contain the values of 400 bits, whether steps were skipped or not.
func TestStepLimits(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	rng := rand.New(rand.NewPCG(26, 11))
	const k = 12_000
	skipped := 0
	for i := range needs.OrFull(4, 12) {
		kind, dir := sparse.Kind(i%2), Direction(i/2%2)
		graph, target, reward := randomSteps(t, rng, kind, 3+rng.IntN(4))
		until, err := BoundedUntil(t.Context(), graph, sparse.FullSet(graph.NumStates()), target, StepBound{High: k}, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		cumulative, err := CumulReward(t.Context(), graph, reward, k, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			v    *Values
			want []*big.Float
		}{"F<=k": {until, afterSteps(graph, target, nil, dir == Min, k)}, "C<=k": {cumulative, afterSteps(graph, nil, reward, dir == Min, k)}} {
			for s, want := range c.want {
				if want.Cmp(big.NewFloat(c.v.Lower[s])) < 0 || want.Cmp(big.NewFloat(c.v.Upper[s])) > 0 {
					t.Errorf("model %d (%v, direction %v), %s, state %d: [%v, %v] does not contain %.20g", i, kind, dir, name, s, c.v.Lower[s], c.v.Upper[s], want)
				}
			}
		}
		skipped += skippedSteps(t, graph, reward, dir, k)
	}
	if skipped == 0 {
		t.Error("no steps were skipped in any model")
	}
}

// skippedSteps is 1 if steps of cumulative rewards are skipped.
func skippedSteps(t *testing.T, graph *sparse.Graph, reward *sparse.Reward, dir Direction, k int) int {
	t.Helper()
	sys, err := newStepwise(graph, reward, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sys.stepSkipper = sys.newStepSkipper(Options{})
	if err := sys.applyEquations(t.Context(), Options{}, sparse.FullSet(graph.NumStates()), k); err != nil {
		t.Fatal(err)
	}
	if sys.stepSkipper.lowerGrowth > 0 {
		return 1
	}
	return 0
}

// The steps of a ring that is too large for squaring are skipped once it was gone round, also if they end elsewhere.
func TestPeriodicSteps(t *testing.T) {
	const n, k = 600, 100_000_003
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		b.State()
		b.Add((s+1)%n, 1)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph, reward := sparse.NewGraph(model), &sparse.Reward{State: make([]float64, n)}
	reward.State[0], reward.State[7] = 1, 3
	total, err := CumulReward(t.Context(), graph, reward, k, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	instant, err := InstantReward(t.Context(), graph, reward, k, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for s := range n {
		visits := func(of int) float64 { return float64((k-1-(of-s+n)%n)/n + 1) } // of the first k states from s on
		for name, c := range map[string]struct {
			v    *Values
			want float64
		}{"C<=k": {total, visits(0) + 3*visits(7)}, "I=k": {instant, reward.State[(s+k)%n]}} {
			if lo, hi := c.v.Lower[s], c.v.Upper[s]; c.want < lo || c.want > hi || hi-lo > 1e-8*hi {
				t.Fatalf("%s, state %d: [%v, %v], want %v", name, s, lo, hi, c.want)
			}
		}
	}
}

// The bounds of random models of period two or four contain the values of 400 bits.
func TestPeriodicBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 13))
	const k = 3001
	skipped := 0
	for i := range 16 {
		kind, dir, period := sparse.Kind(i%2), Direction(i/2%2), 2+i/4%2*2
		n := period * (2 + rng.IntN(2))
		b := sparse.NewBuilder(kind)
		for s := range n {
			b.State()
			for range 1 + rng.IntN(2)*int(kind) {
				if kind == sparse.MDP {
					b.Choice(0)
				}
				next := func() int { return (s+1)%period + period*rng.IntN(n/period) }
				b.Add(next(), 0.25)
				b.Add(next(), 0.75)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		graph, reward := sparse.NewGraph(model), &sparse.Reward{State: make([]float64, n)}
		for s := range n {
			reward.State[s] = float64(rng.IntN(4))
		}
		values, err := CumulReward(t.Context(), graph, reward, k, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for s, want := range afterSteps(graph, nil, reward, dir == Min, k) {
			if want.Cmp(big.NewFloat(values.Lower[s])) < 0 || want.Cmp(big.NewFloat(values.Upper[s])) > 0 {
				t.Errorf("model %d (%v, direction %v, period %d), state %d: [%v, %v] does not contain %.20g", i, kind, dir, period, s, values.Lower[s], values.Upper[s], want)
			}
		}
		skipped += skippedSteps(t, graph, reward, dir, k)
	}
	if skipped == 0 {
		t.Error("no steps were skipped in any model")
	}
}

// A ring of 600 states, too large for squaring: long step bounds take a few sweeps.
func BenchmarkLongStepBounds(b *testing.B) {
	build := sparse.NewBuilder(sparse.MDP)
	const n = 600
	for s := range n {
		build.State()
		for d := range 2 {
			build.Choice(0)
			build.Add((s+1+d)%n, 0.5)
			build.Add((s*7+3)%n, 0.5)
		}
	}
	model, err := build.Finish()
	if err != nil {
		b.Fatal(err)
	}
	graph, target, reward := sparse.NewGraph(model), sparse.NewSet(n), &sparse.Reward{State: make([]float64, n)}
	target.Add(1)
	reward.State[1] = 1
	for _, k := range []int{10_000_000, 1_000_000_000} {
		b.Run(fmt.Sprint("F<=", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := BoundedUntil(b.Context(), graph, sparse.FullSet(n), target, StepBound{High: k}, Max, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("C<=", k), func(b *testing.B) {
			for b.Loop() {
				if _, err := CumulReward(b.Context(), graph, reward, k, Max, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
