package regress

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/properties/expect"
	"tilecheck/report"
	"tilecheck/result"
)

// agree compares the verdicts of the engines about one item. Where two that
// passed, or that nothing was expected of, cannot both be right, both are marked.
func (s *subject) agree(it *item, row []report.TestResult) {
	for i := range row {
		for j := range i {
			a, b := &row[j], &row[i]
			if !answered(a) || !answered(b) {
				continue
			}
			if why := s.contradiction(a.Verdict, b.Verdict); why != "" {
				a.Outcome, b.Outcome = report.TestDisagreed, report.TestDisagreed
				a.Reason = a.Engine + " and " + b.Engine + " contradict each other: " + why
				b.Reason = a.Reason
				if s.opt.Rerun != nil { // one engine alone contradicts nobody
					a.Rerun = s.opt.Rerun(a.Engine+","+b.Engine, it.id)
					b.Rerun = a.Rerun
				}
			}
		}
	}
}

// answered reports whether a result has a value that others may contradict.
func answered(r *report.TestResult) bool {
	switch r.Outcome {
	case report.TestPassed, report.TestUnchecked, report.TestDisagreed, report.TestNotTested:
		return r.Verdict != nil && r.Verdict.Err == nil && r.Verdict.Value.Kind != result.NoValue
	}
	return false
}

// contradiction says why two verdicts cannot both be right, "" if they can.
func (s *subject) contradiction(a, b *result.Verdict) string {
	x, y := a.Value, b.Value
	if (x.Kind == result.Boolean) != (y.Kind == result.Boolean) {
		return "one is a truth value, one a number"
	}
	if x.Kind == result.Boolean {
		// a test that samples may be wrong near its bound
		if x.Bool != y.Bool && a.Accuracy != result.Probable && b.Accuracy != result.Probable {
			return fmt.Sprintf("%t and %t", x.Bool, y.Bool)
		}
		return ""
	}
	if uniform(a) != uniform(b) {
		return "" // about different schedulers
	}
	for _, end := range [][2]float64{{x.Num, y.Num}, {high(x), high(y)}} {
		if math.IsNaN(end[0]) != math.IsNaN(end[1]) {
			return "one is not a number"
		}
	}
	if a.Accuracy == result.Exact && b.Accuracy == result.Exact && x.Rat != nil && y.Rat != nil {
		if x.Rat.Cmp(y.Rat) != 0 {
			return shortRat(x.Rat) + " and " + shortRat(y.Rat)
		}
		return ""
	}
	i, ok := s.enclosure(a)
	j, too := s.enclosure(b)
	if ok && too && (i.Lo > j.Hi || j.Lo > i.Hi) {
		return intervalText(i) + " and " + intervalText(j)
	}
	return ""
}

// uniform reports whether the choices were drawn.
func uniform(v *result.Verdict) bool { return v.Resolution == result.Uniform }

func high(v result.Value) float64 {
	if v.Kind == result.Range {
		return v.Hi
	}
	return v.Num
}

// enclosure is where the truth must be if a verdict is right. Numbers without
// bounds get the error that PRISM's test mode grants to estimates; the least
// end of a range counts as well as the greatest.
func (s *subject) enclosure(v *result.Verdict) (result.Interval, bool) {
	lo, hi := v.Value.Num, high(v.Value)
	if math.IsNaN(lo) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return result.Interval{Lo: lo, Hi: hi}, !math.IsNaN(lo)
	}
	switch {
	case v.Accuracy == result.Probable:
		i, err := expect.SoundInterval(*v, s.level(&expect.Statistical{Flakes: comparisonAlpha}))
		return i, err == nil
	case v.Accuracy == result.Bounded && v.Bound != nil:
		lo, hi = v.Bound.Lo, v.Bound.Hi
	}
	slack := func(x float64) float64 { return expect.DefaultRelative * max(math.Abs(x), expect.DefaultRelative) }
	if v.Accuracy == result.Exact {
		slack = func(x float64) float64 { return 1e-12 * math.Abs(x) } // a fraction that was rounded
	}
	return result.Interval{Lo: lo - slack(lo), Hi: hi + slack(hi)}, true
}

// comparisonAlpha is how often one interval of a comparison may miss, at most.
const comparisonAlpha = 1e-6

func shortRat(r *big.Rat) string {
	if text := r.RatString(); len(text) <= 60 {
		return text
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func intervalText(i result.Interval) string {
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	if i.Lo == i.Hi {
		return num(i.Lo)
	}
	return "[" + strings.Join([]string{num(i.Lo), num(i.Hi)}, ", ") + "]"
}
