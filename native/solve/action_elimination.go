package solve

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// eliminateActions makes the exact solution of an MDP with cycles smaller. It computes bounds of all values, removes the choices that these bounds prove not to
// be optimal, and then removes the maybe states that the wanted states no longer reach. Often, few cycles are left. It also sets firstScheduler to
// a scheduler whose values are within these bounds. canStayWithoutReward is as for solve.
//
// An optimal choice has the value of its state. So a choice is not optimal if all values within its bounds are worse than all values within the bounds of its
// state.
//
// Source: MacQueen, A test for suboptimal actions in Markovian decision problems (Operations Research 15, 1967).
func (system *equationSystem) eliminateActions(ctx context.Context, opts Options, canStayWithoutReward bool) error {
	opts.Exact, opts.Scheduler, opts.MaxSweeps = false, true, guidingSweeps
	bounded := &equationSystem{
		graph: system.graph, minimize: system.minimize, isProbability: system.isProbability, maybe: system.maybe, choices: system.choices, reward: system.reward,
		rounding: system.rounding, values: newValues(system.graph.Model, opts),
	}
	for state := range system.maybe.Complement().All() {
		bounds := system.values.Number(state)
		bounded.values.Lower[state], bounded.values.Upper[state] = bounds.Lo, bounds.Hi
	}
	if _, err := bounded.solve(ctx, opts, canStayWithoutReward); err != nil {
		return err
	}
	system.choices, system.firstScheduler = bounded.possiblyOptimalChoices(), bounded.values.Scheduler
	if opts.Within != nil && system.values.Scheduler == nil {
		system.maybe = system.reachableMaybeStates(opts.Within)
	}
	return nil
}

// hasChoicesInCycles reports whether a component with several states has a state with several choices.
func (system *equationSystem) hasChoicesInCycles(components *sparse.Components, cyclicIDs *sparse.Set) bool {
	for i := range cyclicIDs.All() {
		for _, state := range components.Members(i) {
			if first, end := system.graph.Choices(int(state)); end-first > 1 {
				return true
			}
		}
	}
	return false
}

// possiblyOptimalChoices returns the allowed choices of the maybe states that the bounds do not prove to be worse than another one. It includes the choices of
// end components.
func (system *equationSystem) possiblyOptimalChoices() *sparse.Set {
	result := sparse.NewSet(system.graph.NumChoices())
	for state := range system.maybe.All() {
		first, end := system.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			isAllowed := system.choices == nil || system.choices.Has(choice)
			if isAllowed && !(system.isUsableChoice(choice) && system.isSuboptimal(state, choice)) {
				result.Add(choice)
			}
		}
	}
	return result
}

// isSuboptimal reports whether the bounds prove that a choice of a state is not optimal.
func (system *equationSystem) isSuboptimal(state, choice int) bool {
	bounds := system.evaluateChoice(state, choice)
	switch {
	case !bounds.leavesState:
		return false
	case system.minimize:
		return bounds.lower > system.values.Upper[state]
	}
	return bounds.upper < system.values.Lower[state]
}

// reachableMaybeStates returns the maybe states that the given states reach through maybe states and allowed choices.
func (system *equationSystem) reachableMaybeStates(startStates *sparse.Set) *sparse.Set {
	distances := system.distances(startStates, system.maybe, func(state int, visit func(target int)) {
		first, end := system.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if !system.choices.Has(choice) {
				continue
			}
			firstTransition, endTransition := system.graph.Transitions(choice)
			for _, target := range system.graph.Target[firstTransition:endTransition] {
				visit(int(target))
			}
		}
	})
	reachable := sparse.NewSet(len(distances))
	for state := range system.maybe.All() {
		if distances[state] < math.MaxInt {
			reachable.Add(state)
		}
	}
	return reachable
}
