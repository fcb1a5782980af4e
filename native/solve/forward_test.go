package solve_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// setInitial gives a random chain one or several initial states.
func (in *instance) setInitial(rng *rand.Rand) {
	in.m.Initial = nil
	for s := range sparsetest.RandomSet(rng, in.m.NumStates(), 0.3).All() {
		in.m.Initial = append(in.m.Initial, uint32(s))
	}
	if in.m.Initial == nil {
		in.m.Initial = []uint32{uint32(rng.IntN(in.m.NumStates()))}
	}
}

// meanOverInitial returns the mean value of the initial states.
func (in *instance) meanOverInitial(x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, s := range in.m.Initial {
		sum.Add(sum, x[s])
	}
	return sum.Quo(sum, big.NewRat(int64(len(in.m.Initial)), 1))
}

func forward(t *testing.T, graph *sparse.Graph, opts solve.Options) *solve.Forward {
	t.Helper()
	f, err := solve.NewForward(graph, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compareValues compares exact values and bounds with the expected ones.
func (in *instance) compareValues(name string, exact, bounds *solve.Values, want []*big.Rat) {
	in.Helper()
	for s, x := range want {
		if exact != nil && exact.Exact[s].Cmp(x) != 0 {
			in.Errorf("%s: state %d: %v, want %v", name, s, exact.Exact[s], x)
		}
		lo, hi := bounds.Lower[s], bounds.Upper[s]
		if !contains(lo, hi, x) || hi-lo > 1e-8*hi || (x.Sign() == 0) != (hi == 0) || hi > 1 {
			in.Errorf("%s: state %d: [%v, %v], want %v", name, s, lo, hi, x)
		}
	}
}

// TestSteadyState compares with the solution of the balance equations of each BSCC, times its
// absorption probability, in rational arithmetic.
func TestSteadyState(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			in.setInitial(rand.New(rand.NewPCG(in.seed, 7)))
			var want []*big.Rat
			how := make([]uint32, in.m.NumStates())
			for s := range how {
				how[s] = uint32(s)
			}
			for s := range how {
				one := indicatorReward(sparse.SetOf(len(how), s))
				want = append(want, in.meanOverInitial(in.longRunUnder(how, one)))
			}
			exact, bounds := forward(t, in.g, solve.Options{Exact: true}), forward(t, in.g, solve.Options{})
			for _, f := range []*solve.Forward{exact, bounds} {
				if err := f.SteadyState(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			in.compareValues("forever", exact.Values(), bounds.Values(), want)
		})
	}
}

// TestForwardSteps compares with powers of the matrix.
func TestForwardSteps(t *testing.T) {
	forRandom(t, sparse.DTMC, func(in *instance) {
		rng := rand.New(rand.NewPCG(in.seed, 8))
		in.setInitial(rng)
		n := in.m.NumStates()
		how := make([]uint32, n)
		for s := range how {
			how[s] = uint32(s)
		}
		a := sparsetest.Matrix(in.m, how)
		want := slices.Repeat([]*big.Rat{new(big.Rat)}, n)
		for _, s := range in.m.Initial {
			want[s] = big.NewRat(1, int64(len(in.m.Initial)))
		}
		exact, bounds := forward(t, in.g, solve.Options{Exact: true}), forward(t, in.g, solve.Options{})
		for range 3 {
			steps := rng.IntN(6)
			for range steps {
				next := make([]*big.Rat, n)
				for s := range next {
					next[s] = new(big.Rat)
					for u := range n {
						next[s].Add(next[s], new(big.Rat).Mul(want[u], a[u][s]))
					}
				}
				want = next
			}
			for _, f := range []*solve.Forward{exact, bounds} {
				if err := f.TakeSteps(t.Context(), steps); err != nil {
					t.Fatal(err)
				}
			}
			in.compareValues("steps", exact.Values(), bounds.Values(), want)
		}
	})
}

// TestForwardTime compares with the exponential of the generator.
func TestForwardTime(t *testing.T) {
	forCTMC(t, func(in *instance, rng *rand.Rand) {
		in.setInitial(rng)
		n := in.m.NumStates()
		q := generator(in.m, sparse.FullSet(n))
		f := forward(t, in.g, solve.Options{})
		time := 0.0
		for range 2 {
			more := aTime(rng)
			time += more
			if err := f.AdvanceTime(t.Context(), at(more)); err != nil {
				t.Fatal(err)
			}
			want := make([]*big.Float, n)
			for s := range n {
				want[s] = number(0)
				x := exponential(q, time, indicator(sparse.SetOf(n, s)))
				for _, i := range in.m.Initial {
					want[s].Add(want[s], x[i])
				}
				want[s].Quo(want[s], number(float64(len(in.m.Initial))))
			}
			in.enclose("time", f.Values(), want, time)
		}
	})
}

// TestSteadyStateLong is a fair game that starts with 1 of n and goes on until n are won, with
// probability 1/n, or all are lost. It has a thousand states and converges slowly.
func TestSteadyStateLong(t *testing.T) {
	const n = 1000
	b := sparse.NewBuilder(sparse.DTMC)
	for k := range n + 1 {
		b.State()
		if k == 0 || k == n {
			b.Add(k, 1)
			continue
		}
		b.Add(k-1, 0.5)
		b.Add(k+1, 0.5)
	}
	model := finish(t, b)
	model.Initial = []uint32{1}
	f := forward(t, sparse.NewGraph(model), solve.Options{})
	if err := f.SteadyState(t.Context()); err != nil {
		t.Fatal(err)
	}
	values := f.Values()
	if lo, hi := values.Lower[n], values.Upper[n]; lo > 1.0/n || hi < 1.0/n || hi-lo > 1e-6/n || values.Upper[1] != 0 {
		t.Errorf("[%v, %v], want %v", lo, hi, 1.0/n)
	}
}
