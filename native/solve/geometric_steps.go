package solve

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// geometricSteps takes many steps of a chain whose first values are 0. One step replaces the values x of the maybe states by A x + b.
// So the values after k steps are the sum of the increments d(0), ..., d(k-1), with d(0) = b and d(i+1) = A d(i).
//
// The increments are computed until an increment is nearly a multiple of the increment p steps before. Then a geometric series bounds
// all later increments: A is monotone, so A^p d <= q d in every state implies A^(jp) d <= q^j d for every j. The lower bounds are
// symmetric. Every p is sound. In a periodic chain a multiple of the period gives narrow bounds.
//
// Source: Collatz and Wielandt (1942), for bounds on the spectral radius of A by such quotients q.
type geometricSteps struct {
	system        *equationSystem
	epsilon       float64
	numIncrements int // the number of increments to add
	current       *increments
	// reference has the increments at a power of two. Later increments are compared with it. It is nil before the first power.
	reference *increments
}

// increments has bounds on the increment d(count) of each maybe state, and on the sum of the increments
// before it. Other states have 0. The bounds on the sum do not cover the rounding errors of its additions.
type increments struct {
	count                int
	equations            *equationSystem // d(i+1) = A d(i)
	states               []uint32
	sumLower, sumUpper   []float64
	nextLower, nextUpper []float64
}

// After geometricAfter steps, geometricSteps begins again with the first step. At least geometricMinFactor times as many steps must
// remain, so the repeated steps take little time.
const (
	geometricAfter     = 4096
	geometricMinFactor = 16
)

// allowsGeometricSteps reports whether geometricSteps can compute numSteps steps of the given states. The states must form a Markov chain, their current
// values must be 0, and the steps must be many.
func (system *equationSystem) allowsGeometricSteps(opts Options, states []uint32, numSteps int) bool {
	everyStepCounts := opts.Classic || system.stepScheduler != nil || system.rounding.grid != 0
	if everyStepCounts || system.nature != nil || system.graph.Kind == sparse.CTMC || numSteps < geometricAfter*(1+geometricMinFactor) {
		return false
	}
	for _, state := range states {
		first, end := system.graph.Choices(int(state))
		hasSeveralChoices := end-first > 1
		if hasSeveralChoices || system.values.Upper[state] > 0 {
			return false
		}
	}
	return true
}

// newGeometricSteps prepares the computation of numSteps steps of the given states. It sets the values of the states to 0. The first increment is the values
// after one step.
func (system *equationSystem) newGeometricSteps(opts Options, states []uint32, numSteps int) *geometricSteps {
	for _, state := range states {
		system.values.Lower[state], system.values.Upper[state] = 0, 0
	}
	numStates := system.graph.NumStates()
	current := &increments{
		states:   states,
		sumLower: make([]float64, numStates), sumUpper: make([]float64, numStates),
		nextLower: make([]float64, numStates), nextUpper: make([]float64, numStates),
	}
	firstValues := &Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates)}
	system.stepBlock(states, firstValues.Lower, firstValues.Upper)
	current.equations = &equationSystem{graph: system.graph, minimize: system.minimize, isOneStep: true, rounding: system.rounding, values: firstValues}
	return &geometricSteps{system: system, epsilon: opts.epsilon(), numIncrements: numSteps, current: current}
}

// run adds the increments of single steps until all are added, or until a geometric series bounds the sum of the remaining ones. It stores the bounds of the
// values.
func (steps *geometricSteps) run(meter *meter) error {
	for steps.current.count < steps.numIncrements {
		if err := steps.current.addIncrement(meter); err != nil {
			return err
		}
		if steps.reference != nil {
			if done, err := steps.tryFinish(meter); done || err != nil {
				return err
			}
		}
		if count := steps.current.count; count >= fewestSteps && isPowerOfTwo(count) {
			steps.reference = steps.current.clone()
		}
	}
	steps.writeBounds(steps.current, nil, geometricSum{})
	return nil
}

