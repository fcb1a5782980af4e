package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// solveByElimination solves a component by policy iteration, which evaluates each scheduler by Gaussian elimination or, if that exceeds the budget of
// operations, by Bi-CGSTAB. proved says that it has stored proved bounds. overBudget says that a larger budget may help.
func (local *localSystem) solveByElimination(meter *meter, epsilon, budget float64) (proved, overBudget bool, err error) {
	solver, values, err := local.solveOptimum(meter, budget)
	if err != nil {
		return false, false, err
	}
	if values != nil {
		proved, err = local.acceptSolution(solver, meter, values, epsilon)
	}
	local.isExtended = proved && solver.extendedFactors != nil
	if proved || err != nil {
		return proved, false, err
	}
	local.sweepsTooSlow = solver.hasSlowExit(meter)
	return false, solver.exceedsBudget, nil
}

// solveOptimum solves the equations by policy iteration in float64. If numbers leave the range of float64, it solves them again with extended numbers, which
// have a larger exponent.
func (local *localSystem) solveOptimum(meter *meter, budget float64) (solver *eliminationSolver, values []float64, err error) {
	solver = newEliminationSolver(local, budget)
	values, err = solver.policyIteration(meter, local.minimize, solver.constant)
	if err != nil || !solver.leavesFloatRange(meter, values) {
		return solver, values, err
	}
	solver = newEliminationSolver(local, budget)
	solver.extendedFactors = new(extendedFactors)
	values, err = solver.policyIteration(meter, local.minimize, solver.constant)
	return solver, values, err
}

// acceptSolution tries to prove bounds around a solution, with a relative width of at most epsilon if possible, and stores them. It tries cheap proofs
// first. A proof shows that the bounds are inductive, or that the scheduler is optimal and the error of the elimination is small.
func (local *localSystem) acceptSolution(solver *eliminationSolver, meter *meter, values []float64, epsilon float64) (proved bool, err error) {
	const maxRelErr = 1e-3 // the greatest relative error for the last attempt, which accepts bounds that are wider than epsilon
	relErr := solver.relErr + solver.perturbation()
	scheduler := slices.Clone(solver.currentChoices)
	isGridCoarse := local.rounding.grid > 0
	isErrorKnown := !isGridCoarse && !solver.exceedsBudget && solver.isSafeFromUnderflow(values)
	areInputsExact := local.inheritedWidth <= epsilon*negligibleInherited
	if isErrorKnown && areInputsExact && relErr <= epsilon && local.acceptIfOptimal(scheduler, values, relErr) {
		return true, nil
	}
	lowValues, highValues, err := solver.solveConstantBounds(meter, values)
	if err != nil {
		return false, err
	}
	// First try inductive bounds with the requested width, in float64 and then in double-word arithmetic.
	if ok, err := local.proveAround(solver, meter, values, lowValues, highValues, epsilon); ok || err != nil {
		return ok, err
	}
	if isErrorKnown && areInputsExact && solver.perturbation() <= epsilon && solver.extendedFactors == nil {
		solver.resetScheduler(scheduler)
		if ok, err := local.solveInDoubleWords(solver, meter, values); ok || err != nil {
			return ok, err
		}
	}
	// Then try inductive bounds of any width.
	if !solver.exceedsBudget {
		solver.resetScheduler(scheduler)
		if ok, err := local.proveAround(solver, meter, values, lowValues, highValues, math.Inf(1)); ok || err != nil {
			return ok, err
		}
	}
	return isErrorKnown && relErr < maxRelErr && local.acceptIfOptimal(scheduler, values, relErr), nil
}

