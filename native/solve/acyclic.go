package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// solveAcyclic computes bounds for the maybe states if every cycle among them is a self-loop. It solves the successors of a state before the state itself,
// so one pass is enough. If several maybe states form a cycle, it computes nothing and returns false.
func (system *equationSystem) solveAcyclic(ctx context.Context, opts Options, maybe *sparse.Set) (isAcyclic bool, err error) {
	order, ok := system.graph.Topological(maybe)
	if !ok {
		return false, nil
	}
	meter := newMeter(ctx, opts, len(order.Order))
	for i, first := range order.Start[:len(order.Start)-1] {
		states := order.Order[first:order.Start[i+1]] // there are no transitions between these states
		system.solveIndependent(states)
		meter.progress.Done += len(states)
		if err := meter.addWork(4 * len(states)); err != nil {
			return true, err
		}
	}
	return true, nil
}

// solveIndependent solves states without transitions between them, in parallel.
func (system *equationSystem) solveIndependent(states []uint32) {
	inParallelParts(len(states), 1000, func(from, to int) { system.solveStates(states[from:to]) })
}

// solveStates stores bounds for the given states. All their successors, except the states themselves, must be solved.
func (system *equationSystem) solveStates(states []uint32) {
	for _, state := range states {
		if bounds := system.optimumOverChoices(int(state)); bounds.choice != sparse.None { // otherwise the value stays 0
			system.values.Lower[state], system.values.Upper[state] = bounds.lower, bounds.upper
		}
	}
}

// optimumOverChoices returns bounds on the optimal probability of a state over its choices. All successors except the state itself must be solved. If it is
// optimal to stay in the state forever, the value is 0 and the choice is sparse.None.
func (system *equationSystem) optimumOverChoices(state int) bestBounds {
	model := system.graph.Model
	optimum := emptyBestBounds(system.minimize)
	first, end := model.Choices(state)
	for choice := first; choice < end; choice++ {
		firstTransition, endTransition := model.Transitions(choice)
		target := model.Target[firstTransition]
		hasSeveralTargets := endTransition-firstTransition > 1
		switch {
		case hasSeveralTargets:
			bounds := system.evaluateChoice(state, choice)
			if !bounds.leavesState && system.minimize { // the choice has only self-loops, so the scheduler can stay and never reach the target
				return emptyBestBounds(true)
			}
			optimum.include(bounds, uint32(choice), system.minimize)
		case int(target) != state: // the only target is another state, whose value is the value of the choice
			optimum.include(choiceBounds{lower: system.values.Lower[target], upper: system.values.Upper[target], leavesState: true}, uint32(choice), system.minimize)
		case system.minimize: // the only target is the state itself, so the scheduler can stay and never reach the target
			return emptyBestBounds(true)
		}
	}
	// The values are probabilities, so a bound that rounding has raised above 1 becomes 1.
	optimum.upper = min(optimum.upper, 1)
	optimum.lower = min(optimum.lower, optimum.upper)
	return optimum
}
