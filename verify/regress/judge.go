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

// judge compares the answer about a property instance with its annotation, and returns the result of the test.
func (s *loadedTest) judge(engine *EngineConfig, instance *propertyInstance, given answer) report.TestResult {
	judged := s.newResult(engine, instance)
	verdict := given.Verdict
	judged.Verdict, judged.Got, judged.Seconds = &verdict, verdictText(verdict), verdict.Seconds
	judged.Cached, judged.Log = given.cached, given.log
	if given.testing != "" && instance.chosen.Terms == nil && instance.extraPlace == "" {
		judged.Outcome, judged.Reason = parseTesting(given.testing)
		return judged
	}
	if judged.Outcome, judged.Reason = s.outcome(engine, instance, verdict); judged.Outcome == report.TestPassed {
		judged.Log = ""
	}
	return judged
}

// parseTesting converts PRISM's own judgment, the text that it prints after "Testing result: ", to an outcome and its reason.
func parseTesting(text string) (report.TestOutcome, string) {
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

// outcome compares a verdict with the annotation that the instance has chosen, and returns the outcome with its reason. It considers, in this
// order: engines that the annotation excludes, runs that did not finish, unusable or missing annotations, and last the value.
func (s *loadedTest) outcome(engine *EngineConfig, instance *propertyInstance, verdict result.Verdict) (report.TestOutcome, string) {
	terms := instance.chosen.Terms
	errorExpected := terms != nil && verdict.Err != nil && slices.Contains(terms.Errors, verdict.Err.Class)
	_, nothingMatches := errors.AsType[expect.Unmatched](instance.choiceErr)
	switch {
	case !terms.Wants(engine.DisplayName()):
		return report.TestNotTested, "the annotation is for other engines: " + fmt.Sprint(terms.Engines)
	case verdict.Err != nil && !errorExpected && stoppedFromOutside(verdict.Err.Class):
		return report.TestError, failureText(verdict.Err)
	case verdict.Err != nil && !errorExpected && verdict.Err.Class.Limited():
		return report.TestLimit, failureText(verdict.Err)
	case verdict.Err != nil && !errorExpected && verdict.Err.Class == result.Unsupported && (instance.chosen.Result == nil || instance.chosen.Result.Value != "?"):
		return report.TestUnsupported, verdict.Err.Message
	case instance.choiceErr != nil && !nothingMatches:
		return report.TestFailed, instance.choiceErr.Error()
	case instance.choiceErr != nil:
		return report.TestNotTested, instance.choiceErr.Error()
	case !instance.chosen.Expects() && verdict.Err != nil:
		return report.TestError, failureText(verdict.Err)
	case !instance.chosen.Expects():
		return report.TestUnchecked, ""
	}
	rules := instance.rules
	if terms != nil && terms.Statistical != nil {
		rules.Level = s.confidenceLevel(terms.Statistical)
	}
	if engine.PRISM != nil {
		rules.Relative = 0 // PRISM's own rule
	}
	judgement := instance.chosen.Judge(verdict, rules)
	if judgement.Outcome == expect.NotTested {
		return report.TestNotTested, anyValue
	}
	return map[expect.Outcome]report.TestOutcome{
		expect.Pass: report.TestPassed, expect.Fail: report.TestFailed,
		expect.Unsupported: report.TestUnsupported,
	}[judgement.Outcome], judgement.Reason
}

// anyValue is the reason why a result with the expectation ? is not tested.
const anyValue = "anything is expected (?)"

// stoppedFromOutside reports whether an engine was stopped for a reason that the property did not cause.
func stoppedFromOutside(c result.Class) bool {
	switch c {
	case result.Interrupted, result.Killed, result.Truncated:
		return true
	}
	return false
}

// failureText returns the message of a failure with its class.
func failureText(failure *result.Failure) string {
	return fmt.Sprintf("%s (%s)", failure.Message, failure.Class)
}

// verdictText returns the value of a verdict, or its error, as a user reads it.
func verdictText(verdict result.Verdict) string {
	if verdict.Doubt != "" && verdict.Err == nil {
		withoutDoubt := verdict
		withoutDoubt.Doubt = ""
		return verdictText(withoutDoubt) + " (doubtful: " + verdict.Doubt + ")"
	}
	format := func(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
	value := verdict.Value
	switch {
	case verdict.Err != nil:
		return "error: " + verdict.Err.Error()
	case value.Kind == result.Boolean:
		return strconv.FormatBool(value.Bool)
	case value.Kind == result.Range:
		return "[" + format(value.Num) + "," + format(value.Hi) + "]"
	case value.Kind == result.Function:
		return value.Formula
	case value.Kind == result.Curve:
		return result.CurveText(value.Points, format, ",")
	case value.Kind == result.NoValue:
		return "no value"
	case value.Rat != nil && verdict.Accuracy == result.Exact && len(value.Rat.RatString()) <= 60:
		return value.Rat.RatString()
	case verdict.Bound != nil && verdict.Bound.Lo != verdict.Bound.Hi:
		return format(value.Num) + " in [" + format(verdict.Bound.Lo) + "," + format(verdict.Bound.Hi) + "]"
	case verdict.HalfWidth != nil:
		return format(value.Num) + " +/- " + format(*verdict.HalfWidth)
	}
	return format(value.Num)
}
