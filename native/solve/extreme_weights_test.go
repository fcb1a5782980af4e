package solve_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// fraction parses a fraction or a decimal number.
func fraction(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

// power returns 2^n.
func power(n int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n))))
	if n < 0 {
		r.Inv(r)
	}
	return r
}

// extremeWeights are probabilities that are hard for float64: tiny, close to one, not representable, or
// such that differences cancel.
func extremeWeights() []*big.Rat {
	out := []*big.Rat{power(-300), power(-53), power(-880)}
	for _, text := range []string{"1e-17", "1e-9", "1/49", "48/49", "0.1", "0.3", "1/3", "0.99999999999999999", "0.5000000000000001"} {
		out = append(out, fraction(text))
	}
	return out
}

// extremeModel returns a random model with extreme weights and rewards from 1e-200 to 1e200, as an
// exact model and in float64.
func extremeModel(rng *rand.Rand, kind sparse.Kind) (exact, doubles *sparse.Model) {
	b := sparse.NewBuilder(kind)
	n := 2 + rng.IntN(6)
	weights := extremeWeights()
	choices := 0
	for range n {
		b.State()
		rows := 1
		if kind == sparse.MDP {
			rows += rng.IntN(2)
		}
		for range rows {
			if kind == sparse.MDP {
				b.Choice(sparse.NoAction)
			}
			row(rng, b, kind, n, weights)
			choices++
		}
	}
	model, err := b.Finish()
	if err != nil {
		panic(err)
	}
	model.Rewards = []sparse.Reward{extremeReward(rng, n, choices)}
	d := *model
	d.Fractions = nil
	d.Rewards = []sparse.Reward{model.Rewards[0]}
	d.Rewards[0].StateFractions, d.Rewards[0].ChoiceFractions = nil, nil
	return model, &d
}

// row appends transitions to distinct targets whose probabilities sum to one.
func row(rng *rand.Rand, b *sparse.Builder, kind sparse.Kind, n int, weights []*big.Rat) {
	targets := rng.Perm(n)[:1+rng.IntN(min(n, 3))]
	rest := big.NewRat(1, 1)
	for i, t := range targets {
		w := weights[rng.IntN(len(weights))]
		switch {
		case kind == sparse.CTMC:
			w = new(big.Rat).Mul(w, fraction([]string{"1", "7", "1e6", "1e-3"}[rng.IntN(4)]))
		case i == len(targets)-1:
			w = rest
		default:
			if w = new(big.Rat).Mul(w, rest); !positive(w) {
				w = power(-900)
			}
			rest = new(big.Rat).Sub(rest, w)
		}
		b.AddRat(t, w, sparse.NoAction)
	}
}

// positive reports whether the float64 of a fraction is not zero.
func positive(width *big.Rat) bool {
	rounded, _ := width.Float64()
	return rounded > 0
}

func extremeReward(rng *rand.Rand, states, choices int) sparse.Reward {
	values := []*big.Rat{nil, nil, fraction("1e200"), fraction("1e-200"), fraction("1/3"), fraction("5"), fraction("1e16")}
	draw := func(n int) ([]float64, []*big.Rat) {
		f, r := make([]float64, n), make([]*big.Rat, n)
		for i := range f {
			if r[i] = values[rng.IntN(len(values))]; r[i] != nil {
				f[i], _ = r[i].Float64()
			}
		}
		return f, r
	}
	r := sparse.Reward{RelErr: 0x1p-53}
	r.State, r.StateFractions = draw(states)
	r.Choice, r.ChoiceFractions = draw(choices)
	return r
}

// TestExtremeWeights compares the bounds of every function with exact values, for models with extreme
// weights. Probabilities must be between 0 and 1, and exactly 0 or 1 where they are.
func TestExtremeWeights(t *testing.T) {
	count := needs.Some(uint64(120))
	if needs.IsLong() {
		count = 7000
	}
	for _, kind := range []sparse.Kind{sparse.DTMC, sparse.MDP, sparse.CTMC} {
		for seed := range count {
			rng := rand.New(rand.NewPCG(seed, 77+uint64(kind)))
			exact, doubles := extremeModel(rng, kind)
			h := &extremeCase{T: t, x: sparse.NewGraph(exact), d: sparse.NewGraph(doubles)}
			h.left, h.right = sparsetest.RandomSet(rng, exact.NumStates(), 0.8), sparsetest.RandomSet(rng, exact.NumStates(), 0.3)
			h.opts = solve.Options{Scheduler: seed%3 == 0, MaxSweeps: 2000}
			for _, dir := range []solve.Direction{solve.Max, solve.Min} {
				h.all(dir, rng.IntN(5))
			}
			if t.Failed() {
				t.Fatalf("%v, seed %d", kind, seed)
			}
		}
	}
}

type extremeCase struct {
	*testing.T
	x, d        *sparse.Graph
	left, right *sparse.Set
	opts        solve.Options
}

func (h *extremeCase) all(dir solve.Direction, k int) {
	ctx := context.Background()
	h.compare("until", true, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, graph, h.left, h.right, dir, opts)
	})
	h.compare("next", true, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.Next(ctx, graph, h.right, dir, opts)
	})
	h.compare("reach", false, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.ReachReward(ctx, graph, &graph.Rewards[0], h.right, dir, opts)
	})
	h.compare("total", false, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.TotalReward(ctx, graph, &graph.Rewards[0], dir, opts)
	})
	h.compare("steady", true, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.SteadyState(ctx, graph, h.right, dir, opts)
	})
	h.compare("long run", false, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.LongRun(ctx, graph, &graph.Rewards[0], dir, opts)
	})
	if h.d.Kind == sparse.CTMC {
		return
	}
	for _, steps := range []solve.StepBound{{High: k}, {Low: 1, High: k + 1}, {Low: 2, High: solve.Unbounded}} {
		h.compare("bounded until", true, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
			return solve.BoundedUntil(ctx, graph, h.left, h.right, steps, dir, opts)
		})
	}
	h.compare("cumulative", false, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.CumulReward(ctx, graph, &graph.Rewards[0], k, dir, opts)
	})
	h.compare("instantaneous", false, func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error) {
		return solve.InstantReward(ctx, graph, &graph.Rewards[0], k, dir, opts)
	})
}

func (h *extremeCase) compare(name string, prob bool, f func(graph *sparse.Graph, opts solve.Options) (*solve.Values, error)) {
	h.Helper()
	values, err := f(h.d, h.opts)
	if err != nil {
		h.Fatal(name, err)
	}
	opts := h.opts
	opts.Exact = true
	x, err := f(h.x, opts)
	if err != nil {
		h.Fatal(name, err)
	}
	for s, want := range x.Exact {
		lo, hi := values.Lower[s], values.Upper[s]
		if !contains(lo, hi, want) || lo < 0 {
			h.Errorf("%s, state %d: [%v, %v] does not contain %s", name, s, lo, hi, text(want))
		}
		if m := values.Value(s); !(lo <= m && m <= hi) {
			h.Errorf("%s, state %d: the middle of [%v, %v] is %v", name, s, lo, hi, m)
		}
		if !prob {
			continue
		}
		certain := want.Sign() == 0 || want.Cmp(big.NewRat(1, 1)) == 0
		if !(hi <= 1) || certain != (hi == 0 || lo == 1) || certain && math.Float64bits(lo) != math.Float64bits(hi) {
			h.Errorf("%s, state %d: [%v, %v] for the probability %s", name, s, lo, hi, text(want))
		}
	}
}
