package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// ErrNotExact says that a model whose weights are float64 cannot be solved exactly.
var ErrNotExact = errors.New("the weights of the model are not exact")

// solveExact solves the members of one component in rational arithmetic, and returns an estimate of the work.
func (system *equationSystem) solveExact(members []uint32, index *unknownIndex, meter *meter) (work int, err error) {
	if len(members) == 1 {
		system.solveExactState(int(members[0]))
	} else if err := system.solveExactComponent(members, index, meter); err != nil {
		return 0, err
	}
	return len(members) * (100 + reductionCost(system.values.Exact[members[0]])), nil
}

// guidingSweeps limits the sweeps for float64 values with which an exact computation selects its first scheduler, or the choices that it leaves out.
const guidingSweeps = 10_000

// solveExactComponent solves a component of several states by policy iteration in rational arithmetic. If some state has several choices, it starts
// with system.firstScheduler or, without one, with the scheduler of a solution in float64.
func (system *equationSystem) solveExactComponent(members []uint32, index *unknownIndex, meter *meter) error {
	floatSystem := system.localSystem(members, index)
	hasSeveralChoices := len(floatSystem.modelChoices) >= len(floatSystem.choiceStarts) // more choices than unknowns
	if hasSeveralChoices && system.firstScheduler != nil {
		floatSystem.copyModelScheduler(system.firstScheduler, system.graph)
	} else if hasSeveralChoices {
		if err := floatSystem.solve(meter, Options{MaxSweeps: guidingSweeps}, 1e-6); err != nil {
			return err
		}
	}
	exactEquations := system.exactLocalSystem(floatSystem, index)
	if err := exactEquations.policyIteration(meter); err != nil {
		return err
	}
	copy(floatSystem.scheduler, exactEquations.currentChoices)
	system.storeScheduler(floatSystem, members, index)
	values := make([]*big.Rat, len(exactEquations.currentChoices)) // the value of each unknown, which several states may share
	for _, state := range members {
		unknown := index.unknowns[state]
		if values[unknown] == nil {
			values[unknown] = exactEquations.value(unknown)
		}
		system.values.setExact(int(state), values[unknown])
	}
	index.clearUnknowns(members)
	return nil
}

// exactSteps applies the equations of the maybe states numSteps times in rational arithmetic. If opts.Within is set, it computes only those values that
// influence the results of the states in opts.Within.
func (system *equationSystem) exactSteps(ctx context.Context, opts Options, maybe *sparse.Set, numSteps int) error {
	if numSteps == 0 {
		return nil
	}
	meter := newMeter(ctx, opts, numSteps)
	window := system.restrictedStepWindow(opts, maybe, numSteps)
	if steps := system.newBaseFractionSteps(numSteps, len(window.states)); steps != nil {
		return steps.run(meter, window, numSteps)
	}
	nextValues := slices.Clone(system.values.Exact)
	updateState := func(state uint32) (choice uint32, work int) {
		optimum := system.optimumRat(int(state))
		nextValues[state] = optimum.value
		return optimum.choice, 1000 + reductionCost(optimum.value)
	}
	endStep := func() { system.values.Exact, nextValues = nextValues, system.values.Exact }
	return window.forEachStep(system.stepScheduler, meter, numSteps, updateState, endStep)
}

// forEachStep performs numSteps steps. In each step it calls visit for every state whose value matters, and then endStep. visit computes the new value of a
// state; it returns the optimal choice, which recorder stores, and the number of operations.
func (window *stepWindow) forEachStep(recorder *stepScheduler, meter *meter, numSteps int, visit func(state uint32) (choice uint32, work int), endStep func()) error {
	for step := range numSteps {
		recorder.beginStep()
		for _, state := range window.states {
			if !window.contains(state, step, numSteps) {
				continue
			}
			choice, work := visit(state)
			recorder.setChoice(int(state), choice)
			if err := meter.addWork(work); err != nil {
				return err
			}
		}
		if err := meter.addWork(len(window.states)); err != nil {
			return err
		}
		endStep()
		recorder.endStep(1)
		meter.progress.Done++
	}
	return nil
}

