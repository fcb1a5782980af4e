package regress

import (
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// fileFailure converts an error about the files of a test to a failure. For a list of syntax errors, the failure has the position and message of
// the first.
func fileFailure(err error) *result.Failure {
	failure := &result.Failure{Class: result.Other, Message: err.Error()}
	if planErr, ok := errors.AsType[*runner.PlanError](err); ok {
		failure.Class = planErr.Step
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		failure.File, failure.Pos, failure.Message = list[0].File, list[0].Pos, list[0].Msg
		if numOthers := len(list) - 1; numOthers > 0 {
			failure.Message += fmt.Sprintf(" (and %s in this file)", noun.Count(numOthers, "more error"))
		}
		return failure
	}
	if syntaxErr, ok := errors.AsType[*syntax.Error](err); ok {
		failure.File, failure.Pos, failure.Message = syntaxErr.File, syntaxErr.Pos, syntaxErr.Msg
		return failure
	}
	if original, ok := errors.AsType[*result.Failure](err); ok {
		return original
	}
	return failure
}

// explainMisplaced adds a hint to a syntax error if the model and the properties file seem to be swapped. It returns other errors unchanged.
func explainMisplaced(err error, job *runner.Job) error {
	planErr, ok := errors.AsType[*runner.PlanError](err)
	if !ok || planErr.Step != result.Parse {
		return err
	}
	list, ok := errors.AsType[syntax.ErrorList](err)
	hint := job.Misplaced()
	if !ok || len(list) == 0 || hint == "" {
		return err
	}
	first := *list[0]
	first.Msg += "; " + hint
	return &runner.PlanError{Step: planErr.Step, Err: append(syntax.ErrorList{&first}, list[1:]...)}
}

// errorResult returns the result of a test that cannot be run.
func (test *loadedTest) errorResult(engine *EngineConfig, err error) report.TestResult {
	failure := fileFailure(err)
	testResult := test.newResult(engine, nil)
	testResult.Outcome, testResult.Reason = report.TestError, failure.Message
	if failure.Class == result.Unsupported {
		testResult.Outcome = report.TestUnsupported
	}
	testResult.Verdict = &result.Verdict{Engine: engine.DisplayName(), Err: failure}
	if failure.File != "" {
		testResult.File, testResult.Line, testResult.Col = failure.File, int(failure.Pos.Line), int(failure.Pos.Col)
	}
	return testResult
}

// isRepeatable reports whether the same run would fail in the same way again. It is false for failures that depend on time, memory or an
// interrupt.
func isRepeatable(failure *result.Failure) bool {
	if failure == nil {
		return true
	}
	switch failure.Class {
	case result.Timeout, result.Memory, result.Heap, result.CUDD, result.Killed, result.Truncated, result.Interrupted, result.Other:
		return false
	}
	return true
}
