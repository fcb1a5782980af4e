package runner

import (
	"context"

	"tilecheck/internal/progress"
	"tilecheck/result"
)

// Engine checks properties of models. Other abilities of an engine are small
// interfaces that their callers define; As finds them.
type Engine interface {
	// Name returns the word that result.Verdict.Engine carries.
	Name() string
	// Check returns one verdict for each valuation of the model's constants, property
	// and valuation of the property's constants, in that order, model constants
	// outermost. If one property or one valuation fails, its verdicts have an Err,
	// and the others are not affected. The error says that nothing can be checked, for example
	// because settings contradict each other.
	//
	// When the context is cancelled, Check returns soon, without an error. Finished
	// verdicts are complete. The current verdict has the part of the answer that is valid and an Err
	// of class result.Interrupted; the verdicts of later properties have an Err of that class and no value.
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

// As returns the engine as a T. If it is none, As unwraps the engine, like errors.As, until an engine is a T.
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

// Progress is the progress of one property, or of the construction of the state space.
type Progress = progress.Progress
