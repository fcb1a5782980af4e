package explicit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Observations are the observations of a POMDP's states. ByState[s] is the number of the
// observation of state s. Texts has the text of each observation, in order of first appearance.
type Observations struct {
	ByState []uint32
	Texts   []string // "true,3"
}

// ChoicesError says that a scheduler that sees only observations cannot distinguish choices: two
// states with the same observation have different actions, or one state has two choices with the
// same action.
type ChoicesError struct {
	File         string
	State, Other string // "(s=2)"; both are equal if one state has two choices with the same action
	Observation  string // the observation, as in Observations.Texts
}

// Error returns the message without the file.
func (e *ChoicesError) Error() string {
	if e.State == e.Other {
		return fmt.Sprintf("state %s has two choices with the same action, and a scheduler of a partially observable model cannot distinguish them", e.State)
	}
	return fmt.Sprintf("states %s and %s have the same observation (%s) but different actions", e.Other, e.State, e.Observation)
}

// Observations returns the observation of every state. It returns nil if the model is not a POMDP. The error is a
// *ChoicesError, the error of the context, or the error of evaluating an observable.
func (space *Space) Observations(ctx context.Context) (*Observations, error) {
	observations, err := space.observations(ctx)
	if err != nil || observations == nil {
		return nil, err
	}
	_, err = space.model.MatchActions(observations.ByState)
	if mismatch, ok := errors.AsType[*sparse.ActionsError](err); ok {
		stateText := func(i int) string { return space.compiled.StateText(space.State(nil, i)) }
		return nil, &ChoicesError{
			File: space.Program().File, State: stateText(mismatch.State), Other: stateText(mismatch.OtherState),
			Observation: observations.Texts[observations.ByState[mismatch.State]],
		}
	}
	return observations, err
}

// observations returns the observation of every state, or nil if the model is not a POMDP. It does not check that states with the same
// observation have the same actions.
func (space *Space) observations(ctx context.Context) (*Observations, error) {
	if space.Program().Type != syntax.POMDP {
		return nil, nil
	}
	if space.imported != nil {
		return space.imported.observations, nil
	}
	observations := &Observations{ByState: make([]uint32, space.store.numStates)}
	observationNumbers := map[string]uint32{}
	var state []int32
	for i := range observations.ByState {
		if i%pollInterval == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		state = space.State(state, i)
		observationText, err := space.observationText(state)
		if err != nil {
			return nil, fmt.Errorf("%w in state %s", err, space.compiled.StateText(state))
		}
		observation, isKnown := observationNumbers[observationText]
		if !isKnown {
			observation = uint32(len(observations.Texts))
			observationNumbers[observationText] = observation
			observations.Texts = append(observations.Texts, observationText)
		}
		observations.ByState[i] = observation
	}
	return observations, nil
}

// observationText returns the values of the observables in a state, separated by commas.
func (space *Space) observationText(state []int32) (string, error) {
	var text strings.Builder
	for index, observable := range space.Program().Observables {
		value, _, err := sema.EvalExact(observable.X, state)
		if err != nil {
			return "", fmt.Errorf("observable %q: %w", observable.Name, err)
		}
		if index > 0 {
			text.WriteByte(',')
		}
		if value.Type == sema.Bool {
			text.WriteString(strconv.FormatBool(value.Bool))
		} else {
			text.WriteString(strconv.Itoa(int(value.Int)))
		}
	}
	return text.String(), nil
}
