package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// solveByElimination solves a component by policy iteration, in which Gaussian elimination evaluates each scheduler. proved says that it
// has replaced the bounds by proved bounds. If elimination exceeds the budget of operations, Bi-CGSTAB replaces it; overBudget says that a
// larger budget may help.
func (local *localSystem) solveByElimination(meter *meter, eps, budget float64) (proved, overBudget bool, err error) {
	solver, values, err := local.solveOptimum(meter, budget)
	if err != nil {
		return false, false, err
	}
	if values != nil {
		proved, err = local.acceptSolution(solver, meter, values, eps)
	}
	local.extended = proved && solver.extendedFactors != nil
	if proved || err != nil {
		return proved, false, err
	}
	local.sweepsTooSlow = solver.hasSlowExit(meter)
	return false, solver.exceedsBudget, nil
}

// solveOptimum solves the equations by policy iteration in float64. If numbers leave the range of float64, it repeats this in extended numbers.
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

// acceptSolution proves bounds around a solution and stores them. It reports whether it found a proof: either that the bounds are
// inductive, or that the scheduler is optimal and the error of the elimination is small. It tries cheap proofs first. eps is the relative
// width that is asked for.
func (local *localSystem) acceptSolution(solver *eliminationSolver, meter *meter, values []float64, eps float64) (proved bool, err error) {
	const maxRelErr = 1e-3 // the last attempt accepts bounds that are wider than eps
	relErr := solver.relErr + solver.perturbation()
	scheduler := slices.Clone(solver.choice)
	isGridCoarse := local.rounding.grid > 0
	isErrorKnown := !isGridCoarse && !solver.exceedsBudget && solver.isSafeFromUnderflow(values)
	areInputsExact := local.inheritedWidth <= eps*negligibleInherited
	if isErrorKnown && areInputsExact && relErr <= eps && local.acceptIfOptimal(scheduler, values, relErr) {
		return true, nil
	}
	low, high, err := solver.solveConstantBounds(meter, values)
	if err != nil {
		return false, err
	}
	// Inductive bounds with the requested width, in float64 and then with more digits.
	if ok, err := local.proveAround(solver, meter, values, low, high, eps); ok || err != nil {
		return ok, err
	}
	if isErrorKnown && areInputsExact && solver.perturbation() <= eps && solver.extendedFactors == nil {
		solver.resetScheduler(scheduler)
		if ok, err := local.solveInDoubleWords(solver, meter, values); ok || err != nil {
			return ok, err
		}
	}
	// Inductive bounds of any width.
	if !solver.exceedsBudget {
		solver.resetScheduler(scheduler)
		if ok, err := local.proveAround(solver, meter, values, low, high, math.Inf(1)); ok || err != nil {
			return ok, err
		}
	}
	return isErrorKnown && relErr < maxRelErr && local.acceptIfOptimal(scheduler, values, relErr), nil
}

// proveAround tries to prove inductive bounds slightly below low and slightly above high, with a relative width of at most maxWidth. It
// reports whether it stored such bounds. low and high are the solutions for the lower and upper bounds of the constants; values lies
// between them.
func (local *localSystem) proveAround(solver *eliminationSolver, meter *meter, values, low, high []float64, maxWidth float64) (proved bool, err error) {
	for _, fixedScheduler := range []bool{true, false} { // slack for the current scheduler, then for all schedulers
		slack, err := solver.solveSlack(meter, values, fixedScheduler)
		if err != nil {
			return false, err
		}
		if slack == nil || low == nil || high == nil {
			continue
		}
		maxDelta := 1e-3
		if fixedScheduler { // a better slack may follow, so do not accept wide bounds yet
			maxDelta = 1e-9
		}
		if local.proveInductive(low, high, slack, maxDelta, maxWidth) {
			return true, nil
		}
	}
	return false, nil
}

