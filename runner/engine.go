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

// Check reads the files of a job, and an engine checks its properties. See Engine.Check for the verdicts and the error.
func Check(ctx context.Context, e Engine, job Job) ([]result.Verdict, error) {
	plan, err := NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	return e.Check(ctx, plan)
}

// As returns the engine as a value of type T. If the engine has another type, As unwraps it, like errors.As, until an engine has type T. It returns
// false if none has.
func As[T any](candidate Engine) (T, bool) {
	for {
		if engine, ok := candidate.(T); ok {
			return engine, true
		}
		outer, ok := candidate.(interface{ Unwrap() Engine })
		if !ok {
			var zero T
			return zero, false
		}
		candidate = outer.Unwrap()
	}
}

// Progress is the progress of one property, or of the construction of the state space.
type Progress = progress.Progress
