package solve_test

import (
	"errors"
	"math/big"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

func equal(x, y *big.Rat) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Cmp(y) == 0
}

// checkExact compares values, and those of the scheduler, with the oracle.
func (in *instance) checkExact(name string, x *solve.Values, want []*big.Rat, value func(a [][]*big.Rat, how []uint32) []*big.Rat) {
	in.Helper()
	for s := range want {
		if !equal(x.Exact[s], want[s]) {
			in.Errorf("%s: state %d: %s, want %s", name, s, text(x.Exact[s]), text(want[s]))
		}
	}
	if in.m.Kind != sparse.MDP {
		return
	}
	for s, got := range in.underScheduler(x.Scheduler, value) {
		if !equal(got, want[s]) {
			in.Errorf("%s: state %d: scheduler %v gives %s, want %s", name, s, x.Scheduler, text(got), text(want[s]))
		}
	}
}

func TestExact(t *testing.T) {
	opts := solve.Options{Exact: true, Scheduler: true}
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			gains := func(how []uint32) []*big.Rat { return sparsetest.Gains(in.m, how, in.reward()) }
			until := func(a [][]*big.Rat, _ []uint32) []*big.Rat { return sparsetest.UntilProb(a, in.left, in.right) }
			reach := func(a [][]*big.Rat, how []uint32) []*big.Rat {
				return sparsetest.RewardUntil(a, gains(how), in.right)
			}
			total := func(a [][]*big.Rat, how []uint32) []*big.Rat { return sparsetest.RewardTotal(a, gains(how)) }
			for name, dir := range directions {
				x, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, opts)
				if err != nil {
					in.Fatal(err)
				}
				in.checkExact("until "+name, x, in.overSchedulers(dir, until), until)
				x, err = solve.ReachReward(in.Context(), in.g, in.reward(), in.right, dir, opts)
				if err != nil {
					in.Fatal(err)
				}
				in.checkExact("reward "+name, x, in.overSchedulers(dir, reach), reach)
				x, err = solve.TotalReward(in.Context(), in.g, in.reward(), dir, opts)
				if err != nil {
					in.Fatal(err)
				}
				in.checkExact("total "+name, x, in.overSchedulers(dir, total), total)
			}
		})
	}
}

// TestExactWithin checks that exact values of one state do not depend on whether others are wanted.
func TestExactWithin(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC, sparse.CTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				for what, solved := range map[string]func(solve.Options) (*solve.Values, error){
					"until ": func(o solve.Options) (*solve.Values, error) {
						return solve.Until(in.Context(), in.g, in.left, in.right, dir, o)
					},
					"reward ": func(o solve.Options) (*solve.Values, error) {
						return solve.ReachReward(in.Context(), in.g, in.reward(), in.right, dir, o)
					},
					"total ": func(o solve.Options) (*solve.Values, error) {
						return solve.TotalReward(in.Context(), in.g, in.reward(), dir, o)
					},
				} {
					all, err := solved(solve.Options{Exact: true})
					if err != nil {
						in.Fatal(err)
					}
					in.checkWithin(what+name, solved, func(s int) *big.Rat { return all.Exact[s] })
				}
			}
		})
	}
}

func TestExactNeedsFractions(t *testing.T) {
	b := sparse.NewBuilder(sparse.DTMC)
	b.State()
	b.Add(0, 1)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	all := sparse.FullSet(1)
	if _, err := solve.Until(t.Context(), sparse.NewGraph(model), all, all, solve.Max, solve.Options{Exact: true}); !errors.Is(err, solve.ErrNotExact) {
		t.Errorf("error %v, want ErrNotExact", err)
	}
}
