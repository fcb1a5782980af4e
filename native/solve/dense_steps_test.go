package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// denseModel returns a random chain with rewards, and the same with doubles only.
func denseModel(rng *rand.Rand, n int, weights []*big.Rat) (exact, doubles *sparse.Model) {
	b := sparse.NewBuilder(sparse.DTMC)
	for range n {
		b.State()
		rest := big.NewRat(1, 1)
		targets := rng.Perm(n)[:1+rng.IntN(min(n, 3))]
		for i, t := range targets {
			w := rest
			if i < len(targets)-1 {
				w = new(big.Rat).Mul(rest, weights[rng.IntN(len(weights))])
				rest = new(big.Rat).Sub(rest, w)
			}
			b.AddRat(t, w, sparse.NoAction)
		}
	}
	model, err := b.Finish()
	if err != nil {
		panic(err)
	}
	r := sparse.Reward{RelErr: unitRoundoff, State: make([]float64, n), StateFractions: make([]*big.Rat, n), Choice: make([]float64, n), ChoiceFractions: make([]*big.Rat, n)}
	for s := range n {
		if rng.IntN(2) == 0 {
			r.StateFractions[s] = big.NewRat(rng.Int64N(50), 1+rng.Int64N(7))
			r.State[s], _ = r.StateFractions[s].Float64()
		}
		if rng.IntN(2) == 0 {
			r.ChoiceFractions[s] = big.NewRat(rng.Int64N(50), 1+rng.Int64N(7))
			r.Choice[s], _ = r.ChoiceFractions[s].Float64()
		}
	}
	model.Rewards = []sparse.Reward{r}
	model.RelErr = unitRoundoff
	d := *model
	d.Fractions = nil
	d.Rewards = []sparse.Reward{r}
	d.Rewards[0].StateFractions, d.Rewards[0].ChoiceFractions = nil, nil
	return model, &d
}

// hurtfulWeights returns weights that cancel, vanish or underflow in a few steps.
func hurtfulWeights() []*big.Rat {
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 400))
	almost := new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 1e9))
	return []*big.Rat{big.NewRat(1, 3), big.NewRat(1, 1e9), almost, big.NewRat(1, 2), big.NewRat(7, 10), tiny}
}

