package solve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
)

// rareTarget returns a random MDP or chain of n states, each of whose choices leads to the target with a probability of about 2^-18.
// Its states form a ring of periods if periodic is set. If apart is set, the first half of the states never reaches the second one.
func rareTarget(t testing.TB, rng *rand.Rand, kind sparse.Kind, n int, periodic, apart bool) (*sparse.Graph, *sparse.Set, *sparse.Reward) {
	t.Helper()
	b := sparse.NewBuilder(kind)
	reward := &sparse.Reward{State: make([]float64, n+1)}
	for s := range n {
		b.State()
		for range 1 + rng.IntN(3)*int(kind) {
			if kind == sparse.MDP {
				b.Choice(0)
			}
			next := func() int {
				x := rng.IntN(n)
				if periodic {
					x = (x/3*3 + (s+1)%3) % (n / 3 * 3)
				}
				if apart && s < n/2 {
					x %= n / 2
				}
				return x
			}
			leak := float64(1+rng.IntN(8)) * 0x1p-20
			if apart {
				leak = 0x1p-18
			}
			b.Add(next(), 0.25)
			b.Add(next(), 0.25)
			b.Add(next(), 0.5-leak)
			b.Add(n, leak)
		}
		reward.State[s] = float64(rng.IntN(16)) / 4
	}
	b.State()
	if kind == sparse.MDP {
		b.Choice(0)
	}
	b.Add(n, 1)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	target := sparse.NewSet(n + 1)
	target.Add(n)
	return sparse.NewGraph(m), target, reward
}

// Extrapolated bounds contain the values of 400 bits, and save steps.
func TestStepExtrapolation(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	rng := rand.New(rand.NewPCG(39, 41))
	extrapolated := map[string]int{}
	numModels := needs.Some(20)
	for number := range numModels {
		i := 5 * number % 16 // so that the first models differ in several ways
		kind, dir := sparse.Kind(i%2), Direction(i/2%2)
		graph, target, reward := rareTarget(t, rng, kind, 6+rng.IntN(3), i/4%2 == 1, i/8%2 == 1)
		k := 16_000 + rng.IntN(2000)
		for name, c := range map[string]struct {
			reward, last *sparse.Reward
			want         []*big.Float
		}{
			"F<=k": {nil, nil, afterSteps(graph, target, nil, dir == Min, k)},
			"C<=k": {reward, nil, afterSteps(graph, nil, reward, dir == Min, k)},
			"I=k":  {nil, reward, instantAfter(graph, reward, dir == Min, k)},
		} {
			sys, err := newStepwise(graph, c.reward, dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			maybe := sparse.FullSet(graph.NumStates())
			switch name {
			case "F<=k":
				maybe = maybe.Minus(target)
				sys.isProbability = true
				sys.values.setAll(target, 1)
			case "I=k":
				sys.setStateRewards(c.last)
			}
			var states []uint32
			for s := range maybe.All() {
				states = append(states, uint32(s))
			}
			meter := newMeter(t.Context(), Options{}, k)
			extrapolation := sys.newStepExtrapolation(Options{}, states, k)
			err = sys.values.applySteps(meter, k, func(done int, lower, upper []float64) (bool, error) {
				remaining, ok, err := extrapolation.tryToExtrapolate(done, meter)
				if err != nil {
					return true, err
				}
				if ok {
					extrapolated[name]++
					return true, sys.takeSteps(states, remaining, meter)
				}
				_, err = sys.stepInBlocks(states, lower, upper, nil, meter)
				return false, err
			})
			if err != nil {
				t.Fatal(err)
			}
			for s, want := range c.want {
				lower, upper := sys.values.Lower[s], sys.values.Upper[s]
				wide := upper-lower > 1e-8*upper && upper > 1e-250 // smaller values may have underflowed on the way
				if want.Cmp(big.NewFloat(lower)) < 0 || want.Cmp(big.NewFloat(upper)) > 0 || wide {
					t.Errorf("model %d (%v, direction %v), %s, state %d: [%v, %v] is wide or does not contain %.20g", i, kind, dir, name, s, lower, upper, want)
				}
			}
		}
	}
	for _, name := range []string{"F<=k", "C<=k", "I=k"} {
		if extrapolated[name] < numModels/2 {
			t.Errorf("%s: extrapolated in %d of %d models", name, extrapolated[name], numModels)
		}
	}
}

// instantAfter returns the expected rewards after k steps, with 400 bits.
func instantAfter(graph *sparse.Graph, reward *sparse.Reward, min bool, k int) []*big.Float {
	x := make([]*big.Float, graph.NumStates())
	for s := range x {
		x[s] = with400Bits(reward.State[s])
	}
	return applyEquations(graph, x, sparse.NewSet(len(x)), nil, min, k)
}

// BenchmarkStepExtrapolation takes 10^6 steps of models that mix fast and are left with a probability of about 2^-18 a step.
func BenchmarkStepExtrapolation(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		graph, target, reward := rareTarget(b, rand.New(rand.NewPCG(1, 1)), sparse.MDP, n, false, false)
		for _, dir := range []Direction{Min, Max} {
			b.Run(fmt.Sprint("F<=k/", n, "/", dir), func(b *testing.B) {
				for b.Loop() {
					if _, err := BoundedUntil(b.Context(), graph, sparse.FullSet(n+1), target, StepBound{High: 1_000_000}, dir, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprint("C<=k/", n, "/", dir), func(b *testing.B) {
				for b.Loop() {
					if _, err := CumulReward(b.Context(), graph, reward, 1_000_000, dir, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprint("I=k/", n, "/", dir), func(b *testing.B) {
				for b.Loop() {
					if _, err := InstantReward(b.Context(), graph, reward, 1_000_000, dir, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
