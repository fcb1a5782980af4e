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

// find returns the states of a picture that satisfy an expression and, unless the state space is large, all states that do.
func (h *API) find(ctx context.Context, question *findQuestion, response *reply) (any, error) {
	states := foundStates{Matches: []int{}, States: [][]int32{}}
	err := h.with(ctx, &question.source, func(loaded *model) error {
		expr, _, err := h.expression(ctx, &question.source, question.Expr)
		if err != nil {
			return err
		}
		if err := states.among(loaded, expr, question.Shown); err != nil {
			return err
		}
		if states.Whole, err = h.statesFor(ctx, loaded, question.All, response); err != nil || !states.Whole {
			return err
		}
		return states.inSpace(loaded, expr)
	})
	return states, err
}

// among adds the indexes of the states in a list that satisfy the expression.
func (f *foundStates) among(loaded *model, expr sema.Expr, states [][]int32) error {
	evaluator, err := loaded.compiled.Evaluator(expr)
	if err != nil {
		return err
	}
	for i, state := range states {
		if err := loaded.valuation(state); err != nil {
			return err
		}
		holds, err := evaluator.Bool(state)
		if err != nil {
			return err
		}
		if holds {
			f.Matches = append(f.Matches, i)
		}
	}
	return nil
}

// inSpace adds the states of the state space that satisfy the expression, at most maxFound of them, and their number.
func (f *foundStates) inSpace(loaded *model, expr sema.Expr) error {
	set, err := loaded.space.States(expr)
	if err != nil {
		return err
	}
	f.Count, f.Of = set.Count(), set.Len()
	for state := range set.All() {
		if len(f.States) == maxFound {
			break
		}
		f.States = append(f.States, loaded.space.State(nil, state))
	}
	return nil
}
