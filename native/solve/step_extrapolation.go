package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// stepExtrapolation takes many steps at once, in models with discrete time. It does so when the values of one period of p
// steps change by q times as much as in the previous period, in every state.
//
// Let T be the equations of p steps, U an upper bound on the values, and D the change in one period. Let s(0) = 0 and
// s(m+1) = 1 + q s(m). Then the values after m periods are at most U + s(m) D, if T(U + s(m) D) is at most U + s(m+1) D
// for each m. If T is convex, it suffices to compute T for the least and the greatest s(m), because the right side is linear in s(m).
// This holds for any D and q, and the optimal choices need not stay the same. For lower bounds T must be concave.
//
// A maximum over choices, or over the distributions of an interval model, is convex, and a minimum is concave. So for upper bounds all
// decisions to minimize are fixed: one choice in each state, and one distribution of each choice. For lower bounds all decisions to maximize
// are fixed. Fixed decisions only make the bounds wider.
//
// A small error c w is allowed, where w is a positive vector. If every choice maps w to at most k w, the errors of
// m periods add up to at most c (1 + k + ... + k^(m-1)) w.
type stepExtrapolation struct {
	system   *equationSystem
	states   []uint32
	epsilon  float64
	numSteps int // the number of steps to take
	// referenceValues has the values after referenceSteps steps, and middleValues those half as many steps later.
	referenceSteps                int
	referenceValues, middleValues *Values
}

const (
	// extrapolationFirst is the first number of steps after which values are saved. It doubles after each attempt that fails.
	// A period has half as many steps: a multiple of 60, which is a multiple of most periods of models.
	extrapolationFirst = 1920
	// extrapolationMinFactor is the least number of steps that remain, as a multiple of those that were taken.
	extrapolationMinFactor = 3
)

// newStepExtrapolation returns an extrapolation for the given total number of steps, or nil if every step must be taken.
func (system *equationSystem) newStepExtrapolation(opts Options, states []uint32, numSteps int) *stepExtrapolation {
	everyStepCounts := opts.Classic || system.stepScheduler != nil || system.rounding.grid != 0
	if everyStepCounts || system.graph.Kind == sparse.CTMC || numSteps < extrapolationFirst*2*(1+extrapolationMinFactor) {
		return nil
	}
	return &stepExtrapolation{system: system, states: states, epsilon: opts.epsilon(), numSteps: numSteps, referenceSteps: extrapolationFirst}
}

// tryToExtrapolate is called before each step, after stepsDone earlier steps. If it can compute narrow bounds after many whole periods, it
// stores them in the system and returns the number of steps that remain after these periods. Otherwise ok is false.
func (extrapolation *stepExtrapolation) tryToExtrapolate(stepsDone int, meter *meter) (remaining int, ok bool, err error) {
	if extrapolation == nil {
		return 0, false, nil
	}
	switch stepsDone {
	case extrapolation.referenceSteps:
		extrapolation.referenceValues = extrapolation.system.values.copyBounds()
	case extrapolation.referenceSteps + extrapolation.referenceSteps/2:
		extrapolation.middleValues = extrapolation.system.values.copyBounds()
	}
	if stepsDone != 2*extrapolation.referenceSteps || extrapolation.numSteps-stepsDone < extrapolationMinFactor*stepsDone {
		return 0, false, nil
	}
	attempt, err := extrapolation.newPeriodChange(stepsDone, meter)
	if err != nil {
		return 0, false, err
	}
	if attempt == nil { // take twice as many steps before the next attempt
		extrapolation.referenceSteps, extrapolation.referenceValues = stepsDone, extrapolation.system.values.copyBounds()
		return 0, false, nil
	}
	extrapolation.referenceSteps = 2 * stepsDone // an attempt takes about as long as the steps before it
	ok, err = attempt.extrapolate()
	if !ok {
		return 0, false, err
	}
	// The extrapolation has taken whole periods from the middle values on, which are one period older than the current values.
	stepsFromMiddle := extrapolation.numSteps - stepsDone + attempt.stepsPerPeriod
	return stepsFromMiddle % attempt.stepsPerPeriod, true, err
}

// copyBounds returns a copy of the bounds.
func (values *Values) copyBounds() *Values {
	return &Values{Lower: slices.Clone(values.Lower), Upper: slices.Clone(values.Upper)}
}