// proveAround tries to prove inductive bounds slightly below lowValues and slightly above highValues, with a relative width of at most maxWidth. It reports
// whether it stored such bounds. lowValues and highValues are the solutions for the lower and the upper bounds of the constants; values is a solution
// between them.
func (local *localSystem) proveAround(solver *eliminationSolver, meter *meter, values, lowValues, highValues []float64, maxWidth float64) (proved bool, err error) {
	const wideDelta, narrowDelta = 1e-3, 1e-9
	for _, fixScheduler := range []bool{true, false} { // try the slack under the current scheduler, and then the greatest slack of all schedulers
		slack, err := solver.solveSlack(meter, values, fixScheduler)
		if err != nil {
			return false, err
		}
		if slack == nil || lowValues == nil || highValues == nil {
			continue
		}
		maxDelta := wideDelta
		if fixScheduler { // the other slack may prove narrower bounds, so do not accept wide bounds yet
			maxDelta = narrowDelta
		}
		if local.proveInductive(lowValues, highValues, slack, maxDelta, maxWidth) {
			return true, nil
		}
	}
	return false, nil
}

// resetScheduler restores a scheduler that policy iteration may have changed.
func (solver *eliminationSolver) resetScheduler(scheduler []uint32) {
	if !slices.Equal(solver.currentChoices, scheduler) {
		copy(solver.currentChoices, scheduler)
		solver.areFactorsCurrent = false
	}
}

// leavesFloatRange reports whether elimination failed because numbers leave the range of float64. values is its result, or nil.
func (solver *eliminationSolver) leavesFloatRange(meter *meter, values []float64) bool {
	if solver.exceedsBudget || solver.isCycling || solver.equations.hasUnderflow {
		return false
	}
	return values == nil || !solver.isSafeFromUnderflow(values) && solver.hasSlowExit(meter)
}

// hasSlowExit reports whether the current scheduler needs more than 2^40 expected steps to leave the component. Sweeps are too slow then.
func (solver *eliminationSolver) hasSlowExit(meter *meter) bool {
	if !solver.areFactorsCurrent {
		return false
	}
	steps, _ := solver.solve(meter, func(int) float64 { return 1 })
	return steps == nil || slices.Max(steps) > 0x1p40
}

// negligibleInherited is the share of the allowed width below which the width of the constants is ignored.
const negligibleInherited = 1e-3

// solveConstantBounds returns the solutions under the current scheduler if all constants have their lower bounds, and if all have their upper bounds. values
// is the solution for the midpoints of the constants.
func (solver *eliminationSolver) solveConstantBounds(meter *meter, values []float64) (lowValues, highValues []float64, err error) {
	equations := solver.equations
	if equations.inheritedWidth == 0 && !equations.hasUnderflow && equations.inheritedAbsWidth == 0 {
		return values, values, nil
	}
	solver.initialGuess = values
	lowValues, err = solver.solve(meter, func(unknown int) float64 { return solver.chosenConstant(equations.lowerConstants, unknown) })
	if err != nil {
		return nil, nil, err
	}
	highValues, err = solver.solve(meter, func(unknown int) float64 { return solver.chosenConstant(equations.upperConstants, unknown) })
	return lowValues, highValues, err
}

// chosenConstant returns the constant of the current choice of an unknown, or 0 without a choice. constants has one entry for each choice.
func (solver *eliminationSolver) chosenConstant(constants []float64, unknown int) float64 {
	if choice := solver.currentChoices[unknown]; choice != sparse.None {
		return constants[choice]
	}
	return 0
}

// gridSlack is the part of a slack vector that covers the rounding to the grid, in units of the grid.
const gridSlack = 0x1p39

// solveSlack returns the slack vector w of a proof of inductive bounds, with w = P w + values under the current scheduler. Unless fixScheduler is set, w is
// the maximum over all schedulers, if all of them leave the component. If bounds are rounded to a grid, a multiple of the grid is added to values, as room
// for this rounding.
func (solver *eliminationSolver) solveSlack(meter *meter, values []float64, fixScheduler bool) ([]float64, error) {
	rightSide := func(unknown int) float64 { return values[unknown] + solver.equations.rounding.grid*gridSlack }
	const roughly, maximize = 0.1, false // a rough slack is enough, because the bounds are proved afterwards
	solver.initialGuess, solver.precision = values, roughly
	mayStay := solver.equations.minimize && solver.equations.hasRewards
	if fixScheduler || mayStay {
		return solver.solve(meter, rightSide)
	}
	return solver.policyIteration(meter, maximize, rightSide)
}

