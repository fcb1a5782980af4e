package regress

import (
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// compareEngines compares the verdicts about one property instance for each pair of engines. It marks the results that contradict each other, and
// counts the outcomes of the comparisons in tally.
func (test *loadedTest) compareEngines(instance *propertyInstance, results []report.TestResult, tally *agree.Tally) {
	question := agree.QuestionAbout(instance.task.Property.X, instance.constants())
	for i := range results {
		for j := range i {
			left, right := &results[j], &results[i]
			outcome := agree.Verdicts(left.Engine, comparableVerdict(left), right.Engine, comparableVerdict(right), question, agree.Options{})
			tally.Add(outcome)
			bothUnchecked := left.Outcome == report.TestUnchecked && right.Outcome == report.TestUnchecked
			switch {
			case outcome.Relation == agree.Different:
				test.markContradiction(instance, left, right, outcome.Reason)
			case outcome.Relation == agree.Unknown && bothUnchecked:
				left.Reason = "not compared: " + outcome.Reason
				right.Reason = left.Reason
			}
		}
	}
}

// markContradiction gives two contradicting results the outcome TestDisagreed.
func (test *loadedTest) markContradiction(instance *propertyInstance, left, right *report.TestResult, reason string) {
	left.Outcome, right.Outcome = report.TestDisagreed, report.TestDisagreed
	left.Reason = left.Engine + " and " + right.Engine + " contradict each other: " + reason
	right.Reason = left.Reason
	if test.options.Rerun != nil { // a rerun must run both engines to repeat the contradiction
		left.Rerun = test.options.Rerun(left.Engine+","+right.Engine, instance.id)
		right.Rerun = left.Rerun
	}
}

// comparableVerdict returns the verdict of a result for a comparison with other engines. If the engine has not answered, it returns an empty
// verdict, which the comparison ignores.
func comparableVerdict(testResult *report.TestResult) *result.Verdict {
	switch testResult.Outcome {
	case report.TestPassed, report.TestUnchecked, report.TestDisagreed, report.TestNotTested:
		if testResult.Verdict != nil {
			return testResult.Verdict
		}
	}
	return new(result.Verdict)
}