// resetScheduler restores a scheduler that policy iteration may have changed.
func (elim *eliminationSolver) resetScheduler(scheduler []uint32) {
	if !slices.Equal(elim.choice, scheduler) {
		copy(elim.choice, scheduler)
		elim.factorsCurrent = false
	}
}

// leavesFloatRange reports whether elimination failed because numbers leave the range of float64. values is its result, or nil.
func (elim *eliminationSolver) leavesFloatRange(meter *meter, values []float64) bool {
	if elim.exceedsBudget || elim.cycling || elim.equations.underflowed {
		return false
	}
	return values == nil || !elim.isSafeFromUnderflow(values) && elim.hasSlowExit(meter)
}

// hasSlowExit reports whether the current scheduler needs more than 2^40 expected steps to leave the component. Sweeps are too slow then.
func (elim *eliminationSolver) hasSlowExit(meter *meter) bool {
	if !elim.factorsCurrent {
		return false
	}
	steps, _ := elim.solve(meter, func(int) float64 { return 1 })
	return steps == nil || slices.Max(steps) > 0x1p40
}

// negligibleInherited is the share of the allowed width below which the width of the constants is ignored.
const negligibleInherited = 1e-3

// solveConstantBounds returns the solutions under the current scheduler for the lower and the upper bounds of the constants.
// values is the solution for the midpoints.
func (elim *eliminationSolver) solveConstantBounds(meter *meter, values []float64) (low, high []float64, err error) {
	equations := elim.equations
	if equations.inheritedWidth == 0 && !equations.underflowed && equations.inheritedAbsWidth == 0 {
		return values, values, nil
	}
	elim.guess = values
	low, err = elim.solve(meter, func(k int) float64 { return elim.chosenConstant(equations.constLower, k) })
	if err != nil {
		return nil, nil, err
	}
	high, err = elim.solve(meter, func(k int) float64 { return elim.chosenConstant(equations.constUpper, k) })
	return low, high, err
}

// chosenConstant returns the constant of the current choice of unknown k, or 0 without a choice. constants has one entry for each choice.
func (elim *eliminationSolver) chosenConstant(constants []float64, k int) float64 {
	if choice := elim.choice[k]; choice != sparse.None {
		return constants[choice]
	}
	return 0
}

// gridSlack is the part of a slack vector that covers the rounding to the grid, in units of the grid.
const gridSlack = 0x1p39

// solveSlack returns the slack vector w of a proof, with w = P w + values under the current scheduler or, unless fixedScheduler is set,
// under the scheduler that maximizes w. It adds a multiple of the rounding grid to values. Only the current scheduler is used if some
// scheduler may never leave the component.
func (elim *eliminationSolver) solveSlack(meter *meter, values []float64, fixedScheduler bool) ([]float64, error) {
	rhs := func(k int) float64 { return values[k] + elim.equations.rounding.grid*gridSlack }
	elim.guess, elim.precision = values, 0.1
	mayStay := elim.equations.minimize && elim.equations.hasRewards
	if fixedScheduler || mayStay {
		return elim.solve(meter, rhs)
	}
	return elim.policyIteration(meter, false, rhs)
}

// proveInductive searches for a number delta up to maxDelta for which low - delta*slack and high + delta*slack are inductive bounds. If
// their relative width is at most maxWidth, it stores them and returns true.
func (local *localSystem) proveInductive(low, high, slack []float64, maxDelta, maxWidth float64) bool {
	lower, upper := make([]float64, len(slack)), make([]float64, len(slack))
	// The slack w satisfies w = P w + x, so the bounds satisfy the equations with room delta x. A large delta covers rounding errors.
	for delta := 0x1p-50; delta < maxDelta; delta *= 4 {
		for k := range slack {
			local.setAround(lower, upper, k, low[k], high[k], delta*slack[k])
			if upper[k]-lower[k] > maxWidth*upper[k] {
				return false
			}
		}
		if scheduler, ok := local.provesBounds(lower, upper); ok {
			local.acceptBounds(lower, upper, scheduler)
			return true
		}
	}
	return false
}

