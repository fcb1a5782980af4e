package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// fewestSteps is the number of steps that are taken one by one before the others may be skipped.
const fewestSteps = 256

// stepLimit tries to bound the values after remaining more steps without taking them. old are the bounds one step
// before those of the system. If the bounds are as narrow as asked for, it writes them and returns true.
type stepLimit func(oldLower, oldUpper []float64, remaining int) (bool, error)

// triesLimit reports whether to call the stepLimit after so many steps.
func (sys *system) triesLimit(done, remaining int) bool {
	return sys.stepLimit != nil && sys.stepScheduler == nil && sys.rounding.grid == 0 && done >= fewestSteps && done&(done-1) == 0 && remaining > done
}

// untilLimit returns a function that bounds the probabilities of left U<=k right for large k: from below by
// those of fewer steps, from above by those of left U right. The system starts with value 1 in right and 0
// elsewhere.
//
// For any scheduler the probability does not decrease with k, and is at most that of the unbounded formula.
// So the same holds for minima and maxima.
func (sys *system) untilLimit(ctx context.Context, left, right *sparse.Set, dir Direction, opts Options) stepLimit {
	if opts.Classic {
		return nil
	}
	var unbounded *Values
	opts.Scheduler, opts.Within, opts.Exact = false, nil, false
	return func(_, _ []float64, remaining int) (bool, error) {
		const minSteps = 10_000 // fewer steps may take less time than solving the unbounded formula
		if unbounded == nil && remaining < minSteps {
			return false, nil
		}
		if unbounded == nil {
			narrower := opts
			narrower.Epsilon = opts.epsilon() / 4
			var err error
			if unbounded, err = Until(ctx, sys.graph, left, right, dir, narrower); err != nil {
				sys.stepLimit = nil // single steps may still be affordable
				return false, ctx.Err()
			}
		}
		for s, upper := range unbounded.Upper {
			if upper-sys.values.Lower[s] > opts.epsilon()/2*upper {
				return false, nil
			}
		}
		copy(sys.values.Upper, unbounded.Upper)
		return true, nil
	}
}

// stepSkipper skips steps whose effect is nearly the same in every state. It is for equations T with T(x+c) = T(x)+c for every
// constant c: the probabilities of each choice sum to one, and no state has a fixed value.
//
// T is monotone. If p steps take the upper bounds U to at most U+c, then m p further steps add at most m c to bounds that are
// at most U+c. Adding a constant commutes with the r steps that remain, so the order does not matter. The lower bounds are
// treated in the same way. The computed bounds contain T of the bounds before them, so c is the greatest difference of two
// upper bounds that are p steps apart. Every p is sound; in a periodic model a multiple of the period gives narrow bounds.
//
// Source: Odoni (1969), for the long-run average.
type stepSkipper struct {
	epsilon    float64
	savedLower []float64 // the bounds after savedAfter steps
	savedUpper []float64
	savedAfter int     // a power of two; 0 before bounds are saved
	savedMax   float64 // the greatest saved upper bound
	// When jumpSteps steps remain, they add at least lowerGrowth and at most upperGrowth; jumpSteps is 0 while
	// these are unknown.
	jumpSteps                int
	lowerGrowth, upperGrowth float64
}

// newStepSkipper returns nil if every step must be taken.
func (sys *system) newStepSkipper(opts Options) *stepSkipper {
	if opts.Classic || sys.graph.Kind == sparse.CTMC {
		return nil
	}
	return &stepSkipper{epsilon: opts.epsilon()}
}

// trySkip tries to replace the remaining steps by a multiple of the growth since the saved bounds. It reports
// whether it has written the final bounds to values. steps is the number of steps already taken.
func (d *stepSkipper) trySkip(values *Values, steps, remaining int) bool {
	isPowerOfTwo := steps&(steps-1) == 0
	switch {
	case d.jumpSteps > 0:
		return remaining == d.jumpSteps && d.addGrowth(values)
	case steps >= fewestSteps && isPowerOfTwo && remaining > steps:
		d.savedLower = append(d.savedLower[:0], values.Lower...)
		d.savedUpper = append(d.savedUpper[:0], values.Upper...)
		d.savedAfter = steps
		d.savedMax = slices.Max(values.Upper)
		return false
	case d.savedAfter == 0 || remaining < steps-d.savedAfter:
		return false
	}
	period := steps - d.savedAfter
	periods := remaining / period
	if !d.boundGrowth(values, float64(periods)) || !d.grownIsNarrow(values) {
		return false
	}
	d.jumpSteps = periods * period
	return remaining == d.jumpSteps && d.addGrowth(values)
}

// boundGrowth sets lowerGrowth and upperGrowth to bounds on the growth in the given number of periods, where
// one period lies between the saved bounds and values. It reports whether they are close enough to be useful.
func (d *stepSkipper) boundGrowth(values *Values, periods float64) bool {
	const minProduct = 0x1p-960 // below it a product of positive numbers may lose its digits
	minGrowth, maxGrowth := math.Inf(1), 0.0
	for s, upper := range values.Upper {
		minGrowth = min(minGrowth, values.Lower[s]-d.savedLower[s])
		maxGrowth = max(maxGrowth, upper-d.savedUpper[s])
		if (maxGrowth-minGrowth)*periods > 2*d.epsilon*(d.savedMax+maxGrowth*periods) {
			return false
		}
	}
	// Each difference, product and sum is rounded once: four units cover that and the rounding of periods.
	downFactor := 1 - 4*unit
	if minGrowth < 0 {
		downFactor = 1 + 4*unit
	}
	d.lowerGrowth = minGrowth * downFactor * periods * downFactor
	d.upperGrowth = maxGrowth * (1 + 4*unit) * periods * (1 + 4*unit)
	if math.Abs(d.lowerGrowth) < minProduct {
		d.lowerGrowth = min(0, math.Copysign(minProduct, minGrowth))
	}
	if maxGrowth > 0 {
		d.upperGrowth = max(d.upperGrowth, minProduct)
	}
	return true
}

// grown returns the bounds of a state when low and high are added.
func (d *stepSkipper) grown(values *Values, s int) (lower, upper float64) {
	lower = (values.Lower[s] + d.lowerGrowth) - 4*unit*(values.Lower[s]+math.Abs(d.lowerGrowth))
	return max(lower, 0), (values.Upper[s] + d.upperGrowth) * (1 + 4*unit)
}

// grownIsNarrow reports whether the bounds are as narrow as asked for when low and high are added.
func (d *stepSkipper) grownIsNarrow(values *Values) bool {
	for s := range values.Upper {
		if lower, upper := d.grown(values, s); !(upper-lower <= d.epsilon/2*upper && upper < math.MaxFloat64) {
			return false
		}
	}
	return true
}

// addGrowth adds the growth to the bounds and returns true, if they stay narrow enough. Otherwise the growth
// is forgotten.
func (d *stepSkipper) addGrowth(values *Values) bool {
	d.jumpSteps = 0
	if !d.grownIsNarrow(values) {
		return false
	}
	for s := range values.Upper {
		values.Lower[s], values.Upper[s] = d.grown(values, s)
	}
	return true
}
