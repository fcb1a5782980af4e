package sparse

import "fmt"

// ActionsError says that two states with the same observation have different actions, or that one has
// an action twice: the player could not tell the choices apart.
type ActionsError struct {
	// State and Other are the two states. They are equal if an action occurs twice in one state.
	State, OtherState int
	// Action is an action that only one of the states has, or that occurs twice. It is empty if the states have
	// different numbers of actions.
	Action Action
}

func (e *ActionsError) Error() string {
	if e.State == e.OtherState {
		return fmt.Sprintf("state %d has two choices with the same action", e.State)
	}
	return fmt.Sprintf("states %d and %d have the same observation, and different actions", e.OtherState, e.State)
}

// MatchActions returns the choices of all states, reordered so that states with the same observation have the same
// actions in the same order. observation[s] is the observation of state s.
//
// The result has as many entries as the model has choices, and the range model.Choices(s) of it holds the choices of
// state s. Their order is that of the first state with the observation. Unlike in PRISM, the actions may be in a
// different order in each state of the model.
//
// The error is an *ActionsError if states with the same observation have different actions, or if a state has two
// choices with the same action.
func (model *Model) MatchActions(observation []uint32) ([]uint32, error) {
	sorted := make([]uint32, 0, model.NumChoices())
	referenceOf := map[uint32]int{} // the first state with each observation
	for state := range model.NumStates() {
		if _, isKnown := referenceOf[observation[state]]; !isKnown {
			referenceOf[observation[state]] = state
		}
		var err error
		if sorted, err = model.appendInOrder(sorted, state, referenceOf[observation[state]]); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}

// appendInOrder appends the choices of a state to sorted, in the order of the actions in the reference state. The error is an *ActionsError if the two
// states do not have the same actions.
func (model *Model) appendInOrder(sorted []uint32, state, reference int) ([]uint32, error) {
	choiceOf, err := model.choicesByAction(state)
	if err != nil {
		return nil, err
	}
	first, end := model.Choices(reference)
	if end-first != len(choiceOf) {
		return nil, &ActionsError{State: state, OtherState: reference}
	}
	for referenceChoice := first; referenceChoice < end; referenceChoice++ {
		action := model.actionOf(referenceChoice)
		choice, hasAction := choiceOf[action]
		if !hasAction {
			return nil, &ActionsError{State: state, OtherState: reference, Action: action}
		}
		sorted = append(sorted, choice)
	}
	return sorted, nil
}

// choicesByAction returns a map from each action of a state to its choice. The error is an *ActionsError if two choices have the same
// action.
func (model *Model) choicesByAction(state int) (map[Action]uint32, error) {
	first, end := model.Choices(state)
	choiceOf := make(map[Action]uint32, end-first)
	for choice := first; choice < end; choice++ {
		action := model.actionOf(choice)
		if _, isDuplicate := choiceOf[action]; isDuplicate {
			return nil, &ActionsError{State: state, OtherState: state, Action: action}
		}
		choiceOf[action] = uint32(choice)
	}
	return choiceOf, nil
}

// actionOf returns the action of choice c.
func (model *Model) actionOf(c int) Action {
	if model.Actions == nil {
		return NoAction
	}
	return model.Actions[c]
}