// setAround sets the bounds of unknown k to low - spread and high + spread, rounded to the grid.
func (local *localSystem) setAround(lower, upper []float64, k int, low, high, spread float64) {
	lower[k] = local.rounding.floorToGrid(max(low-spread, 0))
	upper[k] = local.rounding.ceilToGrid(high + spread)
	if local.isProbability {
		upper[k] = min(upper[k], 1)
	}
}

// acceptBounds stores new bounds and, if it is requested, the scheduler.
func (local *localSystem) acceptBounds(lower, upper []float64, scheduler []uint32) {
	local.lower, local.upper = lower, upper
	if local.scheduler != nil {
		local.scheduler = scheduler
	}
}

// provesBounds reports whether bounds are inductive: one sweep lowers no lower bound and raises no upper bound. It returns the scheduler
// that attains the bounds.
func (local *localSystem) provesBounds(lower, upper []float64) (scheduler []uint32, ok bool) {
	// An inductive upper bound is at least the least solution. An inductive lower bound is at most the least solution, because every
	// scheduler leaves the component or has infinite reward.
	scheduler = make([]uint32, len(lower))
	for unknown := range lower {
		lo, lowerChoice := local.lowerUpdate(unknown, lower)
		hi, upperChoice := local.upperUpdate(unknown, upper)
		if lo < lower[unknown] || hi > upper[unknown] {
			return nil, false
		}
		scheduler[unknown] = lowerChoice
		if local.minimize {
			scheduler[unknown] = upperChoice
		}
	}
	return scheduler, true
}

// acceptIfOptimal checks whether the scheduler of the values is optimal. If so, it replaces the bounds by the values plus and minus their
// relative error, and returns true.
func (local *localSystem) acceptIfOptimal(scheduler []uint32, values []float64, relErr float64) bool {
	if !local.isOptimal(scheduler, values, relErr) {
		return false
	}
	lower, upper := make([]float64, len(values)), make([]float64, len(values))
	for k := range values {
		const margin = 1.01 // for the rounding of the error itself
		local.setAround(lower, upper, k, values[k], values[k], margin*relErr*values[k])
	}
	local.acceptBounds(lower, upper, scheduler)
	return true
}

// isOptimal reports whether certainly no choice improves on the scheduler. relErr bounds the relative error of the scheduler's values.
func (local *localSystem) isOptimal(scheduler []uint32, values []float64, relErr float64) bool {
	for unknown, current := range scheduler {
		for choice := local.choiceStart[unknown]; choice < local.choiceStart[unknown+1]; choice++ {
			if choice != current && !local.cannotImprove(unknown, choice, values, relErr) && !local.sameEquation(choice, current) {
				return false
			}
		}
	}
	return true
}

// isSafeFromUnderflow reports whether underflow has no noticeable effect on the solution.
func (elim *eliminationSolver) isSafeFromUnderflow(values []float64) bool {
	if elim.equations.underflowed {
		return false
	}
	if elim.extendedFactors != nil { // choices are compared in float64
		return allWithin(values, 0x1p-900, 0x1p1010)
	}
	// The effect of a lost amount is at most the amount times the expected number of steps to leave the component.
	steps := elim.substitute(func(int) float64 { return 1 })
	return allWithin(values, 0x1p-300, 0x1p300) && steps != nil && slices.Max(steps) <= 0x1p200
}

// allWithin reports whether all values are between minimum and maximum.
func allWithin(values []float64, minimum, maximum float64) bool {
	return slices.Min(values) >= minimum && slices.Max(values) <= maximum
}

