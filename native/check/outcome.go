package check

import (
	"fmt"
	"math"

	"tilecheck/result"
)

// outcome is the result of one attempt.
type outcome struct {
	value result.Value
	bound *result.Interval
	results
	scheduler *wantedScheduler // nil unless Checker.wanted asks for a scheduler
}

// writeOutcome writes an outcome to a verdict, with a warning if its bounds are wider than required. If err is not nil, it only
// returns err.
func (c *Checker) writeOutcome(out *outcome, verdict *result.Verdict, err error) error {
	if err != nil {
		return err
	}
	verdict.Warnings = append(verdict.Warnings, out.warnings...)
	verdict.Value, verdict.Bound, verdict.Accuracy, verdict.Listings = out.value, out.bound, out.accuracy, out.listings
	c.values = out.values
	if c.values != nil {
		c.values.Accuracy = out.accuracy
	}
	if c.schedulerRequest != nil {
		*c.schedulerRequest = *out.scheduler
	}
	if out.usedExtendedRange && out.accuracy == result.Bounded {
		verdict.BoundMethod = "elimination with numbers beyond the range of doubles"
	}
	c.lastBeliefs = out.beliefs
	if out.beliefs != nil && out.accuracy == result.Bounded {
		verdict.BoundMethod = out.beliefs.String()
	}
	wantedWidth := c.opts.epsilon()
	switch {
	case out.accuracy == result.Bounded && out.width > wantedWidth:
		verdict.Warnings = append(verdict.Warnings, out.widthWarning(wantedWidth))
	case out.accuracy != result.Exact && math.Abs(out.value.Num) >= overflow && !math.IsInf(out.value.Num, 0):
		verdict.Warnings = append(verdict.Warnings, "the value exceeds the range of float64 numbers, and is wrong; --exact computes it")
	}
	return nil
}

// overflow is slightly below the greatest float64 number. A greater value may have been cut off.
const overflow = math.MaxFloat64 * (1 - 0x1p-20)

// widthWarning returns the warning that the bounds are wider than required. The warning gives the reason.
func (out *outcome) widthWarning(want float64) string {
	why := ""
	if out.hitSweepLimit {
		why = "; an iteration was given up after its limit of sweeps"
	}
	if out.beliefs != nil && !out.beliefs.complete {
		why = fmt.Sprintf("; the search ended at its limit of %d beliefs", out.beliefs.limit)
	}
	if math.IsInf(out.width, 1) {
		return fmt.Sprintf("a bound of the value is infinite, want a relative width of %.3g (--epsilon)%s", want, why)
	}
	return fmt.Sprintf("the interval has a relative width of %.2g, want %.3g (--epsilon)%s", out.width, want, why)
}

// relativeWidth returns the width of the bounds of a number, divided by the greater absolute value of the two. It is
// infinite if a bound is infinite.
func relativeWidth(n number) float64 {
	switch {
	case n.rat != nil || n.isPoint():
		return 0
	case math.IsInf(n.lo, 0) || math.IsInf(n.hi, 0):
		return math.Inf(1)
	}
	magnitude := max(math.Abs(n.lo), math.Abs(n.hi))
	return min(n.hi/magnitude-n.lo/magnitude, 2)
}
