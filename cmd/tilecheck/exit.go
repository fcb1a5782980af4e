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
	exitDisagree   = 3  // engines disagree
	exitOutOfLimit = 4  // a time or memory limit was hit
	exitUsage      = 80 // wrong flags or arguments
)

// codedError is an error with an exit code; err is nil when everything there
// is to say has been printed already.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codedError) Unwrap() error { return e.err }

// ExitCode is what kong asks an error for.
func (e *codedError) ExitCode() int { return e.code }

func usageError(format string, args ...any) error { return usage.Errorf(format, args...) }

// codeOf is the exit code of an error, and what is to be printed of it. What is
// wrong with a flag is a usage error, whoever found that out.
func codeOf(err error) (int, error) {
	if coder, ok := errors.AsType[*codedError](err); ok {
		return coder.code, coder.err
	}
	if wrong, ok := errors.AsType[*usage.Error](err); ok {
		return exitUsage, wrong
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
	f, failed := errors.AsType[*result.Failure](err)
	if failed && f.Class.Limited() || errors.Is(err, context.DeadlineExceeded) {
		return exitOutOfLimit, err
	}
	return exitCannotRun, err
}

// status returns an error that says nothing more and sets the exit code; nil for exitOK.
func status(code int) error {
	if code == exitOK {
		return nil
	}
	return &codedError{code: code}
}

// errorText renders an error for the terminal: diagnostics with a place keep
// the form file:line:col: message that editors jump to, others name the program.
func errorText(err error) string {
	if _, ok := errors.AsType[*syntax.Error](err); ok {
		return err.Error()
	}
	if e, ok := errors.AsType[*play.ReadError](err); ok {
		return e.Error()
	}
	if f, ok := errors.AsType[*result.Failure](err); ok && f.Pos.IsValid() {
		return f.Error()
	}
	return "tilecheck: " + err.Error()
}

// verdictCode is the exit code of a list of verdicts: the gravest wins, and a
// list without any is not a success, nor is a value that its own engine doubts.
func verdictCode(verdicts []result.Verdict) int {
	if len(verdicts) == 0 {
		return exitCannotRun
	}
	code := exitOK
	for _, v := range verdicts {
		switch {
		case v.Err != nil && v.Err.Class.Limited():
			return exitOutOfLimit
		case v.Err != nil || v.Value.Kind == result.NoValue || v.Doubt != "":
			code = exitCannotRun
		case v.Value.Kind == result.Boolean && !v.Value.Bool && code == exitOK:
			code = exitFailed
		}
	}
	return code
}