// cannotImprove reports whether a choice certainly does not improve the value of its unknown. relErr bounds the relative error of all
// values.
func (local *localSystem) cannotImprove(unknown int, choice uint32, values []float64, relErr float64) bool {
	// The weights of a choice sum to 1. Small differences of values make the errors of the weights small.
	current := values[unknown]
	constant := local.constLower[choice]
	if !local.minimize {
		constant = local.constUpper[choice]
	}
	// gain is the value of the choice minus the current value, magnitude the sum of the absolute values of its terms.
	gain, magnitude := constant-local.exitWeight[choice]*current, constant+local.exitWeight[choice]*current
	sumOfValues := 0.0
	for i := local.termStart[choice]; i < local.termStart[choice+1]; i++ {
		weight, targetValue := local.weight[i], values[local.column[i]]
		gain += weight * (targetValue - current)
		magnitude += weight * math.Abs(targetValue-current)
		sumOfValues += weight * (targetValue + current)
	}
	gainErr := 1.01 * (local.evalErr[choice]*magnitude + relErr*(sumOfValues+local.exitWeight[choice]*current))
	if local.minimize {
		return gain-gainErr >= 0
	}
	return gain+gainErr <= 0
}

// sameEquation reports whether two choices have the same equation up to rounding errors. It returns false if right is sparse.None.
func (local *localSystem) sameEquation(left, right uint32) bool {
	if right == sparse.None || !slices.Equal(local.columns(left), local.columns(right)) {
		return false
	}
	relErr := min(local.evalErr[left], local.evalErr[right])
	isClose := func(a, b float64) bool { return math.Abs(a-b) <= relErr*min(a, b) }
	firstLeft, firstRight := local.termStart[left], local.termStart[right]
	for offset := range local.termStart[left+1] - firstLeft {
		if !isClose(local.weight[firstLeft+offset], local.weight[firstRight+offset]) {
			return false
		}
	}
	return isClose(local.constLower[left], local.constLower[right]) &&
		isClose(local.constUpper[left], local.constUpper[right]) &&
		isClose(local.exitWeight[left], local.exitWeight[right])
}