// stepWindow says in which steps the value of a state must be computed. If it is restricted, these are the steps in which the value
// is not zero any more and influences a wanted value. Otherwise they are all steps.
type stepWindow struct {
	states       []uint32
	isRestricted bool // only the states with queryDistance 0 are wanted
	// queryDistance is the number of steps from the nearest wanted state to each state. valueDistance is the number of steps from each
	// state to the nearest state with a nonzero value.
	queryDistance, valueDistance []int
}

// contains reports whether the value of a state after a step matters: it influences a wanted result, and is not known to be 0. step is counted from 0.
func (window *stepWindow) contains(state uint32, step, numSteps int) bool {
	if !window.isRestricted {
		return true
	}
	isNeeded := window.queryDistance[state] < numSteps-step
	isZero := window.valueDistance[state] > step+1
	return isNeeded && !isZero
}

// newStepWindow returns the window of all steps of the maybe states.
func newStepWindow(maybe *sparse.Set) *stepWindow {
	window := &stepWindow{states: make([]uint32, 0, maybe.Count())}
	for state := range maybe.All() {
		window.states = append(window.states, uint32(state))
	}
	return window
}

// restrictedStepWindow returns the states whose values must be computed in numSteps steps. If opts.Within is set and no scheduler is recorded, these are
// only the maybe states that influence the results of the states in opts.Within.
func (system *equationSystem) restrictedStepWindow(opts Options, maybe *sparse.Set, numSteps int) *stepWindow {
	window := newStepWindow(maybe)
	if opts.Within == nil || system.stepScheduler != nil {
		return window
	}
	window.isRestricted = true
	// queryDistance is the number of steps from a wanted state to each state, valueDistance that from each state to a state with a nonzero value.
	window.queryDistance = system.distances(opts.Within, maybe, func(state int, visit func(target int)) {
		for _, target := range system.successors(uint32(state)) {
			visit(int(target))
		}
	})
	window.valueDistance = system.valueDistances()
	window.states = slices.DeleteFunc(window.states, func(state uint32) bool { // remove states that wanted states do not reach in time, or with value 0 until then
		return window.queryDistance[state] >= numSteps || window.valueDistance[state] > numSteps-window.queryDistance[state]
	})
	return window
}

// valueDistances returns, for each state, the number of steps after which its value can be nonzero: its distance to a state with a nonzero value. With
// rewards every value can be nonzero at once, so all distances are 0.
func (system *equationSystem) valueDistances() []int {
	if system.reward != nil {
		return make([]int, system.graph.NumStates())
	}
	nonzero := sparse.NewSet(system.graph.NumStates())
	for state, value := range system.values.Exact {
		if value.Sign() != 0 {
			nonzero.Add(state)
		}
	}
	return system.distances(nonzero, nil, func(state int, visit func(target int)) {
		for _, choice := range system.graph.Into(state) {
			visit(system.graph.Owner(choice))
		}
	})
}

// distances returns the breadth-first distance of each state from startStates, or math.MaxInt if a state is unreachable. forEachNeighbour calls visit for
// each neighbour of a state. If expandableStates is not nil, paths go only through its states.
func (system *equationSystem) distances(startStates, expandableStates *sparse.Set, forEachNeighbour func(state int, visit func(target int))) []int {
	distances := slices.Repeat([]int{math.MaxInt}, system.graph.NumStates())
	var queue []int
	for state := range startStates.All() {
		distances[state] = 0
		queue = append(queue, state)
	}
	for head := 0; head < len(queue); head++ {
		state := queue[head]
		if expandableStates != nil && !expandableStates.Has(state) {
			continue
		}
		forEachNeighbour(state, func(target int) {
			if distances[target] == math.MaxInt {
				distances[target] = distances[state] + 1
				queue = append(queue, target)
			}
		})
	}
	return distances
}

// reductionCost estimates the operations that reduce a fraction to lowest terms. They dominate for long fractions.
func reductionCost(value *big.Rat) int {
	if value == nil {
		return 0
	}
	words := (value.Num().BitLen() + value.Denom().BitLen()) / 64
	return words * words
}

// solveExactState computes the exact value of a state that is the only state of its strongly connected component. Its successors must be solved.
func (system *equationSystem) solveExactState(state int) {
	optimum := system.optimumRat(state)
	if optimum.choice == sparse.None {
		return
	}
	if system.values.Scheduler != nil {
		system.values.Scheduler[state] = optimum.choice
	}
	system.values.setExact(state, optimum.value)
}

