package check

import (
	"fmt"
	"math"

	"tilecheck/result"
)

// outcome is the result of one attempt.
type outcome struct {
	value    result.Value
	interval *result.Interval
	results
	scheduler *schedulerRequest // nil unless Checker.schedulerRequest asks for a scheduler
}

// writeOutcome copies the outcome of an evaluation to a verdict, with warnings about its width and range. It stores the values, the scheduler and the
// beliefs of the outcome in the checker.
func (checker *Checker) writeOutcome(outcome *outcome, verdict *result.Verdict) {
	verdict.Value, verdict.Bound, verdict.Accuracy, verdict.Listings = outcome.value, outcome.interval, outcome.accuracy, outcome.listings
	if method := outcome.boundMethod(); method != "" {
		verdict.BoundMethod = method
	}
	verdict.Warnings = append(verdict.Warnings, outcome.warnings...)
	mayOverflow := math.Abs(outcome.value.Num) >= overflow && !math.IsInf(outcome.value.Num, 0)
	switch wantedWidth := checker.opts.epsilon(); {
	case outcome.accuracy == result.Bounded && outcome.width > wantedWidth:
		verdict.Warnings = append(verdict.Warnings, outcome.widthWarning(wantedWidth))
	case outcome.accuracy != result.Exact && mayOverflow:
		verdict.Warnings = append(verdict.Warnings, "the value exceeds the range of float64 numbers, and is wrong; --exact computes it")
	}
	checker.lastBeliefs = outcome.beliefs
	checker.values = outcome.values
	if checker.values != nil {
		checker.values.Accuracy = outcome.accuracy
	}
	if checker.schedulerRequest != nil {
		*checker.schedulerRequest = *outcome.scheduler
	}
}

// boundMethod describes how the bounds were computed if the method is unusual: a search of beliefs, or elimination with an extended range of
// numbers. Otherwise it returns "".
func (outcome *outcome) boundMethod() string {
	switch {
	case outcome.accuracy != result.Bounded:
		return ""
	case outcome.beliefs != nil:
		return outcome.beliefs.String()
	case outcome.usedExtendedRange:
		return "elimination with numbers beyond the range of float64"
	}
	return ""
}

// overflow is slightly below the greatest float64 number. A greater value may have been cut off.
const overflow = math.MaxFloat64 * (1 - 0x1p-20)

// widthWarning returns the warning that the relative width of the bounds exceeds wantedWidth. The warning says whether an iteration or a search
// ended at its limit.
func (outcome *outcome) widthWarning(wantedWidth float64) string {
	reason := ""
	if outcome.hitSweepLimit {
		reason = "; an iteration was given up after its limit of sweeps"
	}
	if outcome.beliefs != nil && !outcome.beliefs.isComplete {
		reason = fmt.Sprintf("; the search ended at its limit of %d beliefs", outcome.beliefs.maxBeliefs)
	}
	if math.IsInf(outcome.width, 1) {
		return fmt.Sprintf("a bound of the value is infinite, want a relative width of %.3g (--epsilon)%s", wantedWidth, reason)
	}
	return fmt.Sprintf("the interval has a relative width of %.2g, want %.3g (--epsilon)%s", outcome.width, wantedWidth, reason)
}

// relativeWidth returns (upper-lower) / max(|lower|, |upper|) for the bounds of a number. It is 0 for an exact number, and infinite for an
// infinite bound.
func relativeWidth(value number) float64 {
	switch {
	case value.Exact != nil || value.isPoint():
		return 0
	case math.IsInf(value.Lo, 0) || math.IsInf(value.Hi, 0):
		return math.Inf(1)
	}
	magnitude := max(math.Abs(value.Lo), math.Abs(value.Hi))
	return min(value.Hi/magnitude-value.Lo/magnitude, 2) // divided before the subtraction, which may overflow
}
