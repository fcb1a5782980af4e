package explicit

import (
	"context"
	"errors"
	"math"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// errNoCommands is the error of Commands for an imported state space.
var errNoCommands = errors.New("states that were read from files have no commands")

// errUnknownTarget reports that expanding a state again gave another successor than Build found.
var errUnknownTarget = errors.New("a command leads to a state that is not in the state space; this is a bug: please report it")

// Commands expands every state of the model again and calls visit for each enabled choice, in the
// order of states and commands. targets[i] is the number of the state that enabled.Transitions[i]
// leads to. choice is the index of the same choice in Space.Model; several enabled choices have the
// same index if Build merged them. In a Markov chain, choice is the state. enabled and targets are
// overwritten after each call.
func (s *Space) Commands(ctx context.Context, visit func(state, choice int, enabled *compile.Choice, targets []int)) error {
	if s.Imported() {
		return errNoCommands
	}
	model := s.Model()
	expander := s.Compiled().NewExpanderUntil(ctx)
	valuation, targets := s.State(nil, 0), []int(nil)
	for state := range model.NumStates() {
		if model.Deadlocks != nil && model.Deadlocks.Has(state) {
			continue
		}
		valuation = s.State(valuation, state)
		choices, err := expander.Expand(valuation)
		if err != nil {
			return err
		}
		for index := range choices.List {
			enabled := &choices.List[index]
			var ok bool
			if targets, ok = s.findTargets(targets, enabled); !ok {
				return errUnknownTarget
			}
			choice := s.findChoice(state, enabled, targets)
			if choice < 0 {
				return errUnknownTarget
			}
			visit(state, choice, enabled, targets)
		}
	}
	return nil
}

// findTargets returns the numbers of the states that a choice leads to, in dst. It returns false if one is not in the space.
func (s *Space) findTargets(dst []int, enabled *compile.Choice) ([]int, bool) {
	dst = dst[:0]
	for _, transition := range enabled.Transitions {
		number, ok := s.Find(transition.Target)
		if !ok {
			return dst, false
		}
		dst = append(dst, number)
	}
	return dst, true
}

// findChoice returns the choice of a state that has the action, the targets and, up to
// rounding, the weights of an enabled choice; -1 if there is none. In a Markov chain it returns the state, whose
// enabled choices are merged.
func (s *Space) findChoice(state int, enabled *compile.Choice, targets []int) int {
	model := s.Model()
	if model.Kind != sparse.MDP {
		return state
	}
	first, end := model.Choices(state)
	for choice := first; choice < end; choice++ {
		sameAction := model.Actions == nil || model.Actions[choice] == actionOf(enabled.Action)
		if !sameAction {
			continue
		}
		firstTransition, endTransition := model.Row(choice)
		if endTransition-firstTransition == len(targets) && sameDistribution(model, firstTransition, enabled, targets) {
			return choice
		}
	}
	return -1
}

// sameDistribution reports whether the transitions of the model from index first on have the given
// targets and the weights of the enabled choice, up to a relative error of 1e-9.
func sameDistribution(model *sparse.Model, first int, enabled *compile.Choice, targets []int) bool {
	for index, target := range targets {
		found := false
		for transition := first; transition < first+len(targets); transition++ {
			if int(model.Target[transition]) == target {
				found = math.Abs(enabled.Transitions[index].Weight-model.Prob(transition)) <= 1e-9*model.Prob(transition)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