// newPeriodChange prepares an extrapolation from the change of the values in the last period. It returns nil if this change is not a
// multiple of the previous change, or if the optimal decisions differ between the first and the last period.
func (extrapolation *stepExtrapolation) newPeriodChange(stepsDone int, meter *meter) (*periodChange, error) {
	steps := stepsDone / 4
	periods := (extrapolation.numSteps - stepsDone + steps) / steps
	delta, ratio, ok := extrapolation.lastChange(periods)
	if !ok {
		return nil, nil
	}
	result := &periodChange{stepExtrapolation: extrapolation, meter: meter, stepsPerPeriod: steps, numPeriods: periods, changes: delta, ratio: ratio}
	if isSteady, err := result.fixDecisions(); !isSteady || err != nil {
		return nil, err
	}
	return result, nil
}

// lastChange returns the change of each value in the last period, and its ratio to the change in the period before. ok is false if the
// ratio differs between states by more than rounding errors. periods is the number of periods to extrapolate.
func (extrapolation *stepExtrapolation) lastChange(periods int) (change []float64, ratio float64, ok bool) {
	values := extrapolation.system.values
	previousChange := make([]float64, len(values.Lower))
	change = make([]float64, len(values.Lower))
	width, greatest := 0.0, 0.0
	for _, state := range extrapolation.states {
		middle := (extrapolation.middleValues.Lower[state] + extrapolation.middleValues.Upper[state]) / 2
		previousChange[state] = middle - (extrapolation.referenceValues.Lower[state]+extrapolation.referenceValues.Upper[state])/2
		change[state] = (values.Lower[state]+values.Upper[state])/2 - middle
		width = max(width, values.Upper[state]-values.Lower[state])
		greatest = max(greatest, values.Upper[state])
	}
	ratio = leastSquaresRatio(previousChange, change, extrapolation.states)
	maxDeviation := 4*width + extrapolation.epsilon*greatest/sumOfPowers(ratio, periods)
	for _, state := range extrapolation.states {
		if !(math.Abs(change[state]-ratio*previousChange[state]) <= maxDeviation) {
			return nil, 0, false
		}
	}
	return change, ratio, true
}

// leastSquaresRatio returns the number q in [0,1] for which q times the first vector is nearest to the second vector.
func leastSquaresRatio(first, second []float64, states []uint32) float64 {
	product, square := 0.0, 0.0
	for _, state := range states {
		product += first[state] * second[state]
		square += first[state] * first[state]
	}
	if !(square > 0) {
		return 0
	}
	return min(max(product/square, 0), 1)
}

// periodChange is one attempt to extrapolate: the change D of the values in a period, and the numbers that bound the values after
// all periods. Its comments use the names of stepExtrapolation.
type periodChange struct {
	*stepExtrapolation
	meter                       *meter
	stepsPerPeriod, numPeriods  int
	changes                     []float64 // D, of each state
	ratio                       float64   // q
	sumBeforeLast, sumAfterLast float64   // s(m) before and after the last period
	choices                     []uint32  // a choice for each state that is optimal in all periods; nil if there are no decisions
	fixedNature                 *nature   // nature with fixed distributions, which are optimal in all periods; nil without intervals
}

// extrapolate computes bounds on the values after all periods. If they are narrow enough, it writes them to the system and returns true.
func (change *periodChange) extrapolate() (ok bool, err error) {
	if err := change.smoothChange(); err != nil {
		return false, err
	}
	upper, lower, ok, err := change.boundErrors()
	return ok && err == nil && change.writeBounds(upper, lower), err
}

// fixDecisions fixes one choice of each state and one distribution of nature for each choice: those that are optimal for the values in the
// middle of all periods. It reports whether they are also nearly optimal for the first and for the last values.
func (change *periodChange) fixDecisions() (areOptimal bool, err error) {
	sum := sumOfPowers(change.ratio, change.numPeriods)
	middle := change.estimate(sum / 2)
	equations := change.equations(middle)
	choices := make([]uint32, change.system.graph.NumStates())
	hasDecisions := equations.nature != nil
	for _, state := range change.states {
		first, end := change.system.graph.Choices(int(state))
		hasDecisions = hasDecisions || end > first+1
		choices[state] = equations.stepOptimum(int(state)).choice
	}
	if !hasDecisions {
		return true, nil
	}
	change.choices = choices
	if equations.nature != nil {
		if change.fixedNature, err = equations.nature.withFixedDistributions(middle.Lower, change.meter); err != nil {
			return false, err
		}
	}
	return change.decisionsAreOptimal(0) && change.decisionsAreOptimal(sum), nil
}

