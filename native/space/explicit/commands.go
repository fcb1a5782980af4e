package explicit

import (
	"context"
	"errors"
	"math"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// errImported says that states of files have no commands.
var errImported = errors.New("states that were read from files have no commands")

var errElsewhere = errors.New("the commands of a state lead elsewhere than the state space; this is a bug: please report it")

// Commands calls visit for every choice that the model has in a state, in order, with the
// states that its transitions lead to. choice is that of the space which it became, of an
// MDP; several may have become one. What visit is given is overwritten.
func (s *Space) Commands(ctx context.Context, visit func(state, choice int, c *compile.Choice, targets []int)) error {
	if s.Imported() {
		return errImported
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
					return errElsewhere
				}
				targets = append(targets, to)
			}
			choice := i
			if m.Kind == sparse.MDP {
				if choice = s.choiceOf(i, c, targets); choice < 0 {
					return errElsewhere
				}
			}
			visit(i, choice, c, targets)
		}
	}
	return nil
}

// choiceOf returns the choice that one of the model became: that of its action and
// targets with, about, its weights; -1 if there is none.
func (s *Space) choiceOf(state int, c *compile.Choice, targets []int) int {
	m := s.Model()
	first, end := m.Choices(state)
	for i := first; i < end; i++ {
		if m.Actions != nil && int(m.Actions[i]) != c.Action+1 {
			continue
		}
		from, to := m.Row(i)
		if to-from == len(targets) && alike(m, from, c, targets) {
			return i
		}
	}
	return -1
}

func alike(m *sparse.Model, from int, c *compile.Choice, targets []int) bool {
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
