package regress

import (
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// agree compares the verdicts of the engines about one item. If two contradict each other, both results get the outcome
// TestDisagreed.
func (s *subject) agree(it *item, row []report.TestResult, tally *agree.Tally) {
	q := agree.About(it.task.Property.X, it.constants())
	for i := range row {
		for j := range i {
			a, b := &row[j], &row[i]
			o := agree.Verdicts(a.Engine, comparedVerdict(a), b.Engine, comparedVerdict(b), q, agree.Options{})
			tally.Add(o)
			switch {
			case o.Relation == agree.Different:
				s.disagree(it, a, b, o.Reason)
			case o.Relation == agree.Unknown && a.Outcome == report.TestUnchecked && b.Outcome == report.TestUnchecked:
				a.Reason, b.Reason = "not compared: "+o.Reason, "not compared: "+o.Reason
			}
		}
	}
}

// disagree marks two results that contradict each other.
func (s *subject) disagree(it *item, a, b *report.TestResult, why string) {
	a.Outcome, b.Outcome = report.TestDisagreed, report.TestDisagreed
	a.Reason = a.Engine + " and " + b.Engine + " contradict each other: " + why
	b.Reason = a.Reason
	if s.opt.Rerun != nil { // only both engines together repeat the contradiction
		a.Rerun = s.opt.Rerun(a.Engine+","+b.Engine, it.id)
		b.Rerun = a.Rerun
	}
}

// comparedVerdict returns the verdict of a result for the comparison of engines. It is empty for a result that failed
// already.
func comparedVerdict(r *report.TestResult) *result.Verdict {
	switch r.Outcome {
	case report.TestPassed, report.TestUnchecked, report.TestDisagreed, report.TestNotTested:
		if r.Verdict != nil {
			return r.Verdict
		}
	}
	return new(result.Verdict)
}
