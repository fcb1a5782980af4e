package solve_test

import (
	"math"
	"math/big"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// TestGrid checks in exact arithmetic that bounds on a grid are multiples of it, right, and inductive.
func TestGrid(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC} {
		forRandom(t, kind, func(in *instance) {
			for name, dir := range directions {
				for _, grid := range []float64{0x1p-39, 0x1p-52} {
					opts := solve.Options{Grid: grid}
					values, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, opts)
					if err != nil {
						in.Fatal(err)
					}
					in.checkGrid(name+" until", values, in.overSchedulers(dir, func(a [][]*big.Rat, _ []uint32) []*big.Rat {
						return sparsetest.UntilProb(a, in.left, in.right)
					}), nil, in.left.Minus(in.right), dir, grid)
					values, err = solve.ReachReward(in.Context(), in.g, in.reward(), in.right, dir, opts)
					if err != nil {
						in.Fatal(err)
					}
					in.checkGrid(name+" reward", values, in.overSchedulers(dir, func(a [][]*big.Rat, how []uint32) []*big.Rat {
						return sparsetest.RewardUntil(a, sparsetest.Gains(in.m, how, in.reward()), in.right)
					}), in.reward(), in.right.Complement(), dir, grid)
					values, err = solve.TotalReward(in.Context(), in.g, in.reward(), dir, opts)
					if err != nil {
						in.Fatal(err)
					}
					in.checkGrid(name+" total", values, in.overSchedulers(dir, func(a [][]*big.Rat, how []uint32) []*big.Rat {
						return sparsetest.RewardTotal(a, sparsetest.Gains(in.m, how, in.reward()))
					}), in.reward(), sparse.FullSet(in.m.NumStates()), dir, grid)
				}
			}
		})
	}
}

func (in *instance) checkGrid(name string, values *solve.Values, want []*big.Rat, reward *sparse.Reward, maybe *sparse.Set, dir solve.Direction, grid float64) {
	in.Helper()
	for s, x := range want {
		lo, hi := values.Lower[s], values.Upper[s]
		if !contains(lo, hi, x) || x != nil && hi-lo > max(1, hi)*1e-6 {
			in.Errorf("%s: state %d: [%v, %v] does not contain %s, or is wide", name, s, lo, hi, text(x))
		}
		for _, b := range []float64{lo, hi} {
			if q := b / grid; !math.IsInf(b, 1) && q != math.Floor(q) {
				in.Errorf("%s: state %d: %v is no multiple of %v", name, s, b, grid)
			}
		}
		if x == nil || !maybe.Has(s) {
			continue
		}
		if low := in.step(s, values.Lower, reward, dir); low != nil && new(big.Rat).SetFloat64(lo).Cmp(low) > 0 {
			in.Errorf("%s: state %d: lower bound %v becomes %s", name, s, lo, text(low))
		}
		if high := in.step(s, values.Upper, reward, dir); high == nil || new(big.Rat).SetFloat64(hi).Cmp(high) < 0 {
			in.Errorf("%s: state %d: upper bound %v becomes %s", name, s, hi, text(high))
		}
	}
}

// step applies the equations of a state; nil is infinite.
func (in *instance) step(s int, x []float64, reward *sparse.Reward, dir solve.Direction) *big.Rat {
	var best *big.Rat
	first, end := in.m.Choices(s)
	for c := first; c < end; c++ {
		sum := new(big.Rat)
		if reward != nil {
			how := make([]uint32, in.m.NumStates())
			for t := range how {
				f, _ := in.m.Choices(t)
				how[t] = uint32(f)
			}
			how[s] = uint32(c)
			sum.Set(sparsetest.Gains(in.m, how, reward)[s])
		}
		lo, hi := in.m.Transitions(c)
		for i := lo; i < hi; i++ {
			if t := in.m.Target[i]; math.IsInf(x[t], 1) {
				sum = nil
				break
			}
			sum.Add(sum, new(big.Rat).Mul(in.m.Fraction(i), new(big.Rat).SetFloat64(x[in.m.Target[i]])))
		}
		if c == first {
			best = sum
		} else if sparsetest.Less(sum, best) == (dir == solve.Min) {
			best = sum
		}
	}
	return best
}
