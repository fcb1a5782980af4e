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

// judge returns the result of an item, given its verdict.
func (s *subject) judge(e *Entrant, it *item, a answer) report.TestResult {
	r := s.result(e, it)
	v := a.Verdict
	r.Verdict, r.Got, r.Seconds = &v, verdictText(v), v.Seconds
	r.Cached, r.Log = a.cached, a.log
	if a.testing != "" && it.chosen.Terms == nil && it.extra == "" {
		r.Outcome, r.Reason = parseTesting(a.testing)
		return r
	}
	if r.Outcome, r.Reason = s.outcome(e, it, v); r.Outcome == report.TestPassed {
		r.Log = ""
	}
	return r
}

// parseTesting reads the text that PRISM prints after "Testing result: ".
func parseTesting(text string) (report.TestOutcome, string) {
	word, reason, _ := strings.Cut(text, ": ")
	switch word {
	case "PASS":
		return report.TestPassed, ""
	case "NOT TESTED":
		return report.TestNotTested, anyValue
	case "UNSUPPORTED":
		return report.TestUnsupported, reason
	}
	return report.TestFailed, reason
}

func (s *subject) outcome(e *Entrant, it *item, v result.Verdict) (report.TestOutcome, string) {
	terms := it.chosen.Terms
	expected := terms != nil && v.Err != nil && slices.Contains(terms.Errors, v.Err.Class)
	_, unmatched := errors.AsType[expect.Unmatched](it.problem)
	switch {
	case !terms.Wants(e.Called()):
		return report.TestNotTested, "the annotation is for other engines: " + fmt.Sprint(terms.Engines)
	case v.Err != nil && !expected && unfinished(v.Err.Class):
		return report.TestError, failureText(v.Err)
	case v.Err != nil && !expected && v.Err.Class.Limited():
		return report.TestLimit, failureText(v.Err)
	case v.Err != nil && !expected && v.Err.Class == result.Unsupported && (it.chosen.Result == nil || it.chosen.Result.Value != "?"):
		return report.TestUnsupported, v.Err.Message
	case it.problem != nil && !unmatched:
		return report.TestFailed, it.problem.Error()
	case it.problem != nil:
		return report.TestNotTested, it.problem.Error()
	case !it.chosen.Expects() && v.Err != nil:
		return report.TestError, failureText(v.Err)
	case !it.chosen.Expects():
		return report.TestUnchecked, ""
	}
	rules := it.rules
	if terms != nil && terms.Statistical != nil {
		rules.Level = s.level(terms.Statistical)
	}
	if e.PRISM != nil {
		rules.Relative = 0 // PRISM's own rule
	}
	j := it.chosen.Judge(v, rules)
	if j.Outcome == expect.NotTested {
		return report.TestNotTested, anyValue
	}
	return map[expect.Outcome]report.TestOutcome{
		expect.Pass: report.TestPassed, expect.Fail: report.TestFailed,
		expect.Unsupported: report.TestUnsupported,
	}[j.Outcome], j.Reason
}

// anyValue is the reason why a result with the expectation ? is not tested.
const anyValue = "anything is expected (?)"

// unfinished reports whether an engine was stopped for a reason outside of the property.
func unfinished(c result.Class) bool {
	switch c {
	case result.Interrupted, result.Killed, result.Truncated:
		return true
	}
	return false
}

func failureText(f *result.Failure) string { return fmt.Sprintf("%s (%s)", f.Message, f.Class) }

// verdictText is the text of a verdict for people.
func verdictText(v result.Verdict) string {
	if v.Doubt != "" && v.Err == nil {
		sure := v
		sure.Doubt = ""
		return verdictText(sure) + " (doubtful: " + v.Doubt + ")"
	}
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	x := v.Value
	switch {
	case v.Err != nil:
		return "error: " + v.Err.Error()
	case x.Kind == result.Boolean:
		return strconv.FormatBool(x.Bool)
	case x.Kind == result.Range:
		return "[" + num(x.Num) + "," + num(x.Hi) + "]"
	case x.Kind == result.Function:
		return x.Formula
	case x.Kind == result.Curve:
		return result.CurveText(x.Points, num, ",")
	case x.Kind == result.NoValue:
		return "no value"
	case x.Rat != nil && v.Accuracy == result.Exact && len(x.Rat.RatString()) <= 60:
		return x.Rat.RatString()
	case v.Bound != nil && v.Bound.Lo != v.Bound.Hi:
		return num(x.Num) + " in [" + num(v.Bound.Lo) + "," + num(v.Bound.Hi) + "]"
	case v.HalfWidth != nil:
		return num(x.Num) + " +/- " + num(*v.HalfWidth)
	}
	return num(x.Num)
}