// proveInductive searches for a number delta up to maxDelta for which lowValues - delta*slack and highValues + delta*slack are inductive bounds. If it finds
// one and the relative width of the bounds is at most maxWidth, it stores the bounds and returns true.
func (local *localSystem) proveInductive(lowValues, highValues, slack []float64, maxDelta, maxWidth float64) bool {
	lower, upper := make([]float64, len(slack)), make([]float64, len(slack))
	// The slack w satisfies w = P w + x. So one sweep improves the bounds by delta x, which must exceed the rounding errors of the sweep.
	isNarrow := true
	for delta := 0x1p-50; delta < maxDelta && isNarrow; delta *= 4 {
		isNarrow = local.setBoundsAround(lower, upper, lowValues, highValues, slack, delta, maxWidth)
		if !isNarrow && !local.setBoundsAround(lower, upper, lowValues, highValues, slack, delta/2, maxWidth) {
			return false
		}
		if scheduler, ok := local.provesBounds(lower, upper); ok {
			local.acceptBounds(lower, upper, scheduler)
			return true
		}
	}
	return false
}

// setBoundsAround sets the bounds to lowValues - delta*slack and highValues + delta*slack. It returns false, and stops early, if the relative width of some
// bounds exceeds maxWidth.
func (local *localSystem) setBoundsAround(lower, upper, lowValues, highValues, slack []float64, delta, maxWidth float64) bool {
	for unknown := range slack {
		local.setBounds(lower, upper, unknown, lowValues[unknown], highValues[unknown], delta*slack[unknown])
		if upper[unknown]-lower[unknown] > maxWidth*upper[unknown] {
			return false
		}
	}
	return true
}

// setBounds sets the bounds of an unknown to low - spread and high + spread, rounded to the grid.
func (local *localSystem) setBounds(lower, upper []float64, unknown int, low, high, spread float64) {
	lower[unknown] = local.rounding.floorToGrid(max(low-spread, 0))
	upper[unknown] = local.rounding.ceilToGrid(high + spread)
	if local.isProbability {
		upper[unknown] = min(upper[unknown], 1)
	}
}

// acceptBounds stores new bounds and, if it is requested, the scheduler.
func (local *localSystem) acceptBounds(lower, upper []float64, scheduler []uint32) {
	local.lower, local.upper = lower, upper
	if local.scheduler != nil {
		local.scheduler = scheduler
	}
}

// provesBounds reports whether bounds are inductive: one sweep lowers no lower bound and raises no upper bound. It returns the scheduler that attains the
// lower bounds of a maximum, or the upper bounds of a minimum.
func (local *localSystem) provesBounds(lower, upper []float64) (scheduler []uint32, ok bool) {
	// An inductive upper bound is at least the least solution. An inductive lower bound is at most the least solution, because every
	// scheduler leaves the component or has infinite reward.
	scheduler = make([]uint32, len(lower))
	for unknown := range lower {
		newLower, lowerChoice := local.newLowerBound(unknown, lower)
		newUpper, upperChoice := local.newUpperBound(unknown, upper)
		if newLower < lower[unknown] || newUpper > upper[unknown] {
			return nil, false
		}
		scheduler[unknown] = lowerChoice
		if local.minimize {
			scheduler[unknown] = upperChoice
		}
	}
	return scheduler, true
}

