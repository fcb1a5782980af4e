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

// write writes an outcome to a verdict, with a warning if its bounds are wider than required. If err is not nil, it
// returns err.
func (c *Checker) write(o *outcome, verdict *result.Verdict, err error) error {
	if err != nil {
		return err
	}
	verdict.Warnings = append(verdict.Warnings, o.warnings...)
	verdict.Value, verdict.Bound, verdict.Accuracy, verdict.Listings = o.value, o.bound, o.accuracy, o.listings
	c.values = o.values
	if c.values != nil {
		c.values.Accuracy = o.accuracy
	}
	if c.schedulerRequest != nil {
		*c.schedulerRequest = *o.scheduler
	}
	if o.extended && o.accuracy == result.Bounded {
		verdict.BoundMethod = "elimination with numbers beyond the range of doubles"
	}
	c.lastBeliefs = o.beliefs
	if o.beliefs != nil && o.accuracy == result.Bounded {
		verdict.BoundMethod = o.beliefs.String()
	}
	wantedWidth := c.opts.epsilon()
	switch {
	case o.accuracy == result.Bounded && o.width > wantedWidth:
		verdict.Warnings = append(verdict.Warnings, o.tooWide(wantedWidth))
	case o.accuracy != result.Exact && math.Abs(o.value.Num) >= overflow && !math.IsInf(o.value.Num, 0):
		verdict.Warnings = append(verdict.Warnings, "the value is greater than doubles can be, and wrong; --exact computes it")
	}
	return nil
}

// overflow is slightly below the greatest float64 number. A greater value may have been cut off.
const overflow = math.MaxFloat64 * (1 - 0x1p-20)

// tooWide returns the warning that the bounds are wider than required, with the reason.
func (o *outcome) tooWide(want float64) string {
	why := ""
	if o.gaveUp {
		why = "; an iteration was given up after its limit of sweeps"
	}
	if o.beliefs != nil && !o.beliefs.complete {
		why = fmt.Sprintf("; the search ended at its limit of %d beliefs", o.beliefs.limit)
	}
	if math.IsInf(o.width, 1) {
		return fmt.Sprintf("there is no bound on one side, where a relative width of %.3g was asked for%s", want, why)
	}
	return fmt.Sprintf("the interval has a relative width of %.2g, where %.3g was asked for%s", o.width, want, why)
}

// relativeWidth returns the width of a number's bounds, divided by the greater absolute value of the two. It is infinite if a
// bound is unknown.
func relativeWidth(value number) float64 {
	switch {
	case value.rat != nil || value.isPoint():
		return 0
	case math.IsInf(value.lo, 0) || math.IsInf(value.hi, 0):
		return math.Inf(1)
	}
	size := max(math.Abs(value.lo), math.Abs(value.hi))
	return min(value.hi/size-value.lo/size, 2)
}
