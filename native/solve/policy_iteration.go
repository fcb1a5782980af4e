package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// solveByPolicyIteration solves a component with several choices by policy iteration. proved says that it stored proved bounds with a
// relative width of at most epsilon. overBudget says that it may succeed with a larger budget of operations.
//
// Source: Puterman, Markov Decision Processes (1994), section 6.5.
func (local *localSystem) solveByPolicyIteration(meter *meter, eps, budget float64) (proved, overBudget bool, err error) {
	iteration := newPolicyIteration(local, meter, budget)
	values, err := iteration.run(local.lower, iteration.constant, iteration.improve)
	if values == nil || err != nil {
		return false, iteration.isExhausted(), err
	}
	lowValues, highValues := values, values
	areConstantsUncertain := local.inheritedWidth > 0 || local.hasUnderflow || local.inheritedAbsWidth > 0
	if areConstantsUncertain {
		if lowValues, err = iteration.solveForConstants(values, local.lowerConstants); lowValues == nil || err != nil {
			return false, false, err
		}
		if highValues, err = iteration.solveForConstants(values, local.upperConstants); highValues == nil || err != nil {
			return false, false, err
		}
	}
	slack, err := iteration.solveSlack(values)
	if slack == nil || err != nil {
		return false, iteration.isExhausted(), err
	}
	return local.proveInductive(lowValues, highValues, slack, 1e-3, eps), false, meter.addWork(2 * local.work())
}

// solveForConstants solves the equations under the current scheduler for given constants of all choices. It returns nil if this takes too
// long or overflows. guess is the initial approximation of iterative solvers.
func (iteration *policyIteration) solveForConstants(guess, constants []float64) ([]float64, error) {
	return iteration.solve(guess, func(unknown int) float64 { return iteration.chosenConstant(constants, unknown) })
}

// policyIteration holds the current scheduler of a component, and the solver of the induced chain. The chain is decomposed into strongly
// connected components, which usually are small.
type policyIteration struct {
	equations      *localSystem
	meter          *meter
	currentChoices []uint32
	workLimit      float64 // the total work of meter at which it gives up
	budget         float64 // operations that one elimination may take

	// isDecompositionCurrent says that the following fields belong to the current scheduler.
	isDecompositionCurrent bool
	decomposition          *sparse.Components
	components             []*eliminationSolver // solvers of the components with several unknowns, in their order
	indexInComponent       []uint32             // of each unknown in its component
}

// newPolicyIteration returns a policy iteration whose first scheduler is optimal for the lower bounds. For a minimal reward, it changes this scheduler so
// that it leaves the component with probability one.
func newPolicyIteration(local *localSystem, meter *meter, budget float64) *policyIteration {
	numUnknowns := len(local.choiceStarts) - 1
	iteration := &policyIteration{
		equations: local, meter: meter, currentChoices: make([]uint32, numUnknowns), indexInComponent: make([]uint32, numUnknowns),
		workLimit: meter.totalWork() + budget, budget: budget,
	}
	for unknown := range iteration.currentChoices {
		_, iteration.currentChoices[unknown] = local.newLowerOffGrid(unknown, local.lower)
	}
	if local.minimize && local.hasRewards {
		iteration.makeProper()
	}
	return iteration
}

// makeProper changes the current scheduler so that it leaves the component with probability one. If the induced chain cannot leave some set of unknowns,
// their choices are replaced by those of a scheduler that leaves.
func (iteration *policyIteration) makeProper() {
	iteration.decompose()
	properChoices := iteration.equations.properScheduler()
	canLeave := sparse.NewSet(len(iteration.currentChoices))
	for i := range iteration.decomposition.Num() { // successors first
		members := iteration.decomposition.Members(i)
		if slices.ContainsFunc(members, func(unknown uint32) bool { return iteration.canReachOrLeave(unknown, canLeave) }) {
			addStates(canLeave, members)
			continue
		}
		for _, unknown := range members {
			iteration.currentChoices[unknown] = properChoices[unknown]
		}
		iteration.isDecompositionCurrent = false
	}
}

