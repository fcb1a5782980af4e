package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// fewestSteps is how many steps are taken one by one before it is tried to skip the others.
const fewestSteps = 256

// stepLimit tries to bound the values after remaining more steps without taking them. old are the bounds one step
// before those of the system. If the bounds are as narrow as asked for, it writes them and returns true.
type stepLimit func(oldLower, oldUpper []float64, remaining int) (bool, error)

// triesLimit reports whether to call the stepLimit after so many steps.
func (sys *system) triesLimit(done, remaining int) bool {
	return sys.limit != nil && sys.trace == nil && sys.round.grid == 0 && done >= fewestSteps && done&(done-1) == 0 && remaining > done
}

// untilLimit bounds the probabilities of left U<=k right by those after fewer steps and those of left U right. The
// system starts with 1 in right and 0 elsewhere.
//
// For any scheduler the probability does not decrease with k, and is at most that of the unbounded formula. So the
// same holds for minima and maxima.
func (sys *system) untilLimit(ctx context.Context, left, right *sparse.Set, dir Direction, opts Options) stepLimit {
	if opts.Classic {
		return nil
	}
	var unbounded *Values
	opts.Scheduler, opts.Within, opts.Exact = false, nil, false
	return func(_, _ []float64, remaining int) (bool, error) {
		const worthIt = 10_000 // steps that may take longer than the equations of the unbounded formula
		if unbounded == nil && remaining < worthIt {
			return false, nil
		}
		if unbounded == nil {
			narrower := opts
			narrower.Epsilon = opts.epsilon() / 4
			var err error
			if unbounded, err = Until(ctx, sys.g, left, right, dir, narrower); err != nil {
				sys.limit = nil // the steps may be less work
				return false, ctx.Err()
			}
		}
		for s, upper := range unbounded.Upper {
			if upper-sys.v.Lower[s] > opts.epsilon()/2*upper {
				return false, nil
			}
		}
		copy(sys.v.Upper, unbounded.Upper)
		return true, nil
	}
}

// rewardLimit bounds the rewards of n more steps by n times the least and the greatest reward of one step.
//
// Let T be one step of the equations. It is monotone, and T(x+c) = T(x)+c for a constant c, because the probabilities of
// a choice sum to one. If T(x) <= x+c then T^n(x) <= x+n*c, and likewise from below. The computed bounds contain T
// of the bounds before them, so c is the greatest difference of two consecutive upper bounds.
//
// Source: Odoni (1969), for the long-run average.
func (sys *system) rewardLimit(opts Options) stepLimit {
	if opts.Classic || sys.g.Kind == sparse.CTMC {
		return nil
	}
	const tiny = 0x1p-960 // below it a product of positive numbers may lose its digits
	return func(oldLower, oldUpper []float64, remaining int) (bool, error) {
		least, most := math.Inf(1), 0.0
		for s, upper := range sys.v.Upper {
			least = min(least, sys.v.Lower[s]-oldLower[s])
			most = max(most, upper-oldUpper[s])
		}
		// Each difference, product and sum is rounded once: four units cover that and the rounding of n.
		n := float64(remaining)
		low := max(least*(1-4*unit), 0) * n * (1 - 4*unit)
		high := most * (1 + 4*unit) * n * (1 + 4*unit)
		if low < tiny {
			low = 0
		}
		if most > 0 {
			high = max(high, tiny)
		}
		for s, upper := range sys.v.Upper {
			lo, hi := (sys.v.Lower[s]+low)*(1-4*unit), (upper+high)*(1+4*unit)
			if !(hi-lo <= opts.epsilon()/2*hi && hi < math.MaxFloat64) {
				return false, nil
			}
		}
		for s := range sys.v.Upper {
			sys.v.Lower[s] = max(sys.v.Lower[s], (sys.v.Lower[s]+low)*(1-4*unit))
			sys.v.Upper[s] = (sys.v.Upper[s] + high) * (1 + 4*unit)
		}
		return true, nil
	}
}
