package regress

import (
	"errors"
	"fmt"

	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// fileFailure returns an error of files as a failure of a verdict.
func fileFailure(err error) *result.Failure {
	f := &result.Failure{Class: result.Other, Message: err.Error()}
	if e, ok := errors.AsType[*runner.PlanError](err); ok {
		f.Class = e.Step
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		f.File, f.Pos, f.Message = list[0].File, list[0].Pos, list[0].Msg
		if n := len(list) - 1; n > 0 {
			f.Message += fmt.Sprintf(" (and %d more)", n)
		}
	} else if e, ok := errors.AsType[*syntax.Error](err); ok {
		f.File, f.Pos, f.Message = e.File, e.Pos, e.Msg
	} else if g, ok := errors.AsType[*result.Failure](err); ok {
		return g
	}
	return f
}

// explainMisplaced adds to a syntax error that the model and the properties file are swapped, or that one of them is of
// the other kind.
func explainMisplaced(err error, job *runner.Job) error {
	plan, ok := errors.AsType[*runner.PlanError](err)
	if !ok || plan.Step != result.Parse {
		return err
	}
	list, ok := errors.AsType[syntax.ErrorList](err)
	hint := job.Misplaced()
	if !ok || len(list) == 0 || hint == "" {
		return err
	}
	first := *list[0]
	first.Msg += "; " + hint
	return &runner.PlanError{Step: plan.Step, Err: append(syntax.ErrorList{&first}, list[1:]...)}
}

// errorResult returns the result of a test that cannot be run.
func (s *subject) errorResult(e *Entrant, err error) report.TestResult {
	f := fileFailure(err)
	r := s.result(e, nil)
	r.Outcome, r.Reason = report.TestError, f.Message
	if f.Class == result.Unsupported {
		r.Outcome = report.TestUnsupported
	}
	r.Verdict = &result.Verdict{Engine: e.Called(), Err: f}
	if f.File != "" {
		r.File, r.Line, r.Col = f.File, int(f.Pos.Line), int(f.Pos.Col)
	}
	return r
}

// repeatable reports whether a failure would be the same in another run.
func repeatable(f *result.Failure) bool {
	if f == nil {
		return true
	}
	switch f.Class {
	case result.Timeout, result.Memory, result.Heap, result.CUDD, result.Killed, result.Truncated, result.Interrupted, result.Other:
		return false
	}
	return true
}
