package explicit

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Observations are what a partially observable model shows of its states: of each the
// number, in the order in which the states come, and what that is.
type Observations struct {
	Of   []uint32
	List []string // "true,3"
}

// Observations evaluates the observables in every state; nil for a model of another
// type than POMDP. The error is that of the context, or of an observable without a value.
func (s *Space) Observations(ctx context.Context) (*Observations, error) {
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
		text, err := s.shown(state)
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

// shown returns what a state shows.
func (s *Space) shown(state []int32) (string, error) {
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