// canReachOrLeave reports whether a transition of the current choice of an unknown leaves the system, or leads to one of the given unknowns.
func (iteration *policyIteration) canReachOrLeave(unknown uint32, unknowns *sparse.Set) bool {
	choice := iteration.currentChoices[unknown]
	if choice == sparse.None || iteration.equations.exitWeights[choice] > 0 {
		return true
	}
	return slices.ContainsFunc(iteration.equations.columns(choice), func(target uint32) bool { return unknowns.Has(int(target)) })
}

// isExhausted reports whether the work exceeds the limit of this policy iteration.
func (iteration *policyIteration) isExhausted() bool {
	return iteration.meter.totalWork() > iteration.workLimit
}

// currentColumns returns the columns of the current choice of an unknown.
func (iteration *policyIteration) currentColumns(unknown uint32) []uint32 {
	choice := iteration.currentChoices[unknown]
	if choice == sparse.None {
		return nil
	}
	return iteration.equations.columns(choice)
}

// chosenConstant returns the constant of the current choice of an unknown, or 0 without a choice. constants has one entry for each choice.
func (iteration *policyIteration) chosenConstant(constants []float64, unknown int) float64 {
	if choice := iteration.currentChoices[unknown]; choice != sparse.None {
		return constants[choice]
	}
	return 0
}

// constant returns the midpoint of the constant of the current choice of an unknown.
func (iteration *policyIteration) constant(unknown int) float64 {
	if choice := iteration.currentChoices[unknown]; choice != sparse.None {
		return iteration.equations.constantMidpoint(choice)
	}
	return 0
}

// maxSchedulers limits the iteration. A few dozen schedulers are enough for all known models. Where improvements are as small as
// rounding errors, schedulers may repeat without end.
const maxSchedulers = 1000

// run alternates two steps until no choice changes: it solves values = P values + rightSide under the current scheduler, and calls improve. It returns the
// last solution, or nil if it exceeds a limit on work or rounds. The argument values is the first approximation.
func (iteration *policyIteration) run(values []float64, rightSide func(unknown int) float64, improve func(values []float64) (bool, error)) ([]float64, error) {
	for range maxSchedulers {
		var err error
		if values, err = iteration.solve(values, rightSide); values == nil || err != nil {
			return nil, err
		}
		if iteration.isExhausted() {
			return nil, nil
		}
		changed, err := improve(values)
		if err != nil || !changed {
			return values, err
		}
		iteration.isDecompositionCurrent = false
	}
	return nil, nil
}

// sweepsPerImprovement is the number of sweeps between two evaluations.
const sweepsPerImprovement = 4

// improve switches unknowns to better choices in a few sweeps, which also update values. It reports whether any choice changed.
func (iteration *policyIteration) improve(values []float64) (changed bool, err error) {
	threshold := 1 - iteration.tolerance()
	for range sweepsPerImprovement {
		changedInSweep := iteration.improveInSweep(values, threshold)
		changed = changed || changedInSweep
		if err := iteration.meter.addWork(iteration.equations.work()); err != nil || !changedInSweep {
			return changed, err
		}
	}
	return changed, nil
}

// improveInSweep switches each unknown to its best choice, and updates its value. It reports whether any choice changed. A choice counts as better only if
// the values differ by more than a relative 1-threshold.
func (iteration *policyIteration) improveInSweep(values []float64, threshold float64) (changed bool) {
	for unknown, current := range iteration.currentChoices {
		if current == sparse.None {
			continue
		}
		best, value := iteration.bestChoice(unknown, values, threshold)
		values[unknown] = value
		if best != current {
			iteration.currentChoices[unknown], changed = best, true
		}
	}
	return changed
}

// bestChoice returns the best choice of an unknown, and its value. A choice counts as better than another only if their values differ by more than a
// relative 1-threshold.
func (iteration *policyIteration) bestChoice(unknown int, values []float64, threshold float64) (bestChoice uint32, value float64) {
	local := iteration.equations
	bestChoice = iteration.currentChoices[unknown]
	value = local.constantMidpoint(bestChoice) + local.sumTerms(bestChoice, values)
	for choice := local.choiceStarts[unknown]; choice < local.choiceStarts[unknown+1]; choice++ {
		newValue := local.constantMidpoint(choice) + local.sumTerms(choice, values)
		isBetter := newValue*threshold > value
		if local.minimize {
			isBetter = newValue < value*threshold
		}
		if isBetter {
			bestChoice, value = choice, newValue
		}
	}
	return bestChoice, value
}

