package main

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/runner"

	"tilecheck/game/play"
	"tilecheck/internal/usage"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// The exit codes. They are part of the interface: scripts branch on them.
const (
	exitOK         = 0  // everything that was asked was verified or agreed
	exitCannotRun  = 1  // something could not be run, or was interrupted
	exitFailed     = 2  // an expectation failed: a bounded property is false, a published value is not met and no note expects it
	exitDisagree   = 3  // engines or models disagree
	exitOutOfLimit = 4  // a time or memory limit was hit
	exitUsage      = 80 // wrong flags or arguments
)

// codedError is an error with an exit code; err is nil if nothing more must be
// printed.
type codedError struct {
	code int
	err  error
}

// Error implements error.
func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the error without the exit code.
func (e *codedError) Unwrap() error { return e.err }

// ExitCode returns the exit code; kong calls it.
func (e *codedError) ExitCode() int { return e.code }

// usageError returns an error about the command line.
func usageError(format string, args ...any) error { return usage.Errorf(format, args...) }

// exitCodeOf returns the exit code for an error, and the error to print. An error in the value of a flag is a usage error, and the printed error names the
// flag.
func exitCodeOf(err error) (code int, printedErr error) {
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code, coded.err
	}
	if usageErr, ok := errors.AsType[*usage.Error](err); ok {
		return exitUsage, usageErr
	}
	if _, ok := errors.AsType[*runner.SelectionError](err); ok {
		return exitUsage, err
	}
	if _, ok := errors.AsType[*sema.DefinitionError](err); ok {
		return exitUsage, fmt.Errorf("--const: %w", err)
	}
	if _, ok := errors.AsType[*runner.ParamError](err); ok {
		return exitUsage, fmt.Errorf("--param: %w", err)
	}
	failure, isFailure := errors.AsType[*result.Failure](err)
	if isFailure && failure.Class.Limited() || errors.Is(err, context.DeadlineExceeded) {
		return exitOutOfLimit, err
	}
	return exitCannotRun, err
}

// exitStatus returns an error that only sets the exit code and prints nothing; nil for exitOK.
func exitStatus(code int) error {
	if code == exitOK {
		return nil
	}
	return &codedError{code: code}
}

// errorText returns an error as it is printed. An error with a position has the form file:line:col: message. All other errors begin with the name
// of the program.
func errorText(err error) string {
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return err.Error()
	}
	if readErr, ok := errors.AsType[*play.ReadError](err); ok {
		return readErr.Error()
	}
	if failure, ok := errors.AsType[*result.Failure](err); ok && failure.Pos.IsValid() {
		return failure.Error()
	}
	return "tilecheck: " + err.Error()
}

// verdictCode returns the exit code for the most serious verdict: exitOutOfLimit, then exitCannotRun, exitFailed and exitOK. A doubtful value
// counts as a missing one. An empty list gives exitCannotRun.
func verdictCode(verdicts []result.Verdict) int {
	if len(verdicts) == 0 {
		return exitCannotRun
	}
	code := exitOK
	for _, verdict := range verdicts {
		hasValue := verdict.Err == nil && verdict.Value.Kind != result.NoValue && verdict.Doubt == ""
		isFalse := verdict.Value.Kind == result.Boolean && !verdict.Value.Bool
		switch {
		case verdict.Err != nil && verdict.Err.Class.Limited():
			return exitOutOfLimit
		case !hasValue:
			code = exitCannotRun
		case isFalse && code == exitOK:
			code = exitFailed
		}
	}
	return code
}
