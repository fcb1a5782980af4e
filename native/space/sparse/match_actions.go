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

// MatchActions matches the choices of states with the same observation by their actions. The order of choices
// of the first state with an observation is the common order: if a state has the choices from first on, entry
// first+k of the result is its choice with the action that choice k of the common order has.
//
// The error is an *ActionsError if states with the same observation have different actions, or a state has two
// choices with the same action. PRISM also requires the actions in the same order; MatchActions does not.
func (m *Model) MatchActions(observation []uint32) ([]uint32, error) {
	matching := make([]uint32, m.NumChoices())
	firstState := map[uint32]int{} // by observation
	for s := range m.NumStates() {
		representative, found := firstState[observation[s]]
		if !found {
			representative = s
			firstState[observation[s]] = s
		}
		first, end := m.Choices(s)
		if err := m.matchState(matching[first:end], s, representative); err != nil {
			return nil, err
		}
	}
	return matching, nil
}

// matchState sets entry k of matching to the choice of a state that has the action of choice k of the representative. The
// error is an *ActionsError if their actions differ.
func (m *Model) matchState(matching []uint32, state, representative int) error {
	choiceOf, err := m.choicesByAction(state)
	if err != nil {
		return err
	}
	first, end := m.Choices(representative)
	if end-first != len(matching) {
		return &ActionsError{State: state, Other: representative}
	}
	for k := range matching {
		action := m.actionOf(first + k)
		choice, ok := choiceOf[action]
		if !ok {
			return &ActionsError{State: state, Other: representative, Action: action}
		}
		matching[k] = choice
	}
	return nil
}

// choicesByAction returns the choice of each action of a state. The error is an *ActionsError if two choices have the
// same action.
func (m *Model) choicesByAction(s int) (map[Action]uint32, error) {
	first, end := m.Choices(s)
	choiceOf := make(map[Action]uint32, end-first)
	for c := first; c < end; c++ {
		action := m.actionOf(c)
		if _, twice := choiceOf[action]; twice {
			return nil, &ActionsError{s, s, action}
		}
		choiceOf[action] = uint32(c)
	}
	return choiceOf, nil
}

// actionOf returns the action of choice c.
func (m *Model) actionOf(c int) Action {
	if m.Actions == nil {
		return NoAction
	}
	return m.Actions[c]
}