// properScheduler returns a scheduler that leaves the component with probability one. It searches backwards from the unknowns that have a
// choice with a transition out of the component.
func (local *localSystem) properScheduler() []uint32 {
	n := len(local.choiceStart) - 1
	scheduler := make([]uint32, n)
	users := local.columnUses()
	exits := make([]bool, n)
	var queue []uint32
	for unknown := range n {
		if scheduler[unknown], exits[unknown] = local.exitChoice(unknown); exits[unknown] {
			queue = append(queue, uint32(unknown))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, choice := range users.choices(queue[0]) {
			if unknown := users.owner[choice]; !exits[unknown] {
				scheduler[unknown], exits[unknown] = choice, true
				queue = append(queue, unknown)
			}
		}
	}
	return scheduler
}

// exitChoice returns the first choice of an unknown with a transition out of the component. An unknown without choices counts as outside:
// the result is sparse.None and true.
func (local *localSystem) exitChoice(unknown int) (choice uint32, exits bool) {
	first, end := local.choiceStart[unknown], local.choiceStart[unknown+1]
	for candidate := first; candidate < end; candidate++ {
		if local.exitWeight[candidate] > 0 {
			return candidate, true
		}
	}
	return sparse.None, first == end
}

// columnIndex lists, for each unknown, the choices that have a term in it: the matrix of the equations, transposed and without
// weights. owner is the unknown of each choice.
type columnIndex struct {
	start, choice, owner []uint32
}

func (index *columnIndex) choices(k uint32) []uint32 {
	return index.choice[index.start[k]:index.start[k+1]]
}

// columnUses returns an index of the equations by column: for each unknown, the choices whose equations contain it.
func (local *localSystem) columnUses() *columnIndex {
	n := len(local.choiceStart) - 1
	index := &columnIndex{
		start: make([]uint32, n+2), choice: make([]uint32, len(local.column)), owner: make([]uint32, len(local.exitWeight)),
	}
	// Counting sort: start[t+1] is the next free index for unknown t. At the end it is the start of unknown t+1.
	for _, target := range local.column {
		index.start[target+2]++
	}
	for column := range n {
		index.start[column+2] += index.start[column+1]
	}
	for unknown := range n {
		for choice := local.choiceStart[unknown]; choice < local.choiceStart[unknown+1]; choice++ {
			index.owner[choice] = uint32(unknown)
			for _, target := range local.columns(choice) {
				index.choice[index.start[target+1]] = choice
				index.start[target+1]++
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
	choice              []uint32 // the current scheduler
	budget              float64  // operations that one elimination may take
	relErr              float64  // bound on the relative error of a solution, for exact equations
	backSubstitutionErr float64  // the part of relErr that is due to back substitution
	factorsCurrent      bool     // the factors belong to the current scheduler
	exceedsBudget       bool     // elimination exceeds the budget: Bi-CGSTAB starts from guess and stops at precision
	factorsOnly         bool     // do not solve iteratively
	cycling             bool     // policy iteration did not find a best scheduler
	guess               []float64
	precision           float64

	*eliminationOrder
	upper, lower    []float64 // factors of I - P: terms in later positions, and multipliers of earlier rows
	exitWeight      []float64 // weight that leaves the component, by position
	pivot           []float64
	extendedFactors *extendedFactors // replaces the four slices if float64 has too small a range
}

func newEliminationSolver(local *localSystem, budget float64) *eliminationSolver {
	return &eliminationSolver{equations: local, choice: local.properScheduler(), budget: budget, guess: local.lower, precision: 4 * unit}
}

// row returns the columns of the current choice of unknown k.
func (elim *eliminationSolver) row(k int) []uint32 {
	j := elim.choice[k]
	if j == sparse.None {
		return nil
	}
	return elim.equations.columns(j)
}

// constant returns the midpoint of the constant of the current choice of unknown k.
func (elim *eliminationSolver) constant(k int) float64 {
	j := elim.choice[k]
	if j == sparse.None {
		return 0
	}
	return elim.equations.constantMidpoint(j)
}

// policyIteration alternates two steps until no choice is better: it solves values = P values + rhs under the current scheduler, and
// switches to better choices. It returns the values of the final scheduler, or nil if it finds no solution.
//
// Source: Howard (1960); Puterman, Markov Decision Processes (1994), section 6.4.
func (elim *eliminationSolver) policyIteration(meter *meter, minimize bool, rhs func(unknown int) float64) ([]float64, error) {
	const maxRounds = 30
	for range maxRounds {
		values, err := elim.solve(meter, rhs)
		if values == nil || err != nil || !elim.improve(values, minimize, rhs) {
			return values, err
		}
		elim.factorsCurrent = false
	}
	elim.cycling = true
	return nil, nil
}

// improve switches each unknown to its best choice for the given values, and reports whether any choice changed.
func (elim *eliminationSolver) improve(values []float64, minimize bool, rhs func(unknown int) float64) (changed bool) {
	for unknown := range elim.choice {
		if elim.improveUnknown(unknown, values, minimize, rhs) {
			changed = true
		}
	}
	return changed
}

// improveUnknown switches an unknown to its best choice, and reports whether the choice changed.
func (elim *eliminationSolver) improveUnknown(unknown int, values []float64, minimize bool, rhs func(unknown int) float64) (changed bool) {
	current := elim.choice[unknown]
	best, bestValue := current, values[unknown]
	for candidate := elim.equations.choiceStart[unknown]; candidate < elim.equations.choiceStart[unknown+1]; candidate++ {
		if candidate == current {
			continue
		}
		elim.choice[unknown] = candidate // rhs depends on the choice
		value := rhs(unknown) + elim.equations.sumTerms(candidate, values)
		if elim.isNoticeablyBetter(value, bestValue, minimize) {
			best, bestValue = candidate, value
		}
	}
	elim.choice[unknown] = best
	return best != current
}

// isNoticeablyBetter reports whether value is better than best by more than the rounding error.
func (elim *eliminationSolver) isNoticeablyBetter(value, best float64, minimize bool) bool {
	threshold := 1e-12
	if elim.exceedsBudget { // values of Bi-CGSTAB
		threshold = 1e-9
	}
	if minimize {
		return value < best*(1-threshold)
	}
	return value > best*(1+threshold)
}

// perturbation bounds the relative error of the solution that is caused by errors of the weights and of the constants.
func (elim *eliminationSolver) perturbation() float64 {
	// The solution is a quotient of sums of positive products, each with at most one weight or constant of each unknown.
	sum := 0.0
	for k := range elim.choice {
		rowErr := 0.0
		for j := elim.equations.choiceStart[k]; j < elim.equations.choiceStart[k+1]; j++ {
			rowErr = max(rowErr, elim.equations.evalErr[j])
		}
		if elim.equations.choiceStart[k+1]-elim.equations.choiceStart[k] > 1 {
			rowErr *= 2 // acceptIfOptimal treats choices as equal up to their errors
		}
		sum += rowErr
	}
	return 2.02*sum + 1.01*elim.equations.inheritedWidth
}

// solve returns the solution of x = P x + rhs under the current scheduler. It uses elimination or, if this exceeds the budget of
// operations, Bi-CGSTAB. It returns nil if it finds no solution, for example because numbers leave the range of float64.
func (elim *eliminationSolver) solve(meter *meter, rhs func(unknown int) float64) ([]float64, error) {
	if err := elim.chooseOrder(meter); err != nil {
		return nil, err
	}
	if elim.exceedsBudget {
		if elim.factorsOnly {
			return nil, nil
		}
		affordable := elim.budget / float64(2*krylovStepCost*elim.equations.work())
		return elim.solveIteratively(meter, rhs, max(minKrylovSteps, int(min(affordable, 1e6))))
	}
	if !elim.factorsCurrent {
		var err error
		elim.factorsCurrent, err = elim.factorize(meter)
		if !elim.factorsCurrent || err != nil {
			return nil, err
		}
	}
	if elim.extendedFactors != nil {
		return elim.substituteExtended(rhs), meter.addWork(krylovStepCost * (len(elim.upperCols) + len(elim.lowerCols)))
	}
	return elim.substitute(rhs), meter.addWork(len(elim.upper) + len(elim.lower))
}

// chooseOrder chooses an elimination order for the current scheduler. It sets exceedsBudget if elimination takes too many operations.
func (elim *eliminationSolver) chooseOrder(meter *meter) (err error) {
	if elim.factorsCurrent || elim.exceedsBudget {
		return nil
	}
	elim.eliminationOrder, err = markowitzOrder(meter, len(elim.choice), elim.row, elim.budget)
	elim.exceedsBudget = err == nil && elim.eliminationOrder == nil
	return err
}

// factorize computes the factors of the current scheduler. It returns false if a pivot is too small.
func (elim *eliminationSolver) factorize(meter *meter) (bool, error) {
	if elim.extendedFactors != nil {
		return elim.factorizeExtended(meter)
	}
	return elim.factorizeFloat(meter)
}

// factorizeFloat eliminates the unknowns in order, without subtractions (GTH). It returns false if a pivot is too small.
//
// Source: Grassmann, Taksar and Heyman (1985).
func (elim *eliminationSolver) factorizeFloat(meter *meter) (ok bool, err error) {
	n := len(elim.order)
	elim.upper = make([]float64, len(elim.upperCols))
	elim.lower = make([]float64, len(elim.lowerCols))
	elim.exitWeight, elim.pivot = make([]float64, n), make([]float64, n)
	elim.setErrorBound()
	workRow := make([]float64, n) // the equation at p, by position
	for p := range n {
		work := elim.eliminateRow(p, workRow)
		if !(elim.pivot[p] >= minPivot) {
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
func (elim *eliminationSolver) setErrorBound() {
	// Back substitution adds one rounding error per term and 4 per unknown.
	elim.backSubstitutionErr = 1.05 * unit * (float64(len(elim.upperCols)) + 4*float64(len(elim.order)))
	// An elimination step changes each weight by at most 3 rounding errors, and all weights by the error of the pivot.
	// Each changed equation changes the solution by at most 7 rounding errors.
	elim.relErr = 1.05*unit*7.1*float64(len(elim.lowerCols)) + elim.backSubstitutionErr
}

// eliminateRow computes a row of the triangular factors: it substitutes all earlier rows. It returns the number of operations. workRow is
// scratch space, which is zero before and after the call.
func (elim *eliminationSolver) eliminateRow(row int, workRow []float64) (work int) {
	exit := elim.loadRow(row, workRow)
	for term := elim.lowerStart[row]; term < elim.lowerStart[row+1]; term++ {
		earlier := elim.lowerCols[term]
		factor := workRow[earlier] / elim.pivot[earlier]
		workRow[earlier] = 0
		elim.lower[term] = factor
		if factor == 0 {
			continue
		}
		exit += factor * elim.exitWeight[earlier]
		first, end := elim.upperStart[earlier], elim.upperStart[earlier+1]
		values := elim.upper[first:end]
		for j, column := range elim.upperCols[first:end] {
			workRow[column] += factor * values[j]
		}
		work += end - first
	}
	elim.storeRow(row, exit, workRow)
	return work
}

// storeRow stores a row of the upper factor with its exit weight and its pivot, and clears workRow.
func (elim *eliminationSolver) storeRow(row int, exit float64, workRow []float64) {
	workRow[row] = 0 // the pivot accounts for a self-loop
	elim.exitWeight[row] = exit
	pivotSum, compensation := exit, 0.0 // compensated summation: about one rounding error in total
	for i := elim.upperStart[row]; i < elim.upperStart[row+1]; i++ {
		column := elim.upperCols[i]
		term := workRow[column]
		workRow[column] = 0
		elim.upper[i] = term
		newSum := pivotSum + term
		recovered := newSum - pivotSum
		compensation += (pivotSum - (newSum - recovered)) + (term - recovered)
		pivotSum = newSum
	}
	elim.pivot[row] = pivotSum + compensation
}

// loadRow adds the weights of the equation at a position to workRow. It returns the exit weight: 1 for an unknown without a choice.
func (elim *eliminationSolver) loadRow(position int, workRow []float64) float64 {
	equations := elim.equations
	chosen := elim.choice[elim.order[position]]
	if chosen == sparse.None {
		return 1
	}
	for term := equations.termStart[chosen]; term < equations.termStart[chosen+1]; term++ {
		column := elim.position[equations.column[term]]
		workRow[column] += equations.weight[term]
	}
	return equations.exitWeight[chosen]
}

// substitute solves values = P values + rhs by forward and back substitution. It returns nil on overflow.
func (elim *eliminationSolver) substitute(rhs func(unknown int) float64) []float64 {
	n := len(elim.order)
	intermediate := make([]float64, n) // by position
	for p, unknown := range elim.order {
		sum := rhs(int(unknown))
		for i := elim.lowerStart[p]; i < elim.lowerStart[p+1]; i++ {
			sum += elim.lower[i] * intermediate[elim.lowerCols[i]]
		}
		intermediate[p] = sum
	}
	values := make([]float64, n)
	for p, unknown := range slices.Backward(elim.order) {
		sum := intermediate[p]
		for i := elim.upperStart[p]; i < elim.upperStart[p+1]; i++ {
			sum += elim.upper[i] * intermediate[elim.upperCols[i]]
		}
		sum /= elim.pivot[p]
		if math.IsInf(sum, 0) || math.IsNaN(sum) {
			return nil
		}
		intermediate[p], values[unknown] = sum, sum
	}
	return values
}
