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

// unroll computes the value of every state by recursion over the remaining
// steps: end gives what a path is worth at step i, or nil while it goes on.
func (in *instance) unroll(s, i int, least bool, end func(s, i int) *big.Rat, gain func(s, c int) *big.Rat) *big.Rat {
	if x := end(s, i); x != nil {
		return x
	}
	var best *big.Rat
	first, last := in.m.Choices(s)
	for c := first; c < last; c++ {
		sum, total := new(big.Rat), new(big.Rat)
		lo, hi := in.m.Transitions(c)
		for j := lo; j < hi; j++ {
			x := in.unroll(int(in.m.Target[j]), i+1, least, end, gain)
			sum.Add(sum, x.Mul(in.m.Fraction(j), new(big.Rat).Set(x)))
			total.Add(total, in.m.Fraction(j))
		}
		sum.Quo(sum, total)
		if gain != nil {
			sum.Add(sum, gain(s, c))
		}
		if best == nil || sparsetest.Less(sum, best) == least && sum.Cmp(best) != 0 {
			best = sum
		}
	}
	return best
}

func rat(ok bool) *big.Rat {
	if ok {
		return big.NewRat(1, 1)
	}
	return new(big.Rat)
}

// checkSteps compares bounds and fractions with the recursion.
func (in *instance) checkSteps(name string, values *solve.Values, x *solve.Values, err error, want func(s int) *big.Rat) {
	in.Helper()
	if err != nil {
		in.Fatal(err)
	}
	for s := range in.m.NumStates() {
		w := want(s)
		if !equal(x.Exact[s], w) {
			in.Errorf("%s: state %d: %s, want %s", name, s, text(x.Exact[s]), text(w))
		}
		if !contains(values.Lower[s], values.Upper[s], w) || values.Upper[s]-values.Lower[s] > 1e-12*values.Upper[s] {
			in.Errorf("%s: state %d: [%v, %v], want %s", name, s, values.Lower[s], values.Upper[s], text(w))
		}
	}
}

// checkWithin compares fractions that are wanted in one state only.
func (in *instance) checkWithin(name string, solved func(solve.Options) (*solve.Values, error), want func(s int) *big.Rat) {
	in.Helper()
	n := in.m.NumStates()
	for s := range n {
		x, err := solved(solve.Options{Exact: true, Within: sparse.SetOf(n, s)})
		if err != nil {
			in.Fatal(err)
		}
		if w := want(s); !equal(x.Exact[s], w) {
			in.Errorf("%s, only in state %d: %s, want %s", name, s, text(x.Exact[s]), text(w))
		}
	}
}

// TestStepsOfPrimes has weights without a small common denominator: each state is left
// for the next one with probability 1 to a prime, and for the first one otherwise.
func TestStepsOfPrimes(t *testing.T) {
	primes := []int64{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67}
	b := sparse.NewBuilder(sparse.DTMC)
	want := big.NewRat(1, 1)
	for s, p := range primes {
		b.State()
		b.AddRat(s+1, big.NewRat(1, p), sparse.NoAction)
		b.AddRat(0, big.NewRat(p-1, p), sparse.NoAction)
		want.Mul(want, big.NewRat(1, p))
	}
	b.State()
	b.AddRat(len(primes), big.NewRat(1, 1), sparse.NoAction)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	n := model.NumStates()
	for _, within := range []*sparse.Set{nil, sparse.SetOf(n, 0)} {
		values, err := solve.BoundedUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(n), sparse.SetOf(n, n-1), solve.StepBound{High: n - 1}, solve.Max, solve.Options{Exact: true, Within: within})
		if err != nil || values.Exact[0].Cmp(want) != 0 {
			t.Errorf("%v, %v, want %v", values.Exact[0], err, want)
		}
		// Once more round: the first step may fail.
		values, err = solve.BoundedUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(n), sparse.SetOf(n, n-1), solve.StepBound{High: n}, solve.Max, solve.Options{Exact: true, Within: within})
		if more := new(big.Rat).Mul(want, big.NewRat(5, 3)); err != nil || values.Exact[0].Cmp(more) != 0 {
			t.Errorf("%v, %v, want %v", values.Exact[0], err, more)
		}
	}
}

// TestStepsOfLongRewards has weights with a small common denominator, and rewards without one.
func TestStepsOfLongRewards(t *testing.T) {
	long := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(7), big.NewInt(40), nil))
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 2 {
		b.State()
		b.AddRat(s, big.NewRat(1, 3), sparse.NoAction)
		b.AddRat(1, big.NewRat(2, 3), sparse.NoAction)
	}
	reward := &sparse.Reward{State: []float64{1, 0}, StateFractions: []*big.Rat{long, big.NewRat(1, 1<<40)}}
	values, err := solve.CumulReward(t.Context(), sparse.NewGraph(finish(t, b)), reward, 2, solve.Max, solve.Options{Exact: true})
	want := new(big.Rat).Mul(big.NewRat(4, 3), reward.StateFractions[0])
	want.Add(want, new(big.Rat).Mul(big.NewRat(2, 3), reward.StateFractions[1]))
	if err != nil || values.Exact[0].Cmp(want) != 0 {
		t.Errorf("%v, %v, want %v", values, err, want)
	}
}