// estimate returns an estimate of the values: the midpoints of the middle bounds plus factor times the change in one period.
func (change *periodChange) estimate(factor float64) *Values {
	values := change.middleValues.copyBounds()
	for _, state := range change.states {
		estimate := max((values.Lower[state]+values.Upper[state])/2+factor*change.changes[state], 0)
		values.Lower[state], values.Upper[state] = estimate, estimate
	}
	return values
}

// decisionsAreOptimal reports whether the fixed decisions are optimal for an estimate of the values, up to a small loss. The estimate is
// the middle bounds plus factor times the change in one period.
func (change *periodChange) decisionsAreOptimal(factor float64) bool {
	maxLoss := change.epsilon/float64(change.numSteps) + 64*unitRoundoff
	values := change.estimate(factor)
	equations, forUpper, forLower := change.equations(values), change.fixedEquations(values, Min), change.fixedEquations(values, Max)
	for _, state := range change.states {
		best := equations.stepOptimum(int(state))
		_, upper := change.fixedOptimum(forUpper, state, Min)
		lower, _ := change.fixedOptimum(forLower, state, Max)
		if max(upper-best.upper, best.lower-lower) > maxLoss*best.upper {
			return false
		}
	}
	return true
}

// smoothChange removes rounding errors from the change of a period: it replaces the change by its product with the transition matrix of a
// period, divided by the ratio. Then it computes the ratio and its sums again.
func (change *periodChange) smoothChange() error {
	for range 2 {
		product, err := change.applyTransitionMatrix(change.changes)
		if err != nil {
			return err
		}
		change.ratio = leastSquaresRatio(change.changes, product, change.states)
		if change.ratio == 0 {
			break
		}
		for _, state := range change.states {
			product[state] /= change.ratio
		}
		change.changes = product
	}
	change.sumBeforeLast = sumOfPowers(change.ratio, change.numPeriods-1) * (1 + 2*unitRoundoff)
	change.sumAfterLast = sumOfPowers(change.ratio, change.numPeriods)
	return nil
}

// equations returns the equations of one step for other values. The values may exceed 1.
func (change *periodChange) equations(values *Values) *equationSystem {
	system := change.system
	return &equationSystem{
		graph: system.graph, minimize: system.minimize, maximizer: system.maximizer, nature: system.nature, reward: system.reward,
		isOneStep: true, rounding: system.rounding, values: values,
	}
}

// fixedEquations returns the equations of one step for other values. Nature has fixed distributions if its direction is fixed.
func (change *periodChange) fixedEquations(values *Values, fixedDirection Direction) *equationSystem {
	equations := change.equations(values)
	if equations.nature != nil && equations.nature.isMinimizer == (fixedDirection == Min) {
		equations.nature = change.fixedNature
	}
	return equations
}

// fixedOptimum returns bounds on the value of a state after one step, if all decisions in fixedDirection are fixed. The equations are
// those that fixedEquations returns.
func (change *periodChange) fixedOptimum(equations *equationSystem, state uint32, fixedDirection Direction) (lower, upper float64) {
	if change.choices != nil && equations.minimizes(int(state)) == (fixedDirection == Min) {
		bounds := equations.evaluateChoice(int(state), int(change.choices[state]))
		return bounds.lower, bounds.upper
	}
	bounds := equations.stepOptimum(int(state))
	return bounds.lower, bounds.upper
}

// decides reports whether a decision is made in the given direction: by a choice in some state, or by nature.
func (change *periodChange) decides(direction Direction) bool {
	system := change.system
	byChoice := system.maximizer != nil || system.minimize == (direction == Min)
	byNature := system.nature != nil && system.nature.isMinimizer == (direction == Min)
	return change.choices != nil && (byChoice || byNature)
}

// applyTransitionMatrix returns the product of P^p and a vector, where P is the transition matrix that the fixed decisions induce, and p is the number of
// steps of a period.
func (change *periodChange) applyTransitionMatrix(vector []float64) ([]float64, error) {
	current, next := slices.Clone(vector), make([]float64, len(vector))
	multiplyRow := func(state uint32) (work int) {
		next[state], work = change.rowProduct(state, current)
		return work
	}
	swapVectors := func() { current, next = next, current }
	err := change.forEachStep(multiplyRow, swapVectors)
	return current, err
}

