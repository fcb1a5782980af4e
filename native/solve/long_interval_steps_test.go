package solve

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
)

// intervalSteps returns a random interval DTMC or MDP of n states and a target, and a reward for each state. The target is absorbing.
// Each choice leads to it with a probability of about leak. All ends of intervals are float64 numbers.
func intervalSteps(t *testing.T, rng *rand.Rand, kind sparse.Kind, n int, leak float64) (*sparse.Graph, *sparse.Set, *sparse.Reward) {
	t.Helper()
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	b := sparse.NewBuilder(kind)
	reward := &sparse.Reward{State: make([]float64, n+1), StateFractions: make([]*big.Rat, n+1)}
	for s := range n {
		b.State()
		for range 1 + rng.IntN(3)*int(kind) {
			if kind == sparse.MDP {
				b.Choice(sparse.NoAction)
			}
			targets := rng.Perm(n)[:3]
			for i, target := range targets {
				low := float64(1+rng.IntN(4)) / 16
				if i == 0 {
					low = 0.25
				}
				b.AddInterval(target, rat(low), rat(low+0.25+float64(rng.IntN(3))/16), sparse.NoAction)
			}
			if leak > 0 {
				b.AddInterval(n, rat(leak), rat(leak*float64(1+rng.IntN(3))), sparse.NoAction)
			}
		}
		reward.State[s] = float64(rng.IntN(16)) / 4
		reward.StateFractions[s] = rat(reward.State[s])
	}
	b.State()
	if kind == sparse.MDP {
		b.Choice(sparse.NoAction)
	}
	b.AddInterval(n, rat(1), rat(1), sparse.NoAction)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.NewGraph(m), sparse.SetOf(n+1, n), reward
}

// afterIntervalSteps applies the equations of one step of an interval model k times to x, with 400 bits: nature orders the targets by their
// values, and gives each as much probability as it can. The values of fixed states stay; reward may be nil.
func afterIntervalSteps(graph *sparse.Graph, x []*big.Float, fixed *sparse.Set, reward *sparse.Reward, dir Direction, k int) []*big.Float {
	least := dir.Scheduler() == Min
	ends := make([][2]*big.Float, graph.NumTransitions())
	for i := range ends {
		ends[i] = [2]*big.Float{with400Bits(0).SetRat(graph.Fraction(i)), with400Bits(0).SetRat(graph.HighFraction(i))}
	}
	for range k {
		next := make([]*big.Float, len(x))
		for s := range x {
			if fixed.Has(s) {
				next[s] = x[s]
				continue
			}
			first, end := graph.Choices(s)
			for c := first; c < end; c++ {
				sum, free := with400Bits(0), with400Bits(1)
				if reward != nil {
					sum = with400Bits(reward.State[s])
				}
				lo, hi := graph.Transitions(c)
				var order []int
				for i := lo; i < hi; i++ {
					order = append(order, i)
					free.Sub(free, ends[i][0])
				}
				slices.SortFunc(order, func(i, j int) int {
					if dir.nature() == Min {
						return x[graph.Target[i]].Cmp(x[graph.Target[j]])
					}
					return x[graph.Target[j]].Cmp(x[graph.Target[i]])
				})
				for _, i := range order {
					amount := with400Bits(0).Sub(ends[i][1], ends[i][0])
					if amount.Cmp(free) > 0 {
						amount.Set(free)
					}
					free.Sub(free, amount)
					sum.Add(sum, amount.Mul(amount.Add(amount, ends[i][0]), x[graph.Target[i]]))
				}
				if next[s] == nil || least == (sum.Cmp(next[s]) < 0) {
					next[s] = sum
				}
			}
		}
		x = next
	}
	return x
}

// Long step bounds of interval models contain the values of 400 bits and agree with single steps, are as narrow as asked for, and are
// computed in fewer steps.
func TestLongIntervalSteps(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	rng := rand.New(rand.NewPCG(39, 7))
	fewer := map[string]int{}
	numModels := needs.Some(80)
	for number := range numModels {
		kind, dir, leak := sparse.Kind(number%2), Direction(number/2%4), 0x1p-18
		if number%3 == 0 {
			leak = 0
		}
		if kind == sparse.DTMC {
			dir %= 2
		}
		graph, target, reward := intervalSteps(t, rng, kind, 4+rng.IntN(2), leak)
		n, k := graph.NumStates(), 16_000+rng.IntN(2000)
		all, none := sparse.FullSet(n), sparse.NewSet(n)
		zeros, indicator := make([]*big.Float, n), make([]*big.Float, n)
		for s := range zeros {
			zeros[s], indicator[s] = with400Bits(0), with400Bits(0)
		}
		indicator[n-1] = with400Bits(1)
		for name, c := range map[string]struct {
			compute func(Options) (*Values, error)
			oracle  func() []*big.Float
		}{
			"C<=k": {
				func(opts Options) (*Values, error) { return CumulReward(t.Context(), graph, reward, k, dir, opts) },
				func() []*big.Float { return afterIntervalSteps(graph, zeros, none, reward, dir, k) },
			},
			"F<=k": {
				func(opts Options) (*Values, error) {
					return BoundedUntil(t.Context(), graph, all, target, StepBound{High: k}, dir, opts)
				},
				func() []*big.Float { return afterIntervalSteps(graph, indicator, target, nil, dir, k) },
			},
			"F[5,k]": {
				func(opts Options) (*Values, error) {
					return BoundedUntil(t.Context(), graph, all, target, StepBound{Low: 5, High: k}, dir, opts)
				},
				func() []*big.Float {
					after := afterIntervalSteps(graph, indicator, target, nil, dir, k-5)
					return afterIntervalSteps(graph, after, none, nil, dir, 5)
				},
			},
		} {
			values, err := c.compute(Options{})
			if err != nil {
				t.Fatal(err)
			}
			single, err := c.compute(Options{Classic: true}) // takes every step
			if err != nil {
				t.Fatal(err)
			}
			for s, lower := range values.Lower {
				upper := values.Upper[s]
				isWide := upper-lower > 1e-8*upper && upper > 1e-250 // smaller values may have underflowed on the way
				if isWide || lower > single.Upper[s] || upper < single.Lower[s] {
					t.Errorf("model %d (%v, direction %v, leak %v), %s, state %d: [%v, %v], single steps give [%v, %v]", number, kind, dir, leak, name, s, lower, upper, single.Lower[s], single.Upper[s])
				}
			}
			if number%8 == 3 {
				for s, want := range c.oracle() {
					if want.Cmp(big.NewFloat(values.Lower[s])) < 0 || want.Cmp(big.NewFloat(values.Upper[s])) > 0 {
						t.Errorf("model %d (%v, direction %v, leak %v), %s, state %d: [%v, %v] does not contain %.20g", number, kind, dir, leak, name, s, values.Lower[s], values.Upper[s], want)
					}
				}
			}
			if !slices.Equal(values.Lower, single.Lower) {
				fewer[name]++
			}
		}
	}
	for _, name := range []string{"C<=k", "F<=k", "F[5,k]"} {
		if fewer[name] < numModels/2 {
			t.Errorf("%s: steps were skipped in %d of %d models", name, fewer[name], numModels)
		}
	}
}