func TestSteps(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC} {
		forRandom(t, kind, func(in *instance) {
			if in.seed%5 != 0 {
				return
			}
			rng := rand.New(rand.NewPCG(in.seed, 99))
			bound := solve.StepBound{Low: rng.IntN(3)}
			bound.High = bound.Low + rng.IntN(4)
			k := rng.IntN(5)
			ctx, opts, exactly := in.Context(), solve.Options{}, solve.Options{Exact: true}
			gain := func(s, c int) *big.Rat {
				how := make([]uint32, in.m.NumStates())
				how[s] = uint32(c)
				return sparsetest.Gains(in.m, how, in.reward())[s]
			}
			for name, dir := range directions {
				until := func(s, i int) *big.Rat {
					switch {
					case i >= bound.Low && in.right.Has(s):
						return rat(true)
					case i == bound.High || !in.left.Has(s):
						return rat(false)
					}
					return nil
				}
				values, err := solve.BoundedUntil(ctx, in.g, in.left, in.right, bound, dir, opts)
				x, _ := solve.BoundedUntil(ctx, in.g, in.left, in.right, bound, dir, exactly)
				want := func(s int) *big.Rat { return in.unroll(s, 0, dir == solve.Min, until, nil) }
				in.checkSteps("until "+name, values, x, err, want)
				in.checkWithin("until "+name, func(o solve.Options) (*solve.Values, error) {
					return solve.BoundedUntil(ctx, in.g, in.left, in.right, bound, dir, o)
				}, want)

				cumul := func(_, i int) *big.Rat {
					if i == k {
						return new(big.Rat)
					}
					return nil
				}
				values, err = solve.CumulReward(ctx, in.g, in.reward(), k, dir, opts)
				x, _ = solve.CumulReward(ctx, in.g, in.reward(), k, dir, exactly)
				want = func(s int) *big.Rat { return in.unroll(s, 0, dir == solve.Min, cumul, gain) }
				in.checkSteps("cumulative "+name, values, x, err, want)
				in.checkWithin("cumulative "+name, func(o solve.Options) (*solve.Values, error) {
					return solve.CumulReward(ctx, in.g, in.reward(), k, dir, o)
				}, want)

				instant := func(s, i int) *big.Rat {
					if i < k {
						return nil
					}
					if r := in.reward().StateFractions; r != nil && r[s] != nil {
						return new(big.Rat).Set(r[s])
					}
					return new(big.Rat)
				}
				values, err = solve.InstantReward(ctx, in.g, in.reward(), k, dir, opts)
				x, _ = solve.InstantReward(ctx, in.g, in.reward(), k, dir, exactly)
				want = func(s int) *big.Rat { return in.unroll(s, 0, dir == solve.Min, instant, nil) }
				in.checkSteps("instantaneous "+name, values, x, err, want)
				in.checkWithin("instantaneous "+name, func(o solve.Options) (*solve.Values, error) {
					return solve.InstantReward(ctx, in.g, in.reward(), k, dir, o)
				}, want)
			}
		})
	}
}

func TestNext(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				next := func(s, i int) *big.Rat {
					if i == 1 {
						return rat(in.right.Has(s))
					}
					return nil
				}
				values, err := solve.Next(in.Context(), in.g, in.right, dir, solve.Options{})
				x, _ := solve.Next(in.Context(), in.g, in.right, dir, solve.Options{Exact: true})
				in.checkSteps(name, values, x, err, func(s int) *big.Rat { return in.unroll(s, 0, dir == solve.Min, next, nil) })
			}
		})
	}
}

// TestLowerBoundOnly checks F>=k against its meaning: k steps anywhere, then F.
func TestLowerBoundOnly(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		all := sparse.FullSet(in.m.NumStates())
		for name, dir := range directions {
			ever, err := solve.Until(in.Context(), in.g, all, in.right, dir, solve.Options{Exact: true})
			if err != nil {
				in.Fatal(err)
			}
			later := func(s, i int) *big.Rat {
				if i == 2 {
					return new(big.Rat).Set(ever.Exact[s])
				}
				return nil
			}
			bound := solve.StepBound{Low: 2, High: solve.Unbounded}
			values, err := solve.BoundedUntil(in.Context(), in.g, all, in.right, bound, dir, solve.Options{Epsilon: 1e-13})
			x, _ := solve.BoundedUntil(in.Context(), in.g, all, in.right, bound, dir, solve.Options{Exact: true})
			in.checkSteps(name, values, x, err, func(s int) *big.Rat { return in.unroll(s, 0, dir == solve.Min, later, nil) })
		}
	})
}

// TestCertainWithinSteps: where every path is there in time the bounds are exactly
// one, although thirds do not sum to one in doubles.
func TestCertainWithinSteps(t *testing.T) {
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 3 {
		b.State()
		if s == 2 {
			b.Add(2, 1)
			continue
		}
		b.AddAction(s+1, 0.1, 0)
		b.AddAction(s+1, 0.2, 1)
		b.AddAction(s+1, 0.7, 2)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	values, err := solve.BoundedUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(3), sparse.SetOf(3, 2), solve.StepBound{High: 2}, solve.Max, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 1, 1}; !slices.Equal(values.Lower, want) || !slices.Equal(values.Upper, want) {
		t.Errorf("bounds %v and %v, want ones", values.Lower, values.Upper)
	}
}
