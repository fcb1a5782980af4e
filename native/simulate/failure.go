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

// stateFailure converts an error in a state of the model to a failure, whose message names the state. Its position is file and pos if the error has
// none.
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

// statsClass returns the class of a failure for an error code of package stats.
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
func (c *checker) failedPathError() error {
	sample := fmt.Sprintf("sample %d of seed %d", c.result.Samples, c.opts.Seed)
	if finished := c.result.Samples; finished > 0 {
		sample += fmt.Sprintf("; %s had finished with mean %v", noun.Count(finished, "sample"), c.result.Estimate)
	}
	outcome := c.failedOutcome
	if outcome.Status == compile.Undecided {
		return &result.Failure{Class: result.PathLength, File: c.property.File, Pos: c.property.Pos, Message: c.undecidedMessage(outcome.Steps, sample)}
	}
	failure := Failure(outcome.Err, c.property.File, c.property.Pos)
	if outcome.Status == compile.Deadlocked {
		failure.Class = result.Deadlock
	}
	failure.Message += " (" + sample + ")"
	return failure
}

// undecidedMessage explains why a path was not decided after the given number of steps.
func (c *checker) undecidedMessage(steps int64, sample string) string {
	if steps < c.opts.MaxPath {
		return fmt.Sprintf("a path is in a deadlock after %s and never reaches the target of the reward (%s)", noun.Count(steps, "step"), sample)
	}
	return fmt.Sprintf("a path was not decided after %s (%s): want more with --max-path (PRISM: -simpathlen)", noun.Count(steps, "step"), sample)
}

// interruptedError returns the error of a check that the end of its context interrupted. The message has the number of samples.
func (c *checker) interruptedError(cause error) error {
	failure := Failure(cause, c.property.File, c.property.Pos)
	failure.Message += fmt.Sprintf(" after %s", noun.Count(c.result.Samples, "sample"))
	if numSamples, isFixed := c.plan.Samples(); isFixed {
		failure.Message += fmt.Sprintf(" of %d", numSamples)
	}
	return failure
}

// impreciseError returns the error for an estimate too close to the bound of the property.
func (c *checker) impreciseError(outcome stats.Outcome) error {
	return &result.Failure{
		Class: result.NonConverge, File: c.property.File, Pos: c.property.Pos,
		Message: fmt.Sprintf("not precise enough to decide: the estimate %v with half-width %v is too close to the bound %v; want more samples", outcome.Mean, outcome.Width, c.objective.Bound),
	}
}