// tolerance returns the relative difference of values above which a choice counts as better. It exceeds the error of the values.
func (iteration *policyIteration) tolerance() float64 {
	for _, solver := range iteration.components {
		if solver.exceedsBudget { // its values come from Bi-CGSTAB, which is less precise than elimination
			return 1e-9
		}
	}
	return 1e-12
}

// nearOptimalChoices returns the choices whose value differs from the value of their unknown by at most a relative 1e-9. choices[starts[k]:starts[k+1]] are
// the choices of unknown k.
func (iteration *policyIteration) nearOptimalChoices(values []float64) (choices, starts []uint32) {
	const relTolerance = 1e-9
	local := iteration.equations
	starts, choices = make([]uint32, len(values)+1), make([]uint32, 0, len(values))
	for unknown, value := range values {
		for choice := local.choiceStarts[unknown]; choice < local.choiceStarts[unknown+1]; choice++ {
			choiceValue := local.constantMidpoint(choice) + local.sumTerms(choice, values)
			if math.Abs(choiceValue-value) <= relTolerance*value {
				choices = append(choices, choice)
			}
		}
		starts[unknown+1] = uint32(len(choices))
	}
	return choices, starts
}

// solveSlack returns a slack vector w for a proof of inductive bounds: about the maximum of P w + values over the nearly optimal choices. It finds w by
// policy iteration over these choices. values is increased by a multiple of the rounding grid, as room for rounding.
func (iteration *policyIteration) solveSlack(values []float64) ([]float64, error) {
	nearOptimal, starts := iteration.nearOptimalChoices(values)
	rightSide := func(unknown int) float64 { return values[unknown] + iteration.equations.rounding.grid*gridSlack }
	return iteration.run(values, rightSide, func(slack []float64) (changed bool, err error) {
		for unknown := range slack {
			choices := nearOptimal[starts[unknown]:starts[unknown+1]]
			changed = iteration.improveSlack(slack, unknown, choices, rightSide(unknown), values[unknown]/2) || changed
		}
		return changed, iteration.meter.addWork(len(nearOptimal))
	})
}

// improveSlack switches an unknown to the choice with the greatest slack, and reports whether the choice changed. A new choice must have a
// slack that exceeds the slack of the current choice by more than margin.
func (iteration *policyIteration) improveSlack(slack []float64, unknown int, choices []uint32, rightSide, margin float64) (changed bool) {
	current, bestSlack := iteration.currentChoices[unknown], slack[unknown]
	for _, choice := range choices {
		if choice == current {
			continue
		}
		if newSlack := rightSide + iteration.equations.sumTerms(choice, slack); newSlack > bestSlack+margin {
			bestSlack, iteration.currentChoices[unknown], changed = newSlack, choice, true
		}
	}
	slack[unknown] = bestSlack
	return changed
}

// solve returns the solution of values = P values + rightSide under the current scheduler. It solves the strongly connected components of the
// induced chain one by one. It returns nil if this takes too long or overflows. guess is the initial approximation of iterative solvers.
func (iteration *policyIteration) solve(guess []float64, rightSide func(unknown int) float64) ([]float64, error) {
	if !iteration.isDecompositionCurrent {
		iteration.decompose()
		iteration.components = iteration.components[:0]
	}
	values := make([]float64, len(iteration.currentChoices))
	nextComponent := 0
	for i := range iteration.decomposition.Num() {
		members := iteration.decomposition.Members(i)
		if len(members) == 1 {
			unknown := members[0]
			values[unknown] = rightSide(int(unknown)) + iteration.sumTerms(unknown, values)
			continue
		}
		if nextComponent == len(iteration.components) {
			iteration.components = append(iteration.components, iteration.componentSolver(members))
		}
		if ok, err := iteration.solveComponent(iteration.components[nextComponent], members, values, guess, rightSide); !ok || err != nil {
			return nil, err
		}
		nextComponent++
	}
	iteration.isDecompositionCurrent = true
	return values, iteration.meter.addWork(len(iteration.equations.choiceStarts) * 8)
}

