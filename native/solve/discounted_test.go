package solve_test

import (
	"math/big"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// TestDiscounted compares with all schedulers, and with the recursion over a number of steps.
func TestDiscounted(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC} {
		forRandom(t, kind, func(in *instance) {
			factor := []*big.Rat{big.NewRat(9, 10), big.NewRat(1, 3), big.NewRat(999, 1000)}[in.seed%3]
			value := func(a [][]*big.Rat, how []uint32) []*big.Rat {
				for _, row := range a {
					for _, x := range row {
						x.Mul(x, factor)
					}
				}
				return sparsetest.Solve(a, sparsetest.Gains(in.m, how, in.reward()))
			}
			gain := func(s, c int) *big.Rat { return in.reward().ExactChoiceTotal(s, c) }
			const steps = 4
			var recurse func(s, i int, least bool) *big.Rat
			recurse = func(s, i int, least bool) *big.Rat {
				if i == steps {
					return new(big.Rat)
				}
				var best *big.Rat
				first, last := in.m.Choices(s)
				for c := first; c < last; c++ {
					sum := gain(s, c)
					from, to := in.m.Transitions(c)
					for j := from; j < to; j++ {
						x := recurse(int(in.m.Target[j]), i+1, least)
						x = new(big.Rat).Mul(x, in.m.Fraction(j))
						sum.Add(sum, x.Mul(x, factor))
					}
					if best == nil || (sum.Cmp(best) < 0) == least {
						best = sum
					}
				}
				return best
			}
			for name, dir := range directions {
				discounted := func(n int, opts solve.Options) *solve.Values {
					in.Helper()
					values, err := solve.Discounted(in.Context(), in.g, in.reward(), factor, n, dir, opts)
					if err != nil {
						in.Fatal(err)
					}
					return values
				}
				want := in.overSchedulers(dir, value)
				in.checkValues(name, discounted(solve.Unbounded, solve.Options{Scheduler: true}), want, value)
				exact := discounted(solve.Unbounded, solve.Options{Exact: true})
				for s, x := range want {
					if !equal(exact.Exact[s], x) {
						in.Errorf("%s: state %d: %s, want %s", name, s, text(exact.Exact[s]), text(x))
					}
				}
				in.checkSteps(name, discounted(steps, solve.Options{}), discounted(steps, solve.Options{Exact: true}), nil, func(s int) *big.Rat {
					return recurse(s, 0, dir == solve.Min)
				})
			}
		})
	}
}
