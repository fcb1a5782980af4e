package regress

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// judge compares the answer about a property instance with the instance's annotation, and returns the result of the test.
func (test *loadedTest) judge(engine *EngineConfig, instance *propertyInstance, answer answer) report.TestResult {
	testResult := test.newResult(engine, instance)
	verdict := answer.Verdict
	testResult.Verdict, testResult.Got, testResult.Seconds = &verdict, verdictText(verdict), verdict.Seconds
	testResult.Cached, testResult.Log = answer.cached, answer.log
	// In its test mode, PRISM compares the value with the annotation itself. Its judgment counts only if it has read the same annotation.
	reliesOnPRISM := answer.judgment != "" && instance.annotations.Terms == nil && instance.extraPosition == ""
	if reliesOnPRISM {
		testResult.Outcome, testResult.Reason = parsePRISMJudgment(answer.judgment)
		return testResult
	}
	testResult.Outcome, testResult.Reason = test.outcome(engine, instance, verdict)
	if testResult.Outcome == report.TestPassed {
		testResult.Log = ""
	}
	return testResult
}

// parsePRISMJudgment parses PRISM's judgment of a property in its test mode, such as "FAIL: reason". It returns the outcome and its reason.
func parsePRISMJudgment(text string) (outcome report.TestOutcome, reason string) {
	judgment, reason, _ := strings.Cut(text, ": ")
	switch judgment {
	case "PASS":
		return report.TestPassed, ""
	case "NOT TESTED":
		return report.TestNotTested, anyValue
	case "UNSUPPORTED":
		return report.TestUnsupported, reason
	}
	return report.TestFailed, reason
}

// outcome returns the outcome of a test, with its reason: it compares a verdict with the annotation of a property instance.
func (test *loadedTest) outcome(
	engine *EngineConfig, instance *propertyInstance, verdict result.Verdict,
) (outcome report.TestOutcome, reason string) {
	terms := instance.annotations.Terms
	if !terms.Wants(engine.DisplayName()) {
		return report.TestNotTested, "the annotation is for other engines: " + fmt.Sprint(terms.Engines)
	}
	isExpectedError := terms != nil && verdict.Err != nil && slices.Contains(terms.Errors, verdict.Err.Class)
	if verdict.Err != nil && !isExpectedError {
		if outcome, reason, ok := unfinishedOutcome(instance, verdict.Err); ok {
			return outcome, reason
		}
	}
	_, nothingMatches := errors.AsType[expect.Unmatched](instance.annotationErr)
	switch {
	case nothingMatches:
		return report.TestNotTested, instance.annotationErr.Error()
	case instance.annotationErr != nil:
		return report.TestFailed, instance.annotationErr.Error()
	case instance.annotations.Expects():
		return test.judgeValue(engine, instance, verdict)
	case verdict.Err != nil:
		return report.TestError, failureText(verdict.Err)
	}
	return report.TestUnchecked, ""
}

// unfinishedOutcome returns the outcome of a run that was stopped, exceeded a limit, or is not supported. ok is false for any other failure.
func unfinishedOutcome(instance *propertyInstance, failure *result.Failure) (outcome report.TestOutcome, reason string, ok bool) {
	expectsAnything := instance.annotations.Result != nil && instance.annotations.Result.Value == "?"
	switch {
	case stoppedFromOutside(failure.Class):
		return report.TestError, failureText(failure), true
	case failure.Class.Limited():
		return report.TestLimit, failureText(failure), true
	case failure.Class == result.Unsupported && !expectsAnything:
		return report.TestUnsupported, failure.Message, true
	}
	return 0, "", false
}

// anyValue is the reason why a result with the expectation ? is not tested.
const anyValue = "anything is expected (?)"

// stoppedFromOutside reports whether a failure of this class is an interrupt from outside, which says nothing about the property.
func stoppedFromOutside(class result.Class) bool {
	switch class {
	case result.Interrupted, result.Killed, result.Truncated:
		return true
	}
	return false
}

// failureText returns the message of a failure with its class.
func failureText(failure *result.Failure) string {
	return fmt.Sprintf("%s (%s)", failure.Message, failure.Class)
}

// judgeValue compares a verdict with the expected value and terms of an instance.
func (test *loadedTest) judgeValue(
	engine *EngineConfig, instance *propertyInstance, verdict result.Verdict,
) (outcome report.TestOutcome, reason string) {
	rules := instance.rules
	if sampling := instance.samplingTerms(); sampling != nil {
		rules.Level = test.confidenceLevel(sampling)
	}
	if engine.PRISM != nil {
		rules.Relative = 0 // zero selects PRISM's tolerance
	}
	judgement := instance.annotations.Judge(verdict, rules)
	switch judgement.Outcome {
	case expect.NotTested:
		return report.TestNotTested, anyValue
	case expect.Pass:
		return report.TestPassed, judgement.Reason
	case expect.Fail:
		return report.TestFailed, judgement.Reason
	}
	return report.TestUnsupported, judgement.Reason
}

// verdictText returns the value or the error of a verdict as text for a message.
func verdictText(verdict result.Verdict) string {
	if verdict.Err != nil {
		return "error: " + verdict.Err.Error()
	}
	if verdict.Doubt != "" {
		return valueText(&verdict) + " (doubtful: " + verdict.Doubt + ")"
	}
	return valueText(&verdict)
}

// valueText returns the value of a verdict with its bounds or half-width.
func valueText(verdict *result.Verdict) string {
	const maxFractionText = 60
	value := verdict.Value
	switch value.Kind {
	case result.Boolean:
		return strconv.FormatBool(value.Bool)
	case result.Range:
		return intervalText(value.Num, value.Hi)
	case result.Function:
		return value.Formula
	case result.Curve:
		return result.CurveText(value.Points, shortestFloat, ",")
	case result.NoValue:
		return "no value"
	}
	number := shortestFloat(value.Num)
	switch {
	case value.Rat != nil && verdict.Accuracy == result.Exact && len(value.Rat.RatString()) <= maxFractionText:
		return value.Rat.RatString()
	case verdict.Bound != nil && verdict.Bound.Lo != verdict.Bound.Hi:
		return number + " in " + intervalText(verdict.Bound.Lo, verdict.Bound.Hi)
	case verdict.HalfWidth != nil:
		return number + " +/- " + shortestFloat(*verdict.HalfWidth)
	}
	return number
}