// rowProduct multiplies the row of a state in the transition matrix of the fixed decisions by a vector. work is the number of transitions in the row.
func (change *periodChange) rowProduct(state uint32, vector []float64) (product float64, work int) {
	graph := change.system.graph
	choice, _ := graph.Choices(int(state))
	if change.choices != nil {
		choice = int(change.choices[state])
	}
	first, end := graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		prob := graph.Prob(transition)
		if change.fixedNature != nil {
			prob = change.fixedNature.fixedProb[transition]
		}
		product += prob * vector[graph.Target[transition]]
	}
	return product, end - first
}

// boundsAfterPeriod returns bounds on the values after one period. All decisions in fixedDirection are the fixed ones; the others are
// optimal.
func (change *periodChange) boundsAfterPeriod(values *Values, fixedDirection Direction) (*Values, error) {
	equations, nextValues := change.fixedEquations(values.copyBounds(), fixedDirection), values.copyBounds()
	graph := change.system.graph
	evaluateState := func(state uint32) (work int) {
		nextValues.Lower[state], nextValues.Upper[state] = change.fixedOptimum(equations, state, fixedDirection)
		first, end := graph.Choices(int(state))
		return int(graph.FirstTransition[end] - graph.FirstTransition[first])
	}
	swapValues := func() { equations.values, nextValues = nextValues, equations.values }
	err := change.forEachStep(evaluateState, swapValues)
	return equations.values, err
}

// forEachStep runs the steps of a period. In each step it calls evaluate for all states, some of them in parallel, and then swap, which exchanges the old and
// the new values. evaluate returns the number of evaluated transitions.
func (change *periodChange) forEachStep(evaluate func(state uint32) (work int), swap func()) error {
	for range change.stepsPerPeriod {
		err := inBlocks(change.states, change.meter, func(block []uint32) (work int) {
			for _, state := range block {
				work += evaluate(state)
			}
			return work
		})
		if err != nil {
			return err
		}
		swap()
	}
	return nil
}

// sideErrors bounds the errors c w of the upper or of the lower bounds.
type sideErrors struct {
	weights []float64 // w
	sum     float64   // c (1 + k + ... + k^(m-1))
}

// boundErrors bounds the errors of the extrapolated upper bounds and of the extrapolated lower bounds. In each state, the error of a side is at most its sum
// times the weight of the state. ok is false if it cannot bound the errors.
func (change *periodChange) boundErrors() (upper, lower sideErrors, ok bool, err error) {
	lastValues, ok := change.lastValues()
	if !ok {
		return upper, lower, false, nil
	}
	forUpper, err := change.periodEnds(lastValues, Min)
	if err != nil {
		return upper, lower, false, err
	}
	forLower := forUpper
	if change.choices != nil {
		if forLower, err = change.periodEnds(lastValues, Max); err != nil {
			return upper, lower, false, err
		}
	}
	// Rewards are not negative. So the weights grow at most as the upper bounds do, for all decisions to maximize.
	growth := change.greatestQuotient(forUpper.last.Upper, lastValues.Upper)
	upper.weights = lastValues.Upper
	upper.sum = change.sumOfErrors(1, change.middleValues.Upper, forUpper.first.Upper, forUpper.last.Upper, upper.weights, growth)
	lower.weights = lastValues.Upper
	if change.decides(Min) { // all decisions to minimize count, but constant weights never grow
		lower.weights, growth = constantVector(len(lastValues.Upper), 1), 1
	}
	lower.sum = change.sumOfErrors(-1, change.middleValues.Lower, forLower.first.Lower, forLower.last.Lower, lower.weights, growth)
	return upper, lower, true, nil
}

// periodEnds has the values after the first and after the last period.
type periodEnds struct{ first, last *Values }

// periodEnds returns the values after the first and the last period, if all decisions in one direction are fixed. lastValues has the values before
// the last period.
func (change *periodChange) periodEnds(lastValues *Values, fixedDirection Direction) (ends periodEnds, err error) {
	if ends.last, err = change.boundsAfterPeriod(lastValues, fixedDirection); err != nil {
		return ends, err
	}
	ends.first = change.system.values // the values of optimal decisions, which are the fixed ones if nobody decides in the fixed direction
	if change.decides(fixedDirection) {
		ends.first, err = change.boundsAfterPeriod(change.middleValues, fixedDirection)
	}
	return ends, err
}

// constantVector returns a vector of equal numbers.
func constantVector(length int, number float64) []float64 {
	vector := make([]float64, length)
	for i := range vector {
		vector[i] = number
	}
	return vector
}