// acceptIfOptimal checks whether a scheduler with the given values is certainly optimal. If so, it stores the values plus and minus their relative error as
// bounds, and returns true.
func (local *localSystem) acceptIfOptimal(scheduler []uint32, values []float64, relErr float64) bool {
	if !local.isOptimal(scheduler, values, relErr) {
		return false
	}
	lower, upper := make([]float64, len(values)), make([]float64, len(values))
	for unknown := range values {
		const margin = 1.01 // a margin for rounding errors in relErr and in the product
		local.setBounds(lower, upper, unknown, values[unknown], values[unknown], margin*relErr*values[unknown])
	}
	local.acceptBounds(lower, upper, scheduler)
	return true
}

// isOptimal reports whether certainly no choice is better than the choice of the scheduler. relErr bounds the relative error of values, the values under the
// scheduler.
func (local *localSystem) isOptimal(scheduler []uint32, values []float64, relErr float64) bool {
	for unknown, current := range scheduler {
		for choice := local.choiceStarts[unknown]; choice < local.choiceStarts[unknown+1]; choice++ {
			if choice != current && !local.cannotImprove(unknown, choice, values, relErr) && !local.haveSameEquation(choice, current) {
				return false
			}
		}
	}
	return true
}

// isSafeFromUnderflow reports whether underflow certainly has no noticeable effect on the solution.
func (solver *eliminationSolver) isSafeFromUnderflow(values []float64) bool {
	if solver.equations.hasUnderflow {
		return false
	}
	if solver.extendedFactors != nil { // elimination cannot underflow, but choices are compared in float64
		return allWithin(values, 0x1p-900, 0x1p1010)
	}
	// An amount that is lost by underflow changes a value by at most this amount times the expected number of steps until the component is left.
	steps := solver.substitute(func(int) float64 { return 1 })
	return allWithin(values, 0x1p-300, 0x1p300) && steps != nil && slices.Max(steps) <= 0x1p200
}

// allWithin reports whether all values are between minimum and maximum.
func allWithin(values []float64, minimum, maximum float64) bool {
	return slices.Min(values) >= minimum && slices.Max(values) <= maximum
}

// cannotImprove reports whether a choice certainly does not improve the value of its unknown. relErr bounds the relative error of all values.
func (local *localSystem) cannotImprove(unknown int, choice uint32, values []float64, relErr float64) bool {
	// The weights of a choice sum to 1, so its gain is a sum of weight * (value of target - current value). If these differences are small, so are the errors.
	current := values[unknown]
	constant := local.lowerConstants[choice]
	if !local.minimize {
		constant = local.upperConstants[choice]
	}
	// gain is the value of the choice minus the current value, magnitude the sum of the absolute values of its terms.
	gain, magnitude := constant-local.exitWeights[choice]*current, constant+local.exitWeights[choice]*current
	sumOfValues := 0.0
	for i := local.termStarts[choice]; i < local.termStarts[choice+1]; i++ {
		weight, targetValue := local.termWeights[i], values[local.termColumns[i]]
		gain += weight * (targetValue - current)
		magnitude += weight * math.Abs(targetValue-current)
		sumOfValues += weight * (targetValue + current)
	}
	gainErr := errMargin * (local.evaluationErrs[choice]*magnitude + relErr*(sumOfValues+local.exitWeights[choice]*current))
	if local.minimize {
		return gain-gainErr >= 0
	}
	return gain+gainErr <= 0
}

// haveSameEquation reports whether two choices have the same equation, up to rounding errors of its numbers. It returns false if right is sparse.None.
func (local *localSystem) haveSameEquation(left, right uint32) bool {
	if right == sparse.None || !slices.Equal(local.columns(left), local.columns(right)) {
		return false
	}
	relErr := min(local.evaluationErrs[left], local.evaluationErrs[right])
	isClose := func(a, b float64) bool { return math.Abs(a-b) <= relErr*min(a, b) }
	firstLeft, firstRight := local.termStarts[left], local.termStarts[right]
	for offset := range local.termStarts[left+1] - firstLeft {
		if !isClose(local.termWeights[firstLeft+offset], local.termWeights[firstRight+offset]) {
			return false
		}
	}
	return isClose(local.lowerConstants[left], local.lowerConstants[right]) &&
		isClose(local.upperConstants[left], local.upperConstants[right]) &&
		isClose(local.exitWeights[left], local.exitWeights[right])
}

