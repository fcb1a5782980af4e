package regress

import (
	"errors"
	"fmt"

	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// fileFailure converts an error about the files of a test to the failure of a verdict, with the place in the file. Of several errors it has
// the first.
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

// explainMisplaced adds a hint to a syntax error if the model and the properties file are swapped, or if both are of the same kind.
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

// errorResult returns the result of a test that cannot be run, with the outcome TestError or TestUnsupported.
func (s *loadedTest) errorResult(e *EngineConfig, err error) report.TestResult {
	f := fileFailure(err)
	r := s.newResult(e, nil)
	r.Outcome, r.Reason = report.TestError, f.Message
	if f.Class == result.Unsupported {
		r.Outcome = report.TestUnsupported
	}
	r.Verdict = &result.Verdict{Engine: e.DisplayName(), Err: f}
	if f.File != "" {
		r.File, r.Line, r.Col = f.File, int(f.Pos.Line), int(f.Pos.Col)
	}
	return r
}

// repeatable reports whether another run would end in the same failure. A failure that depends on time, memory or an interrupt is not repeatable.
func repeatable(failure *result.Failure) bool {
	if failure == nil {
		return true
	}
	switch failure.Class {
	case result.Timeout, result.Memory, result.Heap, result.CUDD, result.Killed, result.Truncated, result.Interrupted, result.Other:
		return false
	}
	return true
}
