package explicit

import (
	"context"
	"errors"
	"math"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

var errNoCommands = errors.New("states that were read from files have no commands")

var errUnknownTarget = errors.New("the commands of a state lead elsewhere than the state space; this is a bug: please report it")

// Commands calls visit for every enabled choice of the model in every state, in order. targets are
// the states that the transitions of c lead to. In an MDP, choice is the choice of the space that
// c became: several choices of the model may have been merged into it. In a Markov chain, choice
// is the state. c and targets are overwritten after each call.
func (s *Space) Commands(ctx context.Context, visit func(state, choice int, c *compile.Choice, targets []int)) error {
	if s.Imported() {
		return errNoCommands
	}
	m := s.Model()
	x := s.Compiled().NewExpanderUntil(ctx)
	state, targets := s.State(nil, 0), []int(nil)
	for i := range m.NumStates() {
		if m.Deadlocks != nil && m.Deadlocks.Has(i) {
			continue
		}
		state = s.State(state, i)
		choices, err := x.Expand(state)
		if err != nil {
			return err
		}
		for k := range choices.List {
			c := &choices.List[k]
			targets = targets[:0]
			for _, t := range c.Transitions {
				to, ok := s.Find(t.Target)
				if !ok {
					return errUnknownTarget
				}
				targets = append(targets, to)
			}
			choice := i
			if m.Kind == sparse.MDP {
				if choice = s.choiceOf(i, c, targets); choice < 0 {
					return errUnknownTarget
				}
			}
			visit(i, choice, c, targets)
		}
	}
	return nil
}

// choiceOf returns the choice of an MDP with the action, the targets and (up to rounding) the
// weights of c; -1 if there is none.
func (s *Space) choiceOf(state int, c *compile.Choice, targets []int) int {
	m := s.Model()
	first, end := m.Choices(state)
	for i := first; i < end; i++ {
		if m.Actions != nil && int(m.Actions[i]) != c.Action+1 {
			continue
		}
		from, to := m.Row(i)
		if to-from == len(targets) && sameDistribution(m, from, c, targets) {
			return i
		}
	}
	return -1
}

// sameDistribution reports whether the transitions from index from on have the given targets, and
// the weights of c up to a relative error of 1e-9.
func sameDistribution(m *sparse.Model, from int, c *compile.Choice, targets []int) bool {
	for k, t := range targets {
		found := false
		for i := from; i < from+len(targets); i++ {
			if int(m.Target[i]) == t {
				found = math.Abs(c.Transitions[k].Weight-m.Prob(i)) <= 1e-9*m.Prob(i)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
