package explicit

import (
	"context"
	"errors"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// errNoCommands is the error of Commands for an imported state space.
var errNoCommands = errors.New("states that were read from files have no commands")

// errUnknownTarget reports that expanding a state again gave another successor than Build found.
var errUnknownTarget = errors.New("a command leads to a state that is not in the state space; this is a bug: please report it")

// Commands expands every state of the model again, and calls visit for each enabled choice, in the order of states and commands.
//
// Transition enabled.Transitions[i] leads to state targets[i]. choice is the index of the same choice in Space.Model; several enabled
// choices have the same index if Build has merged them. In a Markov chain, choice is the state. The next call overwrites enabled and
// targets.
func (space *Space) Commands(ctx context.Context, visit func(state, choice int, enabled *compile.Choice, targets []int)) error {
	if space.Imported() {
		return errNoCommands
	}
	model := space.Model()
	expander := space.Compiled().NewExpanderUntil(ctx)
	valuation := space.State(nil, 0)
	var targets []int
	for state := range model.NumStates() {
		if model.IsDeadlock(state) {
			continue
		}
		valuation = space.State(valuation, state)
		choices, err := expander.Expand(valuation)
		if err != nil {
			return err
		}
		for index := range choices.List {
			enabled := &choices.List[index]
			var allKnown bool
			targets, allKnown = space.findTargets(targets, enabled)
			if !allKnown {
				return errUnknownTarget
			}
			choice := space.findChoice(state, enabled, targets)
			if choice < 0 {
				return errUnknownTarget
			}
			visit(state, choice, enabled, targets)
		}
	}
	return nil
}

// findTargets returns the numbers of the states to which the transitions of a choice lead. It reuses the memory of the slice numbers. allKnown is false if
// some target is not a state of the space.
func (space *Space) findTargets(numbers []int, enabled *compile.Choice) (targets []int, allKnown bool) {
	numbers = numbers[:0]
	for _, transition := range enabled.Transitions {
		number, ok := space.Find(transition.Target)
		if !ok {
			return numbers, false
		}
		numbers = append(numbers, number)
	}
	return numbers, true
}

// findChoice returns the index of the choice of the sparse model that stands for an enabled choice of a state: it has the same action, and the same
// distribution except for rounding errors. It returns -1 if there is none. In a Markov chain the index is that of the state, whose choices are merged.
func (space *Space) findChoice(state int, enabled *compile.Choice, targets []int) int {
	model := space.Model()
	if model.Kind != sparse.MDP {
		return state
	}
	first, end := model.Choices(state)
	for choice := first; choice < end; choice++ {
		sameAction := model.Actions == nil || model.Actions[choice] == sparseAction(enabled.Action)
		if !sameAction {
			continue
		}
		firstTransition, endTransition := model.Transitions(choice)
		if endTransition-firstTransition == len(targets) && sameDistribution(model, firstTransition, enabled, targets) {
			return choice
		}
	}
	return -1
}

// sameDistribution reports whether the transitions of the model from firstTransition on have the given targets and the weights of the enabled
// choice. Weights may have a small relative difference.
func sameDistribution(model *sparse.Model, firstTransition int, enabled *compile.Choice, targets []int) bool {
	const tolerance = 1e-9
	row := model.Target[firstTransition : firstTransition+len(targets)]
	for index, target := range targets {
		position := slices.Index(row, uint32(target))
		if position < 0 {
			return false
		}
		weight := model.Prob(firstTransition + position)
		if math.Abs(enabled.Transitions[index].Weight-weight) > tolerance*weight {
			return false
		}
	}
	return true
}