// exactOptimum is the optimal value of a state, and the first choice that attains it.
type exactOptimum struct {
	value  *big.Rat
	choice uint32
}

// optimumRat returns the optimal value of a state over its usable choices, as a fraction, and an optimal choice.
func (system *equationSystem) optimumRat(state int) exactOptimum {
	best, minimize := exactOptimum{choice: sparse.None}, system.minimizes(state)
	first, end := system.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		if !system.isUsableChoice(choice) {
			continue
		}
		value := system.exactChoiceValue(state, choice)
		if value != nil && isBetterRat(value, best.value, minimize) {
			best = exactOptimum{value, uint32(choice)}
		}
	}
	return best
}

// isBetterRat reports whether value is less than best for a minimum, or greater for a maximum. Any value is better than nil.
func isBetterRat(value, best *big.Rat, minimize bool) bool {
	switch {
	case best == nil:
		return true
	case value == best: // equal values often share one fraction in memory
		return false
	case minimize:
		return value.Cmp(best) < 0
	}
	return value.Cmp(best) > 0
}

// isOne reports whether a fraction is 1.
func isOne(value *big.Rat) bool {
	return value.IsInt() && value.Num().IsInt64() && value.Num().Int64() == 1
}

// exactChoiceValue computes the value of a choice of a state as a fraction, from the values of its successors. Unless system.isOneStep is set, it eliminates
// self-loops, and returns nil if there are only self-loops.
func (system *equationSystem) exactChoiceValue(state, choice int) *big.Rat {
	reward := system.reward.ExactChoiceTotal(state, choice)
	if system.nature != nil {
		return system.nature.choiceValue(choice, reward, system.nature.exactDistribution(choice, system.values.Exact), system.values.Exact)
	}
	if reward.Sign() == 0 && system.hasValueOfTarget(state, choice) {
		return system.values.Exact[system.graph.Target[system.graph.FirstTransition[choice]]]
	}
	system.scratchSum.setZero()
	system.scratchSum.addFraction(reward)
	leaves, hasLoop := system.addSuccessorValues(state, choice)
	if !leaves {
		return nil
	}
	if hasLoop || system.graph.Kind == sparse.CTMC {
		system.divideByWeights(state, choice)
	}
	return system.scratchSum.lowestTerms()
}

// addSuccessorValues adds weight * value of each target of a choice to scratchSum, but skips self-loops that are eliminated. hasLoop says whether there are
// such self-loops, and hasOther whether there are other transitions.
func (system *equationSystem) addSuccessorValues(state, choice int) (hasOther, hasLoop bool) {
	first, end := system.graph.Transitions(choice)
	for i := first; i < end; {
		weight := system.graph.Fraction(i)
		system.scratchTerm.setZero()
		for ; i < end && system.graph.Fraction(i) == weight; i++ { // add the values of targets with equal weights first, and multiply once
			target := int(system.graph.Target[i])
			if system.isEliminatedLoop(state, target) {
				hasLoop = true
				continue
			}
			hasOther = true
			system.scratchTerm.addFraction(system.values.Exact[target])
		}
		system.scratchSum.addProduct(weight, &system.scratchTerm)
	}
	return hasOther, hasLoop
}

// divideByWeights divides scratchSum by the sum of the weights of a choice, to which self-loops that are eliminated do not count.
func (system *equationSystem) divideByWeights(state, choice int) {
	system.scratchWeights.setZero()
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if !system.isEliminatedLoop(state, int(system.graph.Target[transition])) {
			system.scratchWeights.addFraction(system.graph.Fraction(transition))
		}
	}
	system.scratchSum.divideBy(&system.scratchWeights)
}

// isEliminatedLoop reports whether a transition from a state to target is a self-loop that the equations eliminate. Equations of one step keep self-loops.
func (system *equationSystem) isEliminatedLoop(state, target int) bool {
	return !system.isOneStep && target == state
}

// hasValueOfTarget reports whether a choice of a state, without rewards, has the value of its only target.
func (system *equationSystem) hasValueOfTarget(state, choice int) bool {
	first, end := system.graph.Transitions(choice)
	if end-first != 1 || system.isEliminatedLoop(state, int(system.graph.Target[first])) {
		return false
	}
	return system.graph.Kind == sparse.CTMC || isOne(system.graph.Fraction(first))
}