// sumTerms returns the value of the current choice of an unknown without its constant.
func (iteration *policyIteration) sumTerms(unknown uint32, values []float64) float64 {
	if choice := iteration.currentChoices[unknown]; choice != sparse.None {
		return iteration.equations.sumTerms(choice, values)
	}
	return 0
}

// solveComponent solves the equations of the members of a component, and writes the solution to values. Unknowns of other components that
// the members depend on must be solved. It returns false if this takes too long or overflows.
func (iteration *policyIteration) solveComponent(solver *eliminationSolver, members []uint32, values, guess []float64, rightSide func(unknown int) float64) (ok bool, err error) {
	solver.initialGuess = make([]float64, len(members))
	localRightSide := make([]float64, len(members))
	for i, unknown := range members {
		solver.initialGuess[i] = guess[unknown]
		localRightSide[i] = rightSide(int(unknown)) + iteration.equations.sumTerms(iteration.currentChoices[unknown], values) // only other components have values yet
	}
	solution, err := solver.solve(iteration.meter, func(i int) float64 { return localRightSide[i] })
	if solution == nil || err != nil {
		return false, err
	}
	for i, unknown := range members {
		values[unknown] = solution[i]
	}
	return true, nil
}

// decompose computes the strongly connected components of the induced chain.
func (iteration *policyIteration) decompose() {
	model := &sparse.Model{Kind: sparse.DTMC, FirstTransition: make([]uint32, 1, len(iteration.currentChoices)+1), Target: make([]uint32, 0, 2*len(iteration.currentChoices))}
	for unknown := range iteration.currentChoices {
		model.Target = append(model.Target, iteration.currentColumns(uint32(unknown))...)
		model.FirstTransition = append(model.FirstTransition, uint32(len(model.Target)))
	}
	iteration.decomposition = model.Components(nil, nil)
}

// componentSolver builds the equations of a component with several unknowns.
func (iteration *policyIteration) componentSolver(members []uint32) *eliminationSolver {
	numMembers := len(members)
	local := &localSystem{choiceStarts: make([]uint32, 0, numMembers+1), termStarts: make([]uint32, 0, numMembers+1), exitWeights: make([]float64, 0, numMembers)}
	solver := &eliminationSolver{equations: local, currentChoices: make([]uint32, numMembers), budget: iteration.budget, precision: 4 * unitRoundoff}
	for i, unknown := range members {
		iteration.indexInComponent[unknown] = uint32(i)
	}
	for i, unknown := range members {
		solver.currentChoices[i] = uint32(i)
		local.choiceStarts = append(local.choiceStarts, uint32(i))
		iteration.addComponentRow(local, unknown)
	}
	local.choiceStarts = append(local.choiceStarts, uint32(numMembers))
	local.termStarts = append(local.termStarts, uint32(len(local.termColumns)))
	return solver
}

// addComponentRow appends the equation of the current choice of an unknown to the equations of its component. Terms that lead out of the component are not
// stored; their weights add to the exit weight.
func (iteration *policyIteration) addComponentRow(local *localSystem, unknown uint32) {
	equations, choice := iteration.equations, iteration.currentChoices[unknown]
	component := iteration.decomposition.ID[unknown]
	local.termStarts = append(local.termStarts, uint32(len(local.termColumns)))
	exitWeight := equations.exitWeights[choice]
	for term := equations.termStarts[choice]; term < equations.termStarts[choice+1]; term++ {
		target, weight := equations.termColumns[term], equations.termWeights[term]
		if iteration.decomposition.ID[target] != component {
			exitWeight += weight
			continue
		}
		local.termColumns = append(local.termColumns, iteration.indexInComponent[target])
		local.termWeights = append(local.termWeights, weight)
	}
	local.exitWeights = append(local.exitWeights, exitWeight)
}
