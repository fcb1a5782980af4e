package sparse

import "fmt"

// ActionsError says that two states show the same and offer different actions, or
// one offers an action twice: the player could not tell the choices apart.
type ActionsError struct {
	// State and Other are the states, equal where an action is there twice.
	State, Other int
	Action       Action
}

func (e *ActionsError) Error() string {
	if e.State == e.Other {
		return fmt.Sprintf("state %d has two choices with the same action", e.State)
	}
	return fmt.Sprintf("states %d and %d show the same and have different actions", e.Other, e.State)
}

// MatchActions numbers the choices of a state of a partially observable model as those
// of the first state that shows the same: [first choice of s + k] is the choice of s
// with the k-th action. The error is an *ActionsError unless states that show the same
// offer the same actions, each once.
//
// Source: PRISM, which wants them in the same order, too.
func (m *Model) MatchActions(observation []uint32) ([]uint32, error) {
	out := make([]uint32, m.NumChoices())
	leader := map[uint32]int{}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		at := make(map[Action]int, end-first)
		for c := first; c < end; c++ {
			a := m.action(c)
			if _, twice := at[a]; twice {
				return nil, &ActionsError{s, s, a}
			}
			at[a] = c
		}
		l, known := leader[observation[s]]
		if !known {
			l = s
			leader[observation[s]] = s
		}
		f, e := m.Choices(l)
		if e-f != end-first {
			return nil, &ActionsError{State: s, Other: l}
		}
		for k := range e - f {
			c, ok := at[m.action(f+k)]
			if !ok {
				return nil, &ActionsError{State: s, Other: l, Action: m.action(f + k)}
			}
			out[first+k] = uint32(c)
		}
	}
	return out, nil
}

func (m *Model) action(c int) Action {
	if m.Actions == nil {
		return NoAction
	}
	return m.Actions[c]
}
