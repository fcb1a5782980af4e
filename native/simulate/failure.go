package simulate

import (
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// Failure converts an error of a check to a failure with a class and a position: file and pos if the error has none.
func Failure(err error, file string, pos syntax.Pos) *result.Failure {
	if failure, ok := errors.AsType[*result.Failure](err); ok {
		return failure
	}
	if cause, ok := errors.AsType[*compile.StateError](err); ok {
		return stateFailure(cause, file, pos)
	}
	if cause, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		return &result.Failure{Class: result.Unsupported, Message: cause.Msg, File: cause.File, Pos: cause.Pos}
	}
	if ended := result.Ended(err); ended != nil { // the end of a context has no position in a file
		return ended
	}
	failure := &result.Failure{Class: result.Other, Message: err.Error(), File: file, Pos: pos}
	if cause, ok := errors.AsType[*stats.Error](err); ok {
		failure.Class = statsClass(cause.Code)
	}
	return failure
}

// stateFailure converts an error in a state of the model to a failure, whose message names the state. If the error has no position, the position of the
// failure is file and pos.
func stateFailure(cause *compile.StateError, file string, pos syntax.Pos) *result.Failure {
	failure := &result.Failure{Class: result.Model, Message: cause.Msg + " in state " + cause.State, File: cause.File, Pos: cause.Pos}
	if cause.Undecided {
		failure.Class = result.Unsupported
	}
	if !cause.Pos.IsValid() {
		failure.File, failure.Pos = file, pos
	}
	return failure
}

// statsClass returns the class of a failure that stands for an error of package stats, given the code of the error.
func statsClass(code stats.Code) result.Class {
	switch code {
	case stats.Unsupported:
		return result.Unsupported
	case stats.Truncated, stats.ZeroVariance, stats.NotDone:
		return result.NonConverge
	case stats.NotFinite:
		return result.Model
	}
	return result.Other
}

// failedPathError returns the error for a sample whose path has no value: it was too long, ended in a deadlock, or an evaluation failed.
func (checker *checker) failedPathError() error {
	sample := fmt.Sprintf("sample %d of seed %d", checker.result.Samples, checker.opts.Seed)
	if finished := checker.result.Samples; finished > 0 {
		sample += fmt.Sprintf("; %s had finished with mean %v", noun.Count(finished, "sample"), checker.result.Estimate)
	}
	outcome := checker.failedOutcome
	if outcome.Status == compile.Undecided {
		return &result.Failure{Class: result.PathLength, File: checker.property.File, Pos: checker.property.Pos, Message: checker.undecidedMessage(outcome.Steps, sample)}
	}
	failure := Failure(outcome.Err, checker.property.File, checker.property.Pos)
	if outcome.Status == compile.Deadlocked {
		failure.Class = result.Deadlock
	}
	failure.Message += " (" + sample + ")"
	return failure
}

// undecidedMessage explains why a path was not decided after the given number of steps.
func (checker *checker) undecidedMessage(steps int64, sample string) string {
	if steps < checker.opts.MaxPath {
		return fmt.Sprintf("a path is in a deadlock after %s and never reaches the target of the reward (%s)", noun.Count(steps, "step"), sample)
	}
	return fmt.Sprintf("a path was not decided after %s (%s): want more with --max-path (PRISM: -simpathlen)", noun.Count(steps, "step"), sample)
}

// interruptedError returns the error for a check whose context ended. cause is the error of the context. The message says how many samples were drawn, and
// of how many.
func (checker *checker) interruptedError(cause error) error {
	failure := Failure(cause, checker.property.File, checker.property.Pos)
	failure.Message += fmt.Sprintf(" after %s", noun.Count(checker.result.Samples, "sample"))
	if numSamples, isFixed := checker.plan.Samples(); isFixed {
		failure.Message += fmt.Sprintf(" of %d", numSamples)
	}
	return failure
}

// impreciseError returns the error for an estimate too close to the bound of the property.
func (checker *checker) impreciseError(outcome stats.Outcome) error {
	return &result.Failure{
		Class: result.NonConverge, File: checker.property.File, Pos: checker.property.Pos,
		Message: fmt.Sprintf("not precise enough to decide: the estimate %v with half-width %v is too close to the bound %v; want more samples", outcome.Mean, outcome.Width, checker.objective.Bound),
	}
}