// addIncrement adds the current increment to the sum, and computes the next increment.
func (increments *increments) addIncrement(meter *meter) error {
	current := increments.equations.values
	for _, state := range increments.states {
		increments.sumLower[state] += current.Lower[state]
		increments.sumUpper[state] += current.Upper[state]
	}
	if _, err := increments.equations.stepInBlocks(increments.states, increments.nextLower, increments.nextUpper, nil, meter); err != nil {
		return err
	}
	current.Lower, increments.nextLower = increments.nextLower, current.Lower
	current.Upper, increments.nextUpper = increments.nextUpper, current.Upper
	increments.count++
	meter.progress.Done = max(meter.progress.Done, increments.count)
	return nil
}

// clone returns a copy of the increments that shares no memory with them.
func (increments *increments) clone() *increments {
	copied, equations := *increments, *increments.equations
	equations.values = &Values{Lower: slices.Clone(increments.equations.values.Lower), Upper: slices.Clone(increments.equations.values.Upper)}
	copied.equations = &equations
	copied.sumLower = slices.Clone(increments.sumLower)
	copied.sumUpper = slices.Clone(increments.sumUpper)
	copied.nextLower = make([]float64, len(increments.nextLower)) // scratch memory, which the next step overwrites
	copied.nextUpper = make([]float64, len(increments.nextUpper))
	return &copied
}

// tryFinish tries to bound the sum of all increments after the reference by a geometric series, whose terms are the sums of a period of several steps. If
// the bounds are narrow, it stores them and returns true.
func (steps *geometricSteps) tryFinish(meter *meter) (finished bool, err error) {
	period := steps.current.count - steps.reference.count
	remaining := steps.numIncrements - steps.reference.count
	if remaining < period {
		return false, nil
	}
	periods, remainder := remaining/period, remaining%period
	minQuotient, maxQuotient, ok := steps.quotientBounds(float64(periods), period == steps.reference.count)
	if !ok {
		return false, nil
	}
	series := newGeometricSum(minQuotient, maxQuotient, periods)
	if !steps.estimateIsNarrow(series) {
		return false, nil
	}
	// Add the increments that do not fill a whole period one by one, so that whole periods remain.
	beforePeriods := steps.reference.clone()
	if err := beforePeriods.addIncrements(remainder, meter); err != nil {
		return false, err
	}
	firstPeriod := beforePeriods.clone()
	clear(firstPeriod.sumLower)
	clear(firstPeriod.sumUpper)
	if err := firstPeriod.addIncrements(period, meter); err != nil {
		return false, err
	}
	if !steps.boundsAreNarrow(beforePeriods, firstPeriod, series) {
		return false, nil
	}
	steps.writeBounds(beforePeriods, firstPeriod, series)
	return true, nil
}

// addIncrements adds the given number of increments.
func (increments *increments) addIncrements(count int, meter *meter) error {
	for range count {
		if err := increments.addIncrement(meter); err != nil {
			return err
		}
	}
	return nil
}

// quotientBounds returns bounds on the quotient of the current increment and the reference increment, over all states. ok is false if the quotient has no
// finite bound. Unless acceptWide is set, ok is also false if the quotients of the states differ so much that the bounds after the given number of periods
// cannot be narrow.
func (steps *geometricSteps) quotientBounds(periods float64, acceptWide bool) (minQuotient, maxQuotient float64, ok bool) {
	const allowedSpread = 8 // the greatest difference of the quotients, times the number of periods, in units of epsilon
	minQuotient = math.Inf(1)
	reference, current := steps.reference.equations.values, steps.current.equations.values
	for _, state := range steps.current.states {
		if reference.Lower[state] > 0 {
			minQuotient = min(minQuotient, current.Lower[state]/reference.Lower[state])
		}
		switch {
		case reference.Upper[state] > 0:
			maxQuotient = max(maxQuotient, current.Upper[state]/reference.Upper[state])
		case current.Upper[state] > 0:
			return 0, 0, false
		}
		effectivePeriods := periods
		if maxQuotient < 1 {
			effectivePeriods = min(effectivePeriods, 1/(1-maxQuotient))
		}
		if !acceptWide && (maxQuotient-minQuotient)*effectivePeriods > allowedSpread*steps.epsilon {
			return 0, 0, false
		}
	}
	if math.IsInf(minQuotient, 1) {
		minQuotient = 0
	}
	return minQuotient * (1 - 2*unitRoundoff), maxQuotient * (1 + 2*unitRoundoff), maxQuotient < math.MaxFloat64
}