// properScheduler returns a scheduler that leaves the component with probability one. It searches backwards, from the unknowns with a choice that can leave
// the component.
func (local *localSystem) properScheduler() []uint32 {
	numUnknowns := len(local.choiceStarts) - 1
	scheduler := make([]uint32, numUnknowns)
	columnUses := local.columnUses()
	canExit := make([]bool, numUnknowns)
	var queue []uint32
	for unknown := range numUnknowns {
		if scheduler[unknown], canExit[unknown] = local.exitChoice(unknown); canExit[unknown] {
			queue = append(queue, uint32(unknown))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, choice := range columnUses.usesOf(queue[0]) {
			if unknown := columnUses.owners[choice]; !canExit[unknown] {
				scheduler[unknown], canExit[unknown] = choice, true
				queue = append(queue, unknown)
			}
		}
	}
	return scheduler
}

// exitChoice returns the first choice of an unknown that has a transition out of the component. An unknown without choices counts as outside of the
// component, with the result sparse.None and true.
func (local *localSystem) exitChoice(unknown int) (choice uint32, canExit bool) {
	first, end := local.choiceStarts[unknown], local.choiceStarts[unknown+1]
	for candidate := first; candidate < end; candidate++ {
		if local.exitWeights[candidate] > 0 {
			return candidate, true
		}
	}
	return sparse.None, first == end
}

// columnIndex lists, for each unknown, the choices that have a term in it: the matrix of the equations, transposed and without
// weights. owners is the unknown of each choice.
type columnIndex struct {
	starts, choiceList, owners []uint32
}

func (index *columnIndex) usesOf(unknown uint32) []uint32 {
	return index.choiceList[index.starts[unknown]:index.starts[unknown+1]]
}

// columnUses returns an index that has, for each unknown, the choices whose equations contain the unknown.
func (local *localSystem) columnUses() *columnIndex {
	numUnknowns := len(local.choiceStarts) - 1
	index := &columnIndex{
		starts: make([]uint32, numUnknowns+2), choiceList: make([]uint32, len(local.termColumns)), owners: make([]uint32, len(local.exitWeights)),
	}
	// This is a counting sort. After the sums, starts[unknown+1] is the index for the next use of an unknown; in the end it is the start of unknown+1.
	for _, target := range local.termColumns {
		index.starts[target+2]++
	}
	for column := range numUnknowns {
		index.starts[column+2] += index.starts[column+1]
	}
	for unknown := range numUnknowns {
		for choice := local.choiceStarts[unknown]; choice < local.choiceStarts[unknown+1]; choice++ {
			index.owners[choice] = uint32(unknown)
			for _, target := range local.columns(choice) {
				index.choiceList[index.starts[target+1]] = choice
				index.starts[target+1]++
			}
		}
	}
	return index
}

// minPivot is the least pivot that elimination accepts: dividing by it cannot overflow.
const minPivot = 0x1p-200

// eliminationSolver solves the equations x = P x + rhs of a local system under one scheduler.
type eliminationSolver struct {
	equations           *localSystem
	currentChoices      []uint32 // the current scheduler
	budget              float64  // operations that one elimination may take
	relErr              float64  // bound on the relative error of a solution, for exact equations
	backSubstitutionErr float64  // the part of relErr that is due to back substitution
	areFactorsCurrent   bool     // the factors belong to the current scheduler
	exceedsBudget       bool     // elimination exceeds the budget: Bi-CGSTAB starts from initialGuess and stops at precision
	forbidsIteration    bool     // do not solve iteratively
	isCycling           bool     // policy iteration did not find a best scheduler
	initialGuess        []float64
	precision           float64

	*eliminationOrder
	upperTerms, lowerFactors []float64 // factors of I - P: terms in later positions, and multipliers of earlier rows
	exitWeights              []float64 // weight that leaves the component, by position
	pivots                   []float64
	extendedFactors          *extendedFactors // replaces the four slices if float64 has too small a range
}

func newEliminationSolver(local *localSystem, budget float64) *eliminationSolver {
	return &eliminationSolver{equations: local, currentChoices: local.properScheduler(), budget: budget, initialGuess: local.lower, precision: 4 * unitRoundoff}
}

// currentColumns returns the columns of the current choice of an unknown.
func (solver *eliminationSolver) currentColumns(unknown int) []uint32 {
	choice := solver.currentChoices[unknown]
	if choice == sparse.None {
		return nil
	}
	return solver.equations.columns(choice)
}

// constant returns the midpoint of the constant of the current choice of an unknown.
func (solver *eliminationSolver) constant(unknown int) float64 {
	choice := solver.currentChoices[unknown]
	if choice == sparse.None {
		return 0
	}
	return solver.equations.constantMidpoint(choice)
}

// policyIteration alternates two steps until no choice is better: it solves values = P values + rightSide under the current scheduler, and switches to
// better choices. It returns the values of the final scheduler, or nil if it finds no solution within a fixed number of rounds.
//
// Source: Howard (1960); Puterman, Markov Decision Processes (1994), section 6.4.
func (solver *eliminationSolver) policyIteration(meter *meter, minimize bool, rightSide func(unknown int) float64) ([]float64, error) {
	const maxRounds = 30
	for range maxRounds {
		values, err := solver.solve(meter, rightSide)
		if values == nil || err != nil || !solver.improve(values, minimize, rightSide) {
			return values, err
		}
		solver.areFactorsCurrent = false
	}
	solver.isCycling = true
	return nil, nil
}

// improve switches each unknown to its best choice for the given values, and reports whether any choice changed.
func (solver *eliminationSolver) improve(values []float64, minimize bool, rightSide func(unknown int) float64) (changed bool) {
	for unknown := range solver.currentChoices {
		if solver.improveUnknown(unknown, values, minimize, rightSide) {
			changed = true
		}
	}
	return changed
}

// improveUnknown switches an unknown to its best choice, and reports whether the choice changed.
func (solver *eliminationSolver) improveUnknown(unknown int, values []float64, minimize bool, rightSide func(unknown int) float64) (changed bool) {
	current := solver.currentChoices[unknown]
	best, bestValue := current, values[unknown]
	for candidate := solver.equations.choiceStarts[unknown]; candidate < solver.equations.choiceStarts[unknown+1]; candidate++ {
		if candidate == current {
			continue
		}
		solver.currentChoices[unknown] = candidate // rightSide reads the current choice
		value := rightSide(unknown) + solver.equations.sumTerms(candidate, values)
		if solver.isNoticeablyBetter(value, bestValue, minimize) {
			best, bestValue = candidate, value
		}
	}
	solver.currentChoices[unknown] = best
	return best != current
}

// isNoticeablyBetter reports whether value is better than best by more than the error of the method that computed them. The method is elimination or, if
// that exceeds its budget, Bi-CGSTAB.
func (solver *eliminationSolver) isNoticeablyBetter(value, best float64, minimize bool) bool {
	const eliminationErr, iterationErr = 1e-12, 1e-9
	threshold := eliminationErr
	if solver.exceedsBudget {
		threshold = iterationErr
	}
	if minimize {
		return value < best*(1-threshold)
	}
	return value > best*(1+threshold)
}

// perturbation returns a bound on the relative error of the solution that comes from errors of the weights and of the constants.
func (solver *eliminationSolver) perturbation() float64 {
	// The solution is a quotient of two sums of positive products. Each product has at most one weight or constant of each unknown, so the errors of the rows add up.
	sum := 0.0
	for unknown := range solver.currentChoices {
		rowErr := 0.0
		for choice := solver.equations.choiceStarts[unknown]; choice < solver.equations.choiceStarts[unknown+1]; choice++ {
			rowErr = max(rowErr, solver.equations.evaluationErrs[choice])
		}
		if solver.equations.choiceStarts[unknown+1]-solver.equations.choiceStarts[unknown] > 1 {
			rowErr *= 2 // acceptIfOptimal treats choices as equal if they differ by at most their errors
		}
		sum += rowErr
	}
	return 2*errMargin*sum + errMargin*solver.equations.inheritedWidth
}

// solve returns the solution of x = P x + rightSide under the current scheduler, by elimination or, if this exceeds the budget of operations, by Bi-CGSTAB.
// It returns nil if it finds no solution, for example because numbers leave the range of float64.
func (solver *eliminationSolver) solve(meter *meter, rightSide func(unknown int) float64) ([]float64, error) {
	if err := solver.chooseOrder(meter); err != nil {
		return nil, err
	}
	if solver.exceedsBudget {
		if solver.forbidsIteration {
			return nil, nil
		}
		affordableSteps := solver.budget / float64(2*krylovStepCost*solver.equations.work())
		return solver.solveIteratively(meter, rightSide, max(minKrylovSteps, int(min(affordableSteps, 1e6))))
	}
	if !solver.areFactorsCurrent {
		var err error
		solver.areFactorsCurrent, err = solver.factorize(meter)
		if !solver.areFactorsCurrent || err != nil {
			return nil, err
		}
	}
	if solver.extendedFactors != nil {
		return solver.substituteExtended(rightSide), meter.addWork(krylovStepCost * (len(solver.upperColumns) + len(solver.lowerColumns)))
	}
	return solver.substitute(rightSide), meter.addWork(len(solver.upperTerms) + len(solver.lowerFactors))
}

// chooseOrder chooses an elimination order for the current scheduler. It sets exceedsBudget if elimination takes too many operations.
func (solver *eliminationSolver) chooseOrder(meter *meter) (err error) {
	if solver.areFactorsCurrent || solver.exceedsBudget {
		return nil
	}
	solver.eliminationOrder, err = markowitzOrder(meter, len(solver.currentChoices), solver.currentColumns, solver.budget)
	solver.exceedsBudget = err == nil && solver.eliminationOrder == nil
	return err
}

// factorize computes the factors of the current scheduler. It returns false if a pivot is too small.
func (solver *eliminationSolver) factorize(meter *meter) (bool, error) {
	if solver.extendedFactors != nil {
		return solver.factorizeExtended(meter)
	}
	return solver.factorizeFloat(meter)
}

// factorizeFloat computes the triangular factors in float64, by elimination without subtractions (GTH), which avoids cancellation. It returns false if a
// pivot is too small.
//
// Source: Grassmann, Taksar and Heyman (1985).
func (solver *eliminationSolver) factorizeFloat(meter *meter) (ok bool, err error) {
	numUnknowns := len(solver.order)
	solver.upperTerms = make([]float64, len(solver.upperColumns))
	solver.lowerFactors = make([]float64, len(solver.lowerColumns))
	solver.exitWeights, solver.pivots = make([]float64, numUnknowns), make([]float64, numUnknowns)
	solver.setErrorBound()
	workRow := make([]float64, numUnknowns) // the current equation, in which each unknown is at its position in the order
	for position := range numUnknowns {
		work := solver.eliminateRow(position, workRow)
		if !(solver.pivots[position] >= minPivot) {
			return false, nil
		}
		if err := meter.addWork(work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// setErrorBound sets the bound on the relative error of a solution.
//
// Source: O'Cinneide (1993), who counts all remaining equations as changed.
func (solver *eliminationSolver) setErrorBound() {
	// Back substitution adds one rounding error per term and 4 per unknown.
	solver.backSubstitutionErr = wideErrMargin * unitRoundoff * (float64(len(solver.upperColumns)) + 4*float64(len(solver.order)))
	// An elimination step changes each weight by at most 3 rounding errors, and all weights by the error of the pivot.
	// Each changed equation changes the solution by at most 7 rounding errors.
	solver.relErr = wideErrMargin*unitRoundoff*7.1*float64(len(solver.lowerColumns)) + solver.backSubstitutionErr
}

// eliminateRow computes a row of the triangular factors, by substituting all earlier rows into it. It returns the number of operations. workRow is scratch
// memory, which is zero before and after the call.
func (solver *eliminationSolver) eliminateRow(row int, workRow []float64) (work int) {
	exitWeight := solver.loadRow(row, workRow)
	for term := solver.lowerStarts[row]; term < solver.lowerStarts[row+1]; term++ {
		earlier := solver.lowerColumns[term]
		factor := workRow[earlier] / solver.pivots[earlier]
		workRow[earlier] = 0
		solver.lowerFactors[term] = factor
		if factor == 0 {
			continue
		}
		exitWeight += factor * solver.exitWeights[earlier]
		first, end := solver.upperStarts[earlier], solver.upperStarts[earlier+1]
		values := solver.upperTerms[first:end]
		for offset, column := range solver.upperColumns[first:end] {
			workRow[column] += factor * values[offset]
		}
		work += end - first
	}
	solver.storeRow(row, exitWeight, workRow)
	return work
}

// storeRow stores a row of the upper factor with its exit weight and its pivot, and clears workRow.
func (solver *eliminationSolver) storeRow(row int, exitWeight float64, workRow []float64) {
	workRow[row] = 0 // a self-loop is eliminated, because the pivot is the sum of all other weights
	solver.exitWeights[row] = exitWeight
	pivotSum, compensation := exitWeight, 0.0 // a compensated sum, which has about one rounding error in total
	for i := solver.upperStarts[row]; i < solver.upperStarts[row+1]; i++ {
		column := solver.upperColumns[i]
		term := workRow[column]
		workRow[column] = 0
		solver.upperTerms[i] = term
		newSum := pivotSum + term
		recovered := newSum - pivotSum
		compensation += (pivotSum - (newSum - recovered)) + (term - recovered)
		pivotSum = newSum
	}
	solver.pivots[row] = pivotSum + compensation
}

// loadRow adds the weights of the equation at a position in the order to workRow. It returns the exit weight of the equation, which is 1 for an unknown
// without a choice.
func (solver *eliminationSolver) loadRow(position int, workRow []float64) float64 {
	equations := solver.equations
	choice := solver.currentChoices[solver.order[position]]
	if choice == sparse.None {
		return 1
	}
	for term := equations.termStarts[choice]; term < equations.termStarts[choice+1]; term++ {
		column := solver.positionOf[equations.termColumns[term]]
		workRow[column] += equations.termWeights[term]
	}
	return equations.exitWeights[choice]
}

// substitute solves values = P values + rightSide with the triangular factors, by forward and back substitution. It returns nil on overflow.
func (solver *eliminationSolver) substitute(rightSide func(unknown int) float64) []float64 {
	numUnknowns := len(solver.order)
	intermediate := make([]float64, numUnknowns) // the result of forward substitution, in the order of elimination
	for position, unknown := range solver.order {
		sum := rightSide(int(unknown))
		for i := solver.lowerStarts[position]; i < solver.lowerStarts[position+1]; i++ {
			sum += solver.lowerFactors[i] * intermediate[solver.lowerColumns[i]]
		}
		intermediate[position] = sum
	}
	values := make([]float64, numUnknowns)
	for position, unknown := range slices.Backward(solver.order) {
		sum := intermediate[position]
		for i := solver.upperStarts[position]; i < solver.upperStarts[position+1]; i++ {
			sum += solver.upperTerms[i] * intermediate[solver.upperColumns[i]]
		}
		sum /= solver.pivots[position]
		if math.IsInf(sum, 0) || math.IsNaN(sum) {
			return nil
		}
		intermediate[position], values[unknown] = sum, sum
	}
	return values
}
