package solve_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

var shapes = []sparsetest.Shape{
	{States: 4, Choices: 3, Branching: 2, Rewards: true},
	{States: 6, Choices: 2, Branching: 3, Forward: 0.5, Rewards: true},
	{States: 7, Choices: 2, Branching: 1, Rewards: true},
	{States: 5, Choices: 2, Branching: 3, Denominator: 1000, Rewards: true},
	{States: 3, Choices: 4, Branching: 2, Rewards: true},
}

// instance is a random model with what the brute-force oracle needs.
type instance struct {
	*testing.T
	seed        uint64
	m           *sparse.Model
	g           *sparse.Graph
	left, right *sparse.Set
}

// forRandom calls check with random models of one kind.
func forRandom(t *testing.T, kind sparse.Kind, check func(in *instance)) {
	t.Helper()
	for seed := range needs.Models(t, 1500) {
		rng := rand.New(rand.NewPCG(seed, uint64(kind)))
		sh := shapes[seed%uint64(len(shapes))]
		sh.Kind = kind
		model := sparsetest.Random(rng, sh)
		if sparsetest.NumSchedulers(model, 2000) == 2000 {
			continue
		}
		n := model.NumStates()
		in := &instance{t, seed, model, sparse.NewGraph(model), sparsetest.RandomSet(rng, n, 0.8), sparsetest.RandomSet(rng, n, 0.25)}
		if check(in); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (in *instance) reward() *sparse.Reward { return &in.m.Rewards[0] }

// overSchedulers returns the optimal value over all memoryless schedulers.
func (in *instance) overSchedulers(dir solve.Direction, value func(a [][]*big.Rat, how []uint32) []*big.Rat) []*big.Rat {
	var best []*big.Rat
	for how := range sparsetest.Schedulers(in.m) {
		a := sparsetest.Stochastic(sparsetest.Matrix(in.m, how))
		best = sparsetest.Extremum(best, value(a, how), dir == solve.Min)
	}
	return best
}

// underScheduler returns the value of a scheduler, which takes the first choice where it has none.
func (in *instance) underScheduler(how []uint32, value func(a [][]*big.Rat, how []uint32) []*big.Rat) []*big.Rat {
	full := make([]uint32, in.m.NumStates())
	for s := range full {
		first, _ := in.m.Choices(s)
		full[s] = uint32(first)
		if how != nil && how[s] != sparse.None {
			full[s] = how[s]
		}
	}
	return value(sparsetest.Stochastic(sparsetest.Matrix(in.m, full)), full)
}

// contains reports whether lower <= x <= upper, where nil is infinite.
func contains(lower, upper float64, x *big.Rat) bool {
	if x == nil {
		return math.IsInf(lower, 1) && math.IsInf(upper, 1)
	}
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsInf(lower, 1) {
		return false
	}
	if new(big.Rat).SetFloat64(lower).Cmp(x) > 0 {
		return false
	}
	return math.IsInf(upper, 1) || new(big.Rat).SetFloat64(upper).Cmp(x) >= 0
}

// checkValues checks that the bounds contain the oracle's values, are narrow,
// and hold for the scheduler returned.
func (in *instance) checkValues(name string, values *solve.Values, want []*big.Rat, value func(a [][]*big.Rat, how []uint32) []*big.Rat) {
	in.Helper()
	for s, x := range want {
		if !contains(values.Lower[s], values.Upper[s], x) {
			in.Errorf("%s: state %d: [%v, %v] does not contain %s", name, s, values.Lower[s], values.Upper[s], text(x))
		}
		if values.Upper[s]-values.Lower[s] > 1.01e-8*values.Upper[s] {
			in.Errorf("%s: state %d: [%v, %v] is wide", name, s, values.Lower[s], values.Upper[s])
		}
	}
	if !values.Converged {
		in.Errorf("%s: not converged", name)
	}
	if value == nil || in.m.Kind != sparse.MDP {
		return
	}
	for s, x := range in.underScheduler(values.Scheduler, value) {
		if !contains(values.Lower[s], values.Upper[s], x) {
			in.Errorf("%s: state %d: scheduler %v gives %s, not within [%v, %v]", name, s, values.Scheduler, text(x), values.Lower[s], values.Upper[s])
		}
	}
}

func text(x *big.Rat) string {
	if x == nil {
		return "infinity"
	}
	f, _ := x.Float64()
	return x.RatString() + " = " + big.NewFloat(f).String()
}

var directions = map[string]solve.Direction{"min": solve.Min, "max": solve.Max}

func TestUntil(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				value := func(a [][]*big.Rat, _ []uint32) []*big.Rat { return sparsetest.UntilProb(a, in.left, in.right) }
				values, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{Scheduler: true})
				if err != nil {
					in.Fatal(err)
				}
				in.checkValues(name, values, in.overSchedulers(dir, value), value)
			}
		})
	}
}

func TestReachReward(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				value := func(a [][]*big.Rat, how []uint32) []*big.Rat {
					return sparsetest.RewardUntil(a, sparsetest.Gains(in.m, how, in.reward()), in.right)
				}
				values, err := solve.ReachReward(in.Context(), in.g, in.reward(), in.right, dir, solve.Options{Scheduler: true})
				if err != nil {
					in.Fatal(err)
				}
				in.checkValues(name, values, in.overSchedulers(dir, value), value)
			}
		})
	}
}

func TestTotalReward(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				value := func(a [][]*big.Rat, how []uint32) []*big.Rat {
					return sparsetest.RewardTotal(a, sparsetest.Gains(in.m, how, in.reward()))
				}
				values, err := solve.TotalReward(in.Context(), in.g, in.reward(), dir, solve.Options{Scheduler: true})
				if err != nil {
					in.Fatal(err)
				}
				in.checkValues(name, values, in.overSchedulers(dir, value), value)
			}
		})
	}
}
