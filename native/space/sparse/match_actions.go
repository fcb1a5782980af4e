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

// MatchActions matches the choices of states with the same observation by their actions. The first state with an
// observation is the reference. If the choices of a state begin at first, entry first+k of the result is the
// choice with the same action as the reference's choice k.
//
// The error is an *ActionsError if states with the same observation have different actions, or if a state has two
// choices with the same action. Unlike in PRISM, the actions may have any order.
func (model *Model) MatchActions(observation []uint32) ([]uint32, error) {
	matching := make([]uint32, model.NumChoices())
	firstState := map[uint32]int{} // by observation
	for state := range model.NumStates() {
		reference, isKnown := firstState[observation[state]]
		if !isKnown {
			reference = state
			firstState[observation[state]] = state
		}
		first, end := model.Choices(state)
		if err := model.matchState(matching[first:end], state, reference); err != nil {
			return nil, err
		}
	}
	return matching, nil
}

// matchState sets entry k of matching to the state's choice with the same action as choice k of the reference. The
// error is an *ActionsError if their actions differ.
func (model *Model) matchState(matching []uint32, state, reference int) error {
	choiceOf, err := model.choicesByAction(state)
	if err != nil {
		return err
	}
	first, end := model.Choices(reference)
	if end-first != len(matching) {
		return &ActionsError{State: state, Other: reference}
	}
	for k := range matching {
		action := model.actionOf(first + k)
		choice, found := choiceOf[action]
		if !found {
			return &ActionsError{State: state, Other: reference, Action: action}
		}
		matching[k] = choice
	}
	return nil
}

// choicesByAction returns the choice of each action of a state. The error is an *ActionsError if two choices have
// the same action.
func (model *Model) choicesByAction(state int) (map[Action]uint32, error) {
	first, end := model.Choices(state)
	choiceOf := make(map[Action]uint32, end-first)
	for choice := first; choice < end; choice++ {
		action := model.actionOf(choice)
		if _, isDuplicate := choiceOf[action]; isDuplicate {
			return nil, &ActionsError{State: state, Other: state, Action: action}
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
