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

// Observations are the observations of a POMDP. Of has the number of each state's observation;
// List has the text of each observation, in order of first appearance.
type Observations struct {
	Of   []uint32
	List []string // "true,3"
}

// ChoicesError says that a scheduler that sees only observations cannot tell choices apart: two
// states with the same observation have different actions, or one state has two choices with the
// same action.
type ChoicesError struct {
	File         string
	State, Other string // "(s=2)"; equal if one state has an action twice
	Shown        string // the observation, as in Observations.List
}

// Error returns the message, without the file.
func (e *ChoicesError) Error() string {
	if e.State == e.Other {
		return fmt.Sprintf("state %s has two choices with the same action, which a scheduler of a partially observable model cannot tell apart", e.State)
	}
	return fmt.Sprintf("states %s and %s have different actions, and show the same: (%s)", e.Other, e.State, e.Shown)
}

// Observations evaluates the observables in every state; nil if the model is not a POMDP. The
// error is the context's, that of an observable, or a *ChoicesError.
func (s *Space) Observations(ctx context.Context) (*Observations, error) {
	seen, err := s.observations(ctx)
	if err != nil || seen == nil {
		return nil, err
	}
	_, err = s.model.MatchActions(seen.Of)
	if wrong, ok := errors.AsType[*sparse.ActionsError](err); ok {
		text := func(i int) string { return s.compiled.StateText(s.State(nil, i)) }
		return nil, &ChoicesError{File: s.Program().File, State: text(wrong.State), Other: text(wrong.Other), Shown: seen.List[seen.Of[wrong.State]]}
	}
	return seen, err
}

func (s *Space) observations(ctx context.Context) (*Observations, error) {
	if s.Program().Type != syntax.POMDP {
		return nil, nil
	}
	if s.imported != nil {
		return s.imported.seen, nil
	}
	out := &Observations{Of: make([]uint32, s.store.n)}
	number := map[string]uint32{}
	var state []int32
	for i := range out.Of {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		state = s.State(state, i)
		text, err := s.observationText(state)
		if err != nil {
			return nil, fmt.Errorf("%w in state %s", err, s.compiled.StateText(state))
		}
		n, known := number[text]
		if !known {
			n = uint32(len(out.List))
			number[text] = n
			out.List = append(out.List, text)
		}
		out.Of[i] = n
	}
	return out, nil
}

// observationText returns the values of the observables in a state, separated by commas.
func (s *Space) observationText(state []int32) (string, error) {
	var text strings.Builder
	for k, o := range s.Program().Observables {
		v, _, err := sema.EvalExact(o.X, state)
		if err != nil {
			return "", fmt.Errorf("observable %q: %w", o.Name, err)
		}
		if k > 0 {
			text.WriteByte(',')
		}
		if v.Type == sema.Bool {
			text.WriteString(strconv.FormatBool(v.Bool))
		} else {
			text.WriteString(strconv.Itoa(int(v.Int)))
		}
	}
	return text.String(), nil
}
