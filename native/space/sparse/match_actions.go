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
	return fmt.Sprintf("states %d and %d have the same observation, and different actions", e.Other, e.State)
}

// MatchActions matches the choices of states with the same observation by their actions. Consider a state
// s with first choice first, and the first state r with the same observation: out[first+k] is the choice
// of s with the same action as the k-th choice of r. The error is an *ActionsError if states with the same
// observation have different actions, or a state has two choices with the same action.
//
// PRISM requires the actions in the same order too; we do not.
func (m *Model) MatchActions(observation []uint32) ([]uint32, error) {
	out := make([]uint32, m.NumChoices())
	representative := map[uint32]int{}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		choiceOf := make(map[Action]int, end-first)
		for c := first; c < end; c++ {
			action := m.actionOf(c)
			if _, twice := choiceOf[action]; twice {
				return nil, &ActionsError{s, s, action}
			}
			choiceOf[action] = c
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

// actionOf returns the action of choice c.
func (m *Model) actionOf(c int) Action {
	if m.Actions == nil {
		return NoAction
	}
	return m.Actions[c]
}
