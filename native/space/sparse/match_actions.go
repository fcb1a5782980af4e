package sparse

import "fmt"

// ActionsError says that two states with the same observation have different actions, or that one has
// an action twice: the player could not tell the choices apart.
type ActionsError struct {
	// State and Other are the two states, equal if an action occurs twice in one.
	State, Other int
	Action       Action
}

func (e *ActionsError) Error() string {
	if e.State == e.Other {
		return fmt.Sprintf("state %d has two choices with the same action", e.State)
	}
	return fmt.Sprintf("states %d and %d show the same and have different actions", e.Other, e.State)
}

// MatchActions matches the choices of states with the same observation by their actions. With first the
// first choice of state s, out[first+k] is the choice of s that has the action of choice k of the first
// state with this observation. The error is an *ActionsError if the actions of such states differ, or
// one occurs twice.
//
// Source: PRISM, which also requires the same order.
func (m *Model) MatchActions(observation []uint32) ([]uint32, error) {
	out := make([]uint32, m.NumChoices())
	representative := map[uint32]int{}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		choiceOf := make(map[Action]int, end-first)
		for c := first; c < end; c++ {
			a := m.actionOf(c)
			if _, twice := choiceOf[a]; twice {
				return nil, &ActionsError{s, s, a}
			}
			choiceOf[a] = c
		}
		rep, known := representative[observation[s]]
		if !known {
			rep = s
			representative[observation[s]] = s
		}
		repFirst, repEnd := m.Choices(rep)
		if repEnd-repFirst != end-first {
			return nil, &ActionsError{State: s, Other: rep}
		}
		for k := range repEnd - repFirst {
			c, ok := choiceOf[m.actionOf(repFirst+k)]
			if !ok {
				return nil, &ActionsError{State: s, Other: rep, Action: m.actionOf(repFirst + k)}
			}
			out[first+k] = uint32(c)
		}
	}
	return out, nil
}

func (m *Model) actionOf(c int) Action {
	if m.Actions == nil {
		return NoAction
	}
	return m.Actions[c]
}