// compareDenseSteps compares n dense steps with exact values.
func compareDenseSteps(t *testing.T, model *sparse.Model, reward *sparse.Reward, x *Values, maybe *sparse.Set, right *sparse.Set, n int, width float64) {
	t.Helper()
	graph := sparse.NewGraph(model)
	y, err := newStepwise(graph, reward, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if y.isProbability = reward == nil; y.isProbability {
		y.values.setAll(right, 1)
	}
	var states []uint32
	for s := range maybe.All() {
		states = append(states, uint32(s))
	}
	if len(states) == 0 {
		return
	}
	l, ok := y.newDenseSteps(states, nil)
	if !ok {
		return // numbers that doubles have no room for
	}
	if finite, err := l.run(newMeter(t.Context(), Options{}, n), n); !finite || err != nil {
		t.Fatal(finite, err)
	}
	l.writeBounds(y.values)
	one := big.NewRat(1, 1)
	for s, want := range x.Exact {
		lo, hi := y.values.Lower[s], y.values.Upper[s]
		if new(big.Rat).SetFloat64(lo).Cmp(want) > 0 || new(big.Rat).SetFloat64(hi).Cmp(want) < 0 || lo < 0 {
			t.Errorf("%d steps, state %d: [%v, %v] does not contain %s", n, s, lo, hi, want.FloatString(40))
		}
		certain := want.Sign() == 0 || y.isProbability && want.Cmp(one) == 0
		if certain && lo != hi {
			t.Errorf("%d steps, state %d: [%v, %v] for %s", n, s, lo, hi, want.RatString())
		}
		if lo > 1e-150 && !(hi-lo <= width*hi) {
			t.Errorf("%d steps, state %d: [%v, %v] is wider than %g", n, s, lo, hi, width)
		}
	}
}

// TestDenseSteps compares dense steps with exact values, on chains with exact and with float64 weights. The latter
// have an error in every step.
func TestDenseSteps(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	for seed := range needs.Models(t, 800) {
		rng := rand.New(rand.NewPCG(seed, 3))
		exact, doubles := denseModel(rng, 2+rng.IntN(6), hurtfulWeights())
		n := exact.NumStates()
		right := sparsetest.RandomSet(rng, n, 0.3)
		left := sparsetest.RandomSet(rng, n, 0.8).Minus(right)
		steps := 1 + rng.IntN(60)
		x, err := BoundedUntil(t.Context(), sparse.NewGraph(exact), left, right, StepBound{High: steps}, Max, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		compareDenseSteps(t, exact, nil, x, left, right, steps, 2e-15)
		compareDenseSteps(t, doubles, nil, x, left, right, steps, 1e-13)
		x, err = CumulReward(t.Context(), sparse.NewGraph(exact), &exact.Rewards[0], steps, Max, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		all := sparse.FullSet(n)
		compareDenseSteps(t, exact, &exact.Rewards[0], x, all, nil, steps, 2e-15)
		compareDenseSteps(t, doubles, &doubles.Rewards[0], x, all, nil, steps, 1e-13)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestManySteps compares formulas with more than denseMinSteps steps with exact values, also with a lower bound, and on
// periodic chains.
func TestManySteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range needs.Some(20) {
		exact, doubles := denseModel(rng, 2+rng.IntN(4), []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2)})
		n := exact.NumStates()
		left, right := sparsetest.RandomSet(rng, n, 0.9), sparsetest.RandomSet(rng, n, 0.3)
		steps := denseMinSteps + 1 + rng.IntN(300)
		for name, f := range map[string]func(model *sparse.Model, opts Options) (*Values, error){
			"until": func(model *sparse.Model, opts Options) (*Values, error) {
				return BoundedUntil(t.Context(), sparse.NewGraph(model), left, right, StepBound{High: steps}, Max, opts)
			},
			"until with a lower bound": func(model *sparse.Model, opts Options) (*Values, error) {
				return BoundedUntil(t.Context(), sparse.NewGraph(model), left, right, StepBound{Low: steps, High: steps + 7}, Max, opts)
			},
			"cumulative": func(model *sparse.Model, opts Options) (*Values, error) {
				return CumulReward(t.Context(), sparse.NewGraph(model), &model.Rewards[0], steps, Max, opts)
			},
			"instantaneous": func(model *sparse.Model, opts Options) (*Values, error) {
				return InstantReward(t.Context(), sparse.NewGraph(model), &model.Rewards[0], steps, Max, opts)
			},
		} {
			x, err := f(exact, Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, model := range []*sparse.Model{exact, doubles} {
				values, err := f(model, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for s, want := range x.Exact {
					lo, hi := values.Lower[s], values.Upper[s]
					if new(big.Rat).SetFloat64(lo).Cmp(want) > 0 || new(big.Rat).SetFloat64(hi).Cmp(want) < 0 || want.Sign() == 0 && hi > 0 || hi-lo > 1e-10*hi && lo > 1e-200 {
						t.Errorf("%s of %d steps, state %d: [%v, %v], want %s", name, steps, s, lo, hi, want.FloatString(30))
					}
				}
			}
		}
	}
}

// BenchmarkManySteps takes 10^8 steps of a chain of so many states.
func BenchmarkManySteps(b *testing.B) {
	for _, n := range []int{3, 30, 300} {
		b.Run(big.NewInt(int64(n)).String(), func(b *testing.B) {
			_, model := denseModel(rand.New(rand.NewPCG(1, 1)), n, []*big.Rat{big.NewRat(1, 3), big.NewRat(1, 2)})
			for range b.N {
				if _, err := CumulReward(b.Context(), sparse.NewGraph(model), &model.Rewards[0], 1e8, Max, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