// lastValues returns bounds on the values before the last period. ok is false if a lower bound is negative: the equations cannot round
// negative numbers.
func (change *periodChange) lastValues() (result *Values, ok bool) {
	result = change.middleValues.copyBounds()
	for _, state := range change.states {
		result.Lower[state], result.Upper[state] = change.boundsAfterGrowth(state, change.sumBeforeLast, 0, 0)
		if result.Lower[state] < 0 {
			return nil, false
		}
	}
	return result, true
}

// extraUnits bounds the rounding error of a few sums and products, as a multiple of the unit roundoff and the sum of the
// absolute values of the operands.
const extraUnits = 16

// boundsAfterGrowth returns a lower bound on L + factor D - below and an upper bound on U + factor D + above for a state. L and U are the
// middle bounds, and D is the change in one period.
func (change *periodChange) boundsAfterGrowth(state uint32, factor, below, above float64) (lower, upper float64) {
	growth := factor * change.changes[state]
	lower, upper = change.middleValues.Lower[state], change.middleValues.Upper[state]
	floor := change.system.rounding.leastBound
	if magnitude := lower + math.Abs(growth) + below; magnitude > 0 {
		lower = lower + growth - below - extraUnits*unitRoundoff*magnitude - 0x1p-1000 // the last term is for underflow
	}
	if magnitude := upper + math.Abs(growth) + above; magnitude > 0 {
		upper = max(upper+growth+above+extraUnits*unitRoundoff*magnitude, floor)
	}
	if lower > 0 && lower < floor {
		lower = 0
	}
	return lower, upper
}

// greatestQuotient returns the greatest quotient after[state]/before[state] over all states, rounded up.
func (change *periodChange) greatestQuotient(after, before []float64) float64 {
	greatest := 0.0
	for _, state := range change.states {
		if after[state] > 0 {
			greatest = max(greatest, after[state]/before[state])
		}
	}
	return greatest * (1 + 2*unitRoundoff)
}

// sumOfErrors returns a bound on the sum of the errors over all periods, relative to the weights. The error of one period is greatest in the first or in
// the last period; each later period multiplies it by at most growth, which bounds the growth of the weights in a period. startBounds has the upper
// bounds if sign is 1, or the lower bounds if sign is -1. afterFirst and afterLast are the values after the first and the last period.
func (change *periodChange) sumOfErrors(sign float64, startBounds, afterFirst, afterLast, weights []float64, growth float64) float64 {
	const maxGrowth = 2 // a greater one makes the bounds useless
	if !(growth < maxGrowth) {
		return math.Inf(1)
	}
	greatest := 0.0
	lastFactor := 1 + change.ratio*change.sumBeforeLast
	for _, state := range change.states {
		excessFirst := excess(sign, afterFirst[state], startBounds[state], change.changes[state])
		excessLast := excess(sign, afterLast[state], startBounds[state], lastFactor*change.changes[state])
		if stateExcess := max(excessFirst, excessLast); stateExcess > 0 {
			greatest = max(greatest, stateExcess/weights[state])
		}
	}
	return greatest * sumOfPowers(growth, change.numPeriods) * (1 + 8*unitRoundoff)
}

// excess returns how far value exceeds start + growth if sign is 1, or falls below it if sign is -1. The result is rounded up, and at least
// 0.
func excess(sign, value, start, growth float64) float64 {
	magnitude := value + start + math.Abs(growth)
	if magnitude == 0 {
		return 0
	}
	return max(sign*(value-start-growth)+extraUnits*unitRoundoff*magnitude+0x1p-1000, 0) // the last term is for underflow
}

// writeBounds stores the extrapolated bounds in the system. If they are wider than epsilon allows, it stores nothing and returns false.
func (change *periodChange) writeBounds(upperErrors, lowerErrors sideErrors) bool {
	values := change.system.values.copyBounds()
	for _, state := range change.states {
		lower, upper := change.boundsAfterGrowth(state, change.sumAfterLast, lowerErrors.sum*lowerErrors.weights[state], upperErrors.sum*upperErrors.weights[state])
		if change.system.isProbability {
			upper = min(upper, 1)
		}
		lower = min(max(lower, 0), upper)
		isNarrow := upper-lower <= change.epsilon/2*upper
		isFinite := upper < math.MaxFloat64 // false for NaN
		if !isNarrow || !isFinite {
			return false
		}
		values.Lower[state], values.Upper[state] = lower, upper
	}
	change.system.values.Lower, change.system.values.Upper = values.Lower, values.Upper
	return true
}
