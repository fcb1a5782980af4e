package solve

import (
	"cmp"
	"fmt"
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

// afterManySteps applies the equations of one step k times to x, in float64. In the states of minimized, the scheduler minimizes. In an interval model, nature
// orders the targets by their values, and gives each as much probability as it can. The values of fixed states stay; reward may be nil. No number is negative and no
// choice has more than four transitions, so the relative error is less than stepError*k.
func afterManySteps(graph *sparse.Graph, x []float64, fixed *sparse.Set, reward *sparse.Reward, minimized *sparse.Set, nature Direction, k int) []float64 {
	low, high := make([]float64, graph.NumTransitions()), make([]float64, graph.NumTransitions())
	for i := range low {
		low[i], high[i] = graph.Prob(i), graph.Prob(i)
		if graph.Intervals() {
			low[i], _ = graph.Fraction(i).Float64()
			high[i], _ = graph.HighFraction(i).Float64()
		}
	}
	order := make([]int, 4)
	for range k {
		next := make([]float64, len(x))
		for s := range x {
			if fixed.Has(s) {
				next[s] = x[s]
				continue
			}
			first, end := graph.Choices(s)
			for c := first; c < end; c++ {
				lo, hi := graph.Transitions(c)
				order = order[:0]
				sum, free := 0.0, 1.0
				for i := lo; i < hi; i++ {
					order = append(order, i)
					free -= low[i]
				}
				if graph.Intervals() {
					slices.SortFunc(order, func(i, j int) int {
						if nature == Min {
							i, j = j, i
						}
						return cmp.Compare(x[graph.Target[j]], x[graph.Target[i]])
					})
				}
				for _, i := range order {
					amount := min(free, high[i]-low[i])
					free -= amount
					sum += (low[i] + amount) * x[graph.Target[i]]
				}
				if reward != nil {
					sum += reward.State[s]
				}
				if c == first || minimized.Has(s) == (sum < next[s]) {
					next[s] = sum
				}
			}
		}
		x = next
	}
	return x
}

// stepError bounds the relative error of one step of afterManySteps: a product and four sums.
const stepError = 0x1p-50

// checkLongSteps checks that the bounds of k steps contain the values of afterManySteps and agree with those of single steps, and that they are as narrow as asked
// for. It reports whether they are not the bounds of single steps.
func checkLongSteps(t *testing.T, name string, compute func(Options) (*Values, error), oracle []float64, k int) (isFewer bool) {
	t.Helper()
	values, err := compute(Options{})
	if err != nil {
		t.Fatal(err)
	}
	single, err := compute(Options{Classic: true}) // takes every step
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range oracle {
		lower, upper := values.Lower[s], values.Upper[s]
		isWide := upper-lower > 1e-8*upper && upper > 1e-250 // smaller values may have underflowed on the way
		if isWide || lower > single.Upper[s] || upper < single.Lower[s] {
			t.Errorf("%s, state %d: [%v, %v], single steps give [%v, %v]", name, s, lower, upper, single.Lower[s], single.Upper[s])
		}
		if slack := want * stepError * float64(k); want+slack < lower || want-slack > upper {
			t.Errorf("%s, state %d: [%v, %v] does not contain %.20g", name, s, lower, upper, want)
		}
	}
	return !slices.Equal(values.Lower, single.Lower)
}

// indicatorOf is 1 for the members of a set, and 0 for other states.
func indicatorOf(n int, set *sparse.Set) []float64 {
	x := make([]float64, n)
	for s := range set.All() {
		x[s] = 1
	}
	return x
}

// Long step bounds of interval models contain the values of an oracle and agree with single steps, are as narrow as asked for, and are
// computed in fewer steps.
func TestLongIntervalSteps(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	fewer := map[string]int{}
	numModels := 0
	for number := range needs.Models(t, 100) {
		numModels++
		rng := rand.New(rand.NewPCG(number, 7))
		kind, dir, leak := sparse.Kind(number%2), Direction(number/2%4), 0x1p-18
		if number%3 == 0 {
			leak = 0
		}
		if kind == sparse.DTMC {
			dir %= 2
		}
		graph, target, reward := intervalSteps(t, rng, kind, 4+rng.IntN(2), leak)
		n, k := graph.NumStates(), 16_000+rng.IntN(2000)
		all, none, zeros, indicator := sparse.FullSet(n), sparse.NewSet(n), make([]float64, n), indicatorOf(n, target)
		minimized := none
		if dir.Scheduler() == Min {
			minimized = all
		}
		name := fmt.Sprintf("model %d (%v, direction %v, leak %v)", number, kind, dir, leak)
		for bound, c := range map[string]struct {
			compute func(Options) (*Values, error)
			oracle  []float64
		}{
			"C<=k": {
				func(opts Options) (*Values, error) { return CumulReward(t.Context(), graph, reward, k, dir, opts) },
				afterManySteps(graph, zeros, none, reward, minimized, dir.nature(), k),
			},
			"F<=k": {
				func(opts Options) (*Values, error) {
					return BoundedUntil(t.Context(), graph, all, target, StepBound{High: k}, dir, opts)
				},
				afterManySteps(graph, indicator, target, nil, minimized, dir.nature(), k),
			},
			"F[5,k]": {
				func(opts Options) (*Values, error) {
					return BoundedUntil(t.Context(), graph, all, target, StepBound{Low: 5, High: k}, dir, opts)
				},
				afterManySteps(graph, afterManySteps(graph, indicator, target, nil, minimized, dir.nature(), k-5), none, nil, minimized, dir.nature(), 5),
			},
		} {
			if checkLongSteps(t, name+", "+bound, c.compute, c.oracle, k) {
				fewer[bound]++
			}
		}
	}
	for _, bound := range []string{"C<=k", "F<=k", "F[5,k]"} {
		if fewer[bound] < numModels/2 {
			t.Errorf("%s: steps were skipped in %d of %d models", bound, fewer[bound], numModels)
		}
	}
}
