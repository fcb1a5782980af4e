package serve

import (
	"context"

	"tilecheck/prism/sema"
)

type findQuestion struct {
	source
	Expr string `json:"expr"`
	// Shown are the states of the picture, in which matches are marked.
	Shown [][]int32 `json:"shown"`
	// All asks for a search of all states, however many there are.
	All bool `json:"all"`
}

// maxFound is the largest number of states in an answer.
const maxFound = 50

// foundStates are the states that satisfy an expression.
type foundStates struct {
	Matches []int `json:"matches"` // indices of the question's Shown
	// Whole says that all states of the model were searched. If it is not set, only Shown was searched, and the other fields are
	// zero.
	Whole  bool      `json:"whole"`
	States [][]int32 `json:"states"` // the first ones, in breadth-first order
	Count  int       `json:"count"`
	Of     int       `json:"of"` // the number of states of the model
}

// find returns the states that satisfy an expression: those of a picture, and those of the state space unless it is large.
func (h *API) find(ctx context.Context, q *findQuestion, out *reply) (any, error) {
	found := foundStates{Matches: []int{}, States: [][]int32{}}
	err := h.with(ctx, &q.source, func(m *model) error {
		x, _, err := h.expression(ctx, &q.source, q.Expr)
		if err != nil {
			return err
		}
		if err := found.among(m, x, q.Shown); err != nil {
			return err
		}
		if found.Whole, err = h.statesFor(ctx, m, q.All, out); err != nil || !found.Whole {
			return err
		}
		return found.inSpace(m, x)
	})
	return found, err
}

// among adds the matches in a list of states.
func (f *foundStates) among(m *model, x sema.Expr, states [][]int32) error {
	e, err := m.compiled.Evaluator(x)
	if err != nil {
		return err
	}
	for i, s := range states {
		if err := m.valuation(s); err != nil {
			return err
		}
		holds, err := e.Bool(s)
		if err != nil {
			return err
		}
		if holds {
			f.Matches = append(f.Matches, i)
		}
	}
	return nil
}

// inSpace adds the matches in the state space.
func (f *foundStates) inSpace(m *model, x sema.Expr) error {
	set, err := m.space.States(x)
	if err != nil {
		return err
	}
	f.Count, f.Of = set.Count(), set.Len()
	for s := range set.All() {
		if len(f.States) == maxFound {
			break
		}
		f.States = append(f.States, m.space.State(nil, s))
	}
	return nil
}
