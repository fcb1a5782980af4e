package runner

import (
	"context"

	"tilecheck/internal/progress"
	"tilecheck/result"
)

// Engine checks properties of models. What an engine can do besides are small
// interfaces of those who ask for it; As finds them.
type Engine interface {
	// Name returns the word that result.Verdict.Engine carries.
	Name() string
	// Check returns one verdict per valuation of the model's constants, property
	// and valuation of the property's constants, in that order, model constants
	// outermost. What goes wrong with one property, or with one valuation, is
	// the Err of its verdicts and loses none of the others. The error is for
	// what leaves nothing to check, options that contradict each other.
	//
	// When the context is cancelled, Check returns soon, without an error; the
	// verdicts that were finished are whole, the one that was under way has
	// what is valid of it and an Err of class result.Interrupted, and those
	// that were not begun have an Err of that class and no value.
	Check(ctx context.Context, plan *Plan) ([]result.Verdict, error)
}

// Check plans a job and has an engine check it.
func Check(ctx context.Context, e Engine, job Job) ([]result.Verdict, error) {
	p, err := NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	return e.Check(ctx, p)
}

// As returns what an engine can do besides checking, if it is a T, or has one
// inside: an engine around another one has a method Unwrap.
func As[T any](e Engine) (T, bool) {
	for {
		if x, ok := e.(T); ok {
			return x, true
		}
		outer, ok := e.(interface{ Unwrap() Engine })
		if !ok {
			var none T
			return none, false
		}
		e = outer.Unwrap()
	}
}

// Progress is how far the check of one property, or the construction of the
// state space, is.
type Progress = progress.Progress