// geometricSum has bounds on the sum 1 + q + q² + ... with one term for each period.
type geometricSum struct{ lower, upper float64 }

// newGeometricSum returns bounds on 1 + q + q² + ... with the given number of terms, for a quotient q between minQuotient and maxQuotient.
func newGeometricSum(minQuotient, maxQuotient float64, terms int) geometricSum {
	return geometricSum{lower: sumOfPowers(minQuotient, terms) * (1 - 2*unitRoundoff), upper: sumOfPowers(maxQuotient, terms) * (1 + 2*unitRoundoff)}
}

// sumOfPowers returns 1 + ratio + ratio² + ... + ratio^(terms-1), rounded to nearest.
func sumOfPowers(ratio float64, terms int) float64 {
	bigFloat := func(x float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(x) }
	if ratio == 1 {
		return float64(terms)
	}
	// The sum is (1 - ratio^terms) / (1 - ratio). The two differences lose at most 54 of the 256 bits by cancellation.
	power, square := bigFloat(1), bigFloat(ratio)
	for exponent := terms; exponent > 0; exponent >>= 1 {
		if exponent&1 != 0 {
			power.Mul(power, square)
		}
		square.Mul(square, square)
	}
	numerator := bigFloat(0).Sub(bigFloat(1), power)
	denominator := bigFloat(0).Sub(bigFloat(1), bigFloat(ratio))
	sum, _ := numerator.Quo(numerator, denominator).Float64()
	return sum
}

// estimateIsNarrow reports whether the geometric series will probably give narrow bounds. The caller asks before it computes the first period.
func (steps *geometricSteps) estimateIsNarrow(series geometricSum) bool {
	// The sum of the increments since the reference approximates the sum of the first period.
	for _, state := range steps.current.states {
		lower, upper := steps.reference.sumLower[state], steps.reference.sumUpper[state]
		lower += series.lower * (steps.current.sumLower[state] - lower)
		upper += series.upper * (steps.current.sumUpper[state] - upper)
		if !steps.isNarrow(lower, upper) {
			return false
		}
	}
	return true
}

// isNarrow reports whether bounds are narrow enough.
func (steps *geometricSteps) isNarrow(lower, upper float64) bool {
	return upper-lower <= steps.epsilon/2*upper && upper < math.MaxFloat64
}

// stateBounds returns bounds on the value of a state, which is the sum of its increments. The increments before the first period are added one by one; those
// of all periods together are the sum of the first period times the geometric series. firstPeriod is nil if there are no periods.
func (steps *geometricSteps) stateBounds(state uint32, beforePeriods, firstPeriod *increments, series geometricSum) (lower, upper float64) {
	lower, upper = beforePeriods.sumLower[state], beforePeriods.sumUpper[state]
	numAdditions := beforePeriods.count
	if firstPeriod != nil {
		lower += series.lower * firstPeriod.sumLower[state]
		upper += series.upper * firstPeriod.sumUpper[state]
		numAdditions = firstPeriod.count + 2
	}
	relErr := wideErrMargin * float64(numAdditions+4) * unitRoundoff
	lower, upper = steps.system.rounding.roundDown(lower, relErr), steps.system.rounding.roundUp(upper, relErr)
	if steps.system.isProbability {
		upper = min(upper, 1)
	}
	return min(lower, upper), upper
}

// boundsAreNarrow reports whether the bounds of all states are narrow enough.
func (steps *geometricSteps) boundsAreNarrow(beforePeriods, firstPeriod *increments, series geometricSum) bool {
	for _, state := range steps.current.states {
		if !steps.isNarrow(steps.stateBounds(state, beforePeriods, firstPeriod, series)) {
			return false
		}
	}
	return true
}

// writeBounds writes the bounds on the values of all states to the system.
func (steps *geometricSteps) writeBounds(beforePeriods, firstPeriod *increments, series geometricSum) {
	for _, state := range steps.current.states {
		steps.system.values.Lower[state], steps.system.values.Upper[state] = steps.stateBounds(state, beforePeriods, firstPeriod, series)
	}
}
