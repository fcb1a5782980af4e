package solve

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// fewestSteps is the number of steps that are taken one by one before the others may be skipped.
const fewestSteps = 256

// stepLimit tries to bound the values after remaining more steps without taking them. oldLower and oldUpper are the bounds one step
// before those of the system. If the bounds are as narrow as asked for, or nearly as narrow as single steps could make them, it writes them and
// returns true.
type stepLimit func(oldLower, oldUpper []float64, remaining int) (bool, error)

// shouldTryLimit reports whether to call system.stepLimit now: after each power of two, if more steps remain.
func (system *equationSystem) shouldTryLimit(stepsDone, remaining int) bool {
	if system.stepLimit == nil || system.stepScheduler != nil || system.rounding.grid > 0 {
		return false
	}
	return stepsDone >= fewestSteps && isPowerOfTwo(stepsDone) && remaining > stepsDone
}

// isPowerOfTwo reports whether a positive number is a power of two.
func isPowerOfTwo(n int) bool { return n&(n-1) == 0 }

// untilLimit returns a stepLimit for the probability of left U<=k right, where k is large. Lower bounds are the probabilities for fewer
// steps; upper bounds are the probabilities of left U right without a step bound. The system must start with value 1 in right and 0
// elsewhere.
func (system *equationSystem) untilLimit(ctx context.Context, left, right *sparse.Set, direction Direction, opts Options) stepLimit {
	if opts.Classic {
		return nil
	}
	epsilon := opts.epsilon()
	opts.Scheduler, opts.Within, opts.Exact, opts.Epsilon = false, nil, false, epsilon/4
	var unbounded *Values // computed when it is needed
	return func(_, _ []float64, remaining int) (bool, error) {
		const minSteps = 10_000 // fewer steps may take less time than solving the unbounded formula
		if unbounded == nil {
			if remaining < minSteps {
				return false, nil
			}
			var err error
			if unbounded, err = Until(ctx, system.graph, left, right, direction, opts); err != nil {
				system.stepLimit = nil // take single steps instead: there may be time for them
				return false, ctx.Err()
			}
		}
		for state, upper := range unbounded.Upper {
			// If rounding errors have made the bounds wide, more steps cannot make them narrow.
			const allowedWidening = 4
			allowedWidth := max(epsilon/2*upper, allowedWidening*(system.values.Upper[state]-system.values.Lower[state]))
			if upper-system.values.Lower[state] > allowedWidth {
				return false, nil
			}
		}
		copy(system.values.Upper, unbounded.Upper)
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
	// isUniform says that no state grew more than uniformFactor times as much as another one before the bounds were saved.
	isUniform bool
	// When jumpSteps steps remain, they add at least lowerGrowth and at most upperGrowth; jumpSteps is 0 while
	// these are unknown.
	jumpSteps                int
	lowerGrowth, upperGrowth float64
}

// newStepSkipper returns a stepSkipper for the equations of the system, or nil if every step must be taken.
func (system *equationSystem) newStepSkipper(opts Options) *stepSkipper {
	if opts.Classic || system.graph.Kind == sparse.CTMC {
		return nil
	}
	return &stepSkipper{epsilon: opts.epsilon()}
}

// trySkip is called before each step; stepsDone is the number of earlier steps. It tries to replace the remaining steps by a multiple of the
// growth since bounds were saved, and reports whether it wrote the final bounds to values. It saves the bounds when stepsDone is a power of
// two.
func (skipper *stepSkipper) trySkip(values *Values, stepsDone, remaining int) bool {
	switch {
	case skipper.jumpSteps > 0: // a jump over the last jumpSteps steps is planned
		return remaining == skipper.jumpSteps && skipper.addGrowth(values)
	case stepsDone >= fewestSteps && isPowerOfTwo(stepsDone) && remaining > stepsDone:
		skipper.isUniform = skipper.savedAfter > 0 && skipper.growsUniformly(values)
		skipper.savedLower = append(skipper.savedLower[:0], values.Lower...)
		skipper.savedUpper = append(skipper.savedUpper[:0], values.Upper...)
		skipper.savedAfter = stepsDone
		skipper.savedMax = slices.Max(values.Upper)
		return false
	case skipper.savedAfter == 0 || remaining < stepsDone-skipper.savedAfter:
		return false
	}
	period := stepsDone - skipper.savedAfter
	periods := remaining / period
	if !skipper.boundGrowth(values, float64(periods)) || !skipper.areGrownBoundsNarrow(values) {
		return false
	}
	skipper.jumpSteps = periods * period
	return remaining == skipper.jumpSteps && skipper.addGrowth(values)
}

const (
	// uniformFactor is the greatest quotient of the growth of two states for which it is worthwhile to wait for equal growth.
	uniformFactor = 4
	// skipperPatience is the number of single steps after which other methods no longer wait for stepSkipper.
	skipperPatience = 1 << 14
)

// growsUniformly reports whether no state has grown more than uniformFactor times as much as another one since the saved bounds.
func (skipper *stepSkipper) growsUniformly(values *Values) bool {
	minGrowth, maxGrowth := math.Inf(1), 0.0
	for state, lower := range values.Lower {
		growth := lower - skipper.savedLower[state]
		minGrowth, maxGrowth = min(minGrowth, growth), max(maxGrowth, growth)
	}
	return minGrowth > 0 && maxGrowth <= uniformFactor*minGrowth
}

// expectsToSkip reports whether the skipper will probably skip the remaining steps after a few more steps, so other methods should wait.
// It is false for a nil skipper.
func (skipper *stepSkipper) expectsToSkip(stepsDone, remaining int) bool {
	return skipper != nil && skipper.isUniform && stepsDone < skipperPatience && remaining >= geometricMinFactor*stepsDone
}

// boundGrowth bounds the growth of all values in the given number of periods by multiples of the growth since bounds were saved. It reports
// whether the two bounds on the growth are close enough to be useful.
func (skipper *stepSkipper) boundGrowth(values *Values, periods float64) bool {
	const minProduct = 0x1p-960 // far above the denormal numbers, which have fewer digits
	minGrowth, maxGrowth := math.Inf(1), 0.0
	for state, upper := range values.Upper {
		minGrowth = min(minGrowth, values.Lower[state]-skipper.savedLower[state])
		maxGrowth = max(maxGrowth, upper-skipper.savedUpper[state])
		if (maxGrowth-minGrowth)*periods > 2*skipper.epsilon*(skipper.savedMax+maxGrowth*periods) {
			return false
		}
	}
	// Each difference, product and sum is rounded once, and so is periods. The factors of four units exceed these errors.
	downFactor := 1 - 4*unitRoundoff
	if minGrowth < 0 {
		downFactor = 1 + 4*unitRoundoff
	}
	skipper.lowerGrowth = minGrowth * downFactor * periods * downFactor
	skipper.upperGrowth = maxGrowth * (1 + 4*unitRoundoff) * periods * (1 + 4*unitRoundoff)
	if math.Abs(skipper.lowerGrowth) < minProduct {
		skipper.lowerGrowth = min(0, math.Copysign(minProduct, minGrowth))
	}
	if maxGrowth > 0 {
		skipper.upperGrowth = max(skipper.upperGrowth, minProduct)
	}
	return true
}

// grownBounds returns the bounds of a state plus lowerGrowth and upperGrowth, rounded outwards.
func (skipper *stepSkipper) grownBounds(values *Values, state int) (lower, upper float64) {
	lower = (values.Lower[state] + skipper.lowerGrowth) - 4*unitRoundoff*(values.Lower[state]+math.Abs(skipper.lowerGrowth))
	return max(lower, 0), (values.Upper[state] + skipper.upperGrowth) * (1 + 4*unitRoundoff)
}

// areGrownBoundsNarrow reports whether the bounds of all states will be narrow enough after the growth is added.
func (skipper *stepSkipper) areGrownBoundsNarrow(values *Values) bool {
	for state := range values.Upper {
		lower, upper := skipper.grownBounds(values, state)
		isNarrow := upper-lower <= skipper.epsilon/2*upper
		if !isNarrow || !(upper < math.MaxFloat64) {
			return false
		}
	}
	return true
}

// addGrowth adds lowerGrowth and upperGrowth to the bounds. If the results would be too wide, it changes nothing and returns false.
func (skipper *stepSkipper) addGrowth(values *Values) bool {
	skipper.jumpSteps = 0
	if !skipper.areGrownBoundsNarrow(values) {
		return false
	}
	for state := range values.Upper {
		values.Lower[state], values.Upper[state] = skipper.grownBounds(values, state)
	}
	return true
}
