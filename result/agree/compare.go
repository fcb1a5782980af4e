package agree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// Relation is the result of comparing two answers.
type Relation uint8

// The relations, in increasing order of gravity.
const (
	Same      Relation = iota // equal, or certainly close to each other
	Unknown                   // undecided
	Different                 // certainly, or with the stated probability, not equal
)

// String returns "same", "unknown" or "different".
func (r Relation) String() string { return [...]string{"same", "unknown", "different"}[r] }

// Basis is the evidence for a relation.
type Basis string

// The bases, strongest first. A relation has the weakest of its answers' bases.
const (
	Proven      Basis = "proven"      // fractions, bounds of the native engine, and certain truth values
	Claimed     Basis = "claimed"     // an interval that another program claims
	Estimated   Basis = "estimated"   // a value of floating-point arithmetic or of an iteration without bounds, or one that its engine doubts
	Statistical Basis = "statistical" // confidence intervals that hold with a stated probability
)

// Weaker returns the weaker of two bases.
func Weaker(a, b Basis) Basis {
	order := []Basis{Proven, Claimed, Estimated, Statistical}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// The defaults of Options.
const (
	DefaultTolerance = 1e-5
	DefaultPrecision = 0.02
	DefaultLevel     = 1 - 1e-6
)

// Options are the differences that agreeing numbers may have. Zero fields mean the defaults.
type Options struct {
	// Tolerance is relative, for numbers that were not sampled.
	Tolerance float64
	// Precision is for sampled numbers: absolute up to 1, relative above.
	Precision float64
	// Level is the confidence of the interval of each sampled value.
	Level float64
}

// Outcome is the comparison of two answers.
type Outcome struct {
	Relation Relation
	Basis    Basis
	// Reason explains the relation. If it is Same, Reason is usually empty.
	Reason string
	// Error is an upper bound of the probability, over the samples, that a relation with the basis Statistical is wrong.
	Error float64
	// Compatible says that the relation is Unknown only because there are few samples: the answers do not differ
	// significantly at the level asked for.
	Compatible bool
	// TooWide says for each of the two answers whether more samples might improve it.
	TooWide [2]bool
}

// Verdicts compares two verdicts about the same property of the same model.
func Verdicts(engine string, verdict *result.Verdict, otherEngine string, otherVerdict *result.Verdict, question Question, opt Options) Outcome {
	level := cmp.Or(opt.Level, DefaultLevel)
	first, second := ReadAnswer(engine, verdict, question, level), ReadAnswer(otherEngine, otherVerdict, question, level)
	switch {
	case !first.IsGiven():
		return Outcome{Relation: Unknown, Reason: engine + " has no value that can be compared"}
	case !second.IsGiven():
		return Outcome{Relation: Unknown, Reason: otherEngine + " has no value that can be compared"}
	}
	return Compare(&first, &second, opt)
}

// Compare decides whether two answers can have the same true value, and whether all their possible values are close.
func Compare(first, second *Answer, opt Options) Outcome {
	c := &comparison{a: first, b: second, opt: opt}
	c.opt.Tolerance, c.opt.Precision = cmp.Or(opt.Tolerance, DefaultTolerance), cmp.Or(opt.Precision, DefaultPrecision)
	c.Basis, c.TooWide = Weaker(first.basis, second.basis), [2]bool{first.wide, second.wide}
	c.compare()
	c.applyDoubts()
	if c.Basis == Statistical && c.Relation != Unknown {
		c.Error = min(1, first.alpha+second.alpha)
	}
	return c.Outcome
}

// comparison compares the answers a and b.
type comparison struct {
	a, b *Answer
	opt  Options
	Outcome
}

// set sets the relation, with a reason that quotes both answers.
func (c *comparison) set(r Relation, why string) {
	c.Relation = r
	c.Reason = fmt.Sprintf("%s: %s %s, %s %s", why, c.a.who, c.a, c.b.who, c.b)
}

// compare sets the relation of the two answers, without their doubts.
func (c *comparison) compare() {
	first, second := c.a, c.b
	switch {
	case first.undecided != "" || second.undecided != "":
		undecided := first
		if first.undecided == "" {
			undecided = second
		}
		c.Relation, c.Reason = Unknown, undecided.who+": "+undecided.undecided
	case bothInfeasible(first, second):
		c.set(Same, "the objectives cannot be met together, which is not a number to one and false to the other")
	case first.boolean != second.boolean, (first.curve == nil) != (second.curve == nil):
		c.set(Different, "answers of different kinds")
	case first.curve != nil:
		c.compareCurves()
	case first.scheduler != second.scheduler:
		c.compareSchedulers()
	case first.optimum != second.optimum && first.optimum != 0 && second.optimum != 0:
		c.set(Unknown, fmt.Sprintf("one is the %s and one the %s over all schedulers", first.optimum, second.optimum))
	case first.boolean && first.holds != second.holds && (first.nominal || second.nominal):
		c.set(Unknown, "a sequential test may be wrong near its bound")
	case first.boolean && first.holds != second.holds:
		c.set(Different, "truth values differ")
	case first.boolean: // the same truth value
	case first.high != nil || second.high != nil:
		c.compareRanges()
	default:
		c.compareNumbers(first, second)
	}
}

// bothInfeasible reports whether both answers say that no scheduler satisfies all objectives. For this PRISM and the native engine return NaN, and
// Storm returns false.
func bothInfeasible(first, second *Answer) bool {
	isNaN := func(answer *Answer) bool {
		return answer.question.Multi && !answer.boolean && math.IsNaN(answer.number.Lo)
	}
	isFalse := func(answer *Answer) bool { return answer.boolean && !answer.holds }
	return isNaN(first) && isFalse(second) || isNaN(second) && isFalse(first)
}

// applyDoubts makes the relation at most Unknown if an engine doubts its own value.
func (c *comparison) applyDoubts() {
	for _, answer := range []*Answer{c.a, c.b} {
		if answer.doubt == "" {
			continue
		}
		c.Relation, c.Compatible = min(c.Relation, Unknown), false
		reason := fmt.Sprintf("the value of %s is doubtful (%s)", answer.who, answer.doubt)
		if c.Reason != "" {
			reason += "; " + c.Reason
		}
		c.Reason = reason
	}
}

// compareSchedulers compares an answer about one scheduler with an answer about all schedulers. They differ if the scheduler exceeds the maximum or
// falls short of the minimum; otherwise the relation is unknown.
func (c *comparison) compareSchedulers() {
	single, optimal := c.a, c.b
	if single.scheduler == 0 {
		single, optimal = optimal, single
	}
	extremum := single.question.Extremum
	areNumbers := !single.boolean && single.high == nil && optimal.high == nil
	if areNumbers && optimal.scheduler == 0 {
		slack := c.slack(optimal, optimal)
		switch {
		case extremum == syntax.Max && single.number.Lo > optimal.number.Hi+slack:
			c.set(Different, "a scheduler exceeds the maximum")
			return
		case extremum == syntax.Min && single.number.Hi < optimal.number.Lo-slack:
			c.set(Different, "a scheduler falls short of the minimum")
			return
		}
	}
	resolution := "made all choices at random"
	if single.scheduler == result.Fixed {
		resolution = "followed a given scheduler"
	}
	c.Relation, c.TooWide = Unknown, [2]bool{}
	c.Reason = fmt.Sprintf("%s %s, so its value need not be the minimum or maximum that %s computed", single.who, resolution, optimal.who)
}

// compareRanges compares the values of several initial states. If one engine reports a single number, it must be in the range.
func (c *comparison) compareRanges() {
	first, second := c.a, c.b
	if first.high != nil && second.high != nil {
		if c.compareNumbers(first, second); c.Relation == Same {
			c.compareNumbers(first.high, second.high)
		}
		return
	}
	valueRange, number := first, second
	if valueRange.high == nil {
		valueRange, number = second, first
	}
	slack := max(c.slack(valueRange, number), c.slack(valueRange.high, number))
	isAbove := number.number.Lo > valueRange.high.number.Hi+slack
	isBelow := number.number.Hi < valueRange.number.Lo-slack
	if math.IsNaN(number.number.Lo) || isAbove || isBelow {
		c.set(Different, "the number is outside of the range of values")
		return
	}
	c.set(Unknown, "one engine has a range of values, one a number")
}

// compareNumbers compares two numbers, or two ends of ranges.
func (c *comparison) compareNumbers(first, second *Answer) {
	switch {
	case math.IsNaN(first.number.Lo) || math.IsNaN(second.number.Lo):
		if math.IsNaN(first.number.Lo) != math.IsNaN(second.number.Lo) {
			c.set(Different, "one is not a number")
		}
	case first.number.Exact != nil && second.number.Exact != nil:
		if first.number.Exact.Cmp(second.number.Exact) != 0 {
			c.set(Different, "fractions differ")
		}
	case first.number.Exact != nil && isInfinite(second), second.number.Exact != nil && isInfinite(first):
		c.set(Different, "one is infinite")
	case first.integer && second.integer && first.number.Lo == first.number.Hi && second.number.Lo == second.number.Hi:
		if first.number.Lo != second.number.Lo {
			c.set(Different, "whole numbers differ")
		}
	default:
		c.compareIntervals(first, second)
	}
}

// compareIntervals compares two intervals of possible values. They differ if the gap between them exceeds the rounding errors, and are the same if
// all their values are close.
func (c *comparison) compareIntervals(first, second *Answer) {
	if gap := max(difference(first.number.Lo, second.number.Hi), difference(second.number.Lo, first.number.Hi)); gap > c.slack(first, second) {
		c.set(Different, c.differenceReason())
		return
	}
	allowed := c.maxDifference(first, second)
	if spread := max(difference(first.number.Hi, second.number.Lo), difference(second.number.Hi, first.number.Lo)); spread > allowed {
		reason := "the values"
		if c.claimContainsProof(first, second) || c.claimContainsProof(second, first) {
			reason = "the interval that is claimed holds, since it contains what is proven, but the values"
		}
		c.set(Unknown, fmt.Sprintf("%s may be %s apart, want at most %s", reason, numberText(spread), numberText(allowed)))
		c.Compatible = c.Basis == Statistical
		c.TooWide = [2]bool{first.basis == Statistical, second.basis == Statistical}
	}
}

// claimContainsProof reports whether claim is a claimed interval that contains the proven interval.
func (c *comparison) claimContainsProof(claim, proof *Answer) bool {
	if claim.basis != Claimed || proof.basis != Proven {
		return false
	}
	slack := c.slack(claim, proof)
	return claim.number.Lo-slack <= proof.number.Lo && proof.number.Hi <= claim.number.Hi+slack
}

// isInfinite reports whether an answer is certainly infinite.
func isInfinite(answer *Answer) bool {
	return answer.number.Exact == nil && answer.number.Lo == answer.number.Hi && math.IsInf(answer.number.Lo, 0)
}

// rounding is the rounding error that is granted to a number of size 1.
//
// Source: PRISM's test mode grants it in addition to other errors (ResultTesting).
const rounding = 1e-12

// slack returns the greatest distance of two intervals that may have a common true value. It is 0 for proven intervals, the rounding error for a
// claimed interval, and the tolerance for an estimate.
//
// Source: PRISM's test mode compares relatively, with 1e-5 (ResultTesting).
func (c *comparison) slack(first, second *Answer) float64 {
	switch {
	case first.basis == Estimated || second.basis == Estimated:
		return max(c.opt.Tolerance*largestFinite(first, second), rounding)
	case first.basis == Claimed || second.basis == Claimed:
		return rounding * largestFinite(first, second)
	}
	return 0
}

// maxDifference returns the greatest difference of numbers that count as the same. The tolerance is relative, with a small absolute tolerance for
// numbers near 0.
func (c *comparison) maxDifference(first, second *Answer) float64 {
	switch c.Basis {
	case Statistical:
		return c.opt.Precision * max(1, math.Abs(first.number.Lo), math.Abs(second.number.Lo))
	case Estimated:
		return max(c.opt.Tolerance*largestFinite(first, second), rounding/1000)
	}
	return c.opt.Tolerance * max(largestFinite(first, second), c.opt.Tolerance)
}

// largestFinite returns the largest finite absolute value of the bounds.
func largestFinite(first, second *Answer) float64 {
	largest := 0.0
	for _, bound := range []float64{first.number.Lo, first.number.Hi, second.number.Lo, second.number.Hi} {
		if !math.IsInf(bound, 0) {
			largest = max(largest, math.Abs(bound))
		}
	}
	return largest
}

// difference returns x-y, and 0 for equal infinities.
func difference(x, y float64) float64 {
	if x == y {
		return 0
	}
	return x - y
}

// differenceReason describes a difference of numbers.
func (c *comparison) differenceReason() string {
	switch c.Basis {
	case Statistical:
		return "confidence intervals are apart"
	case Estimated:
		return "estimated values are further apart than the tolerance"
	case Claimed:
		return "an interval that is claimed is apart from the other"
	}
	return "proven values differ"
}

// Tally counts the outcomes of several comparisons.
type Tally struct {
	Same, Different int
	// Compatible counts sampled answers that do not differ significantly and are not certainly close.
	Compatible int
	// Unknown counts the other undecided comparisons; Reasons lists their reasons without duplicates.
	Unknown int
	Reasons []string
}

// Add counts an outcome.
func (t *Tally) Add(outcome Outcome) {
	switch {
	case outcome.Relation == Same:
		t.Same++
	case outcome.Relation == Different:
		t.Different++
	case outcome.Compatible:
		t.Compatible++
	default:
		t.Unknown++
		if !slices.Contains(t.Reasons, outcome.Reason) {
			t.Reasons = append(t.Reasons, outcome.Reason)
		}
	}
}

// Compared returns the number of comparisons with a result.
func (t *Tally) Compared() int { return t.Same + t.Compatible + t.Different }

// All returns the number of all comparisons.
func (t *Tally) All() int { return t.Compared() + t.Unknown }

// String returns a summary such as "3 of 4 comparisons made: 2 the same, 1 different; not made: …".
func (t *Tally) String() string {
	text := fmt.Sprintf("%d of %d comparisons made", t.Compared(), t.All())
	var counts []string
	addCount := func(count int, description string) {
		if count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count, description))
		}
	}
	addCount(t.Same, "the same")
	addCount(t.Compatible, "not told apart by their samples")
	addCount(t.Different, "different")
	if len(counts) > 0 {
		text += ": " + strings.Join(counts, ", ")
	}
	if len(t.Reasons) > 0 {
		text += "; not made: " + t.Reasons[0]
		if others := len(t.Reasons) - 1; others > 0 {
			text += fmt.Sprintf(" (and %s)", noun.Count(others, "more reason"))
		}
	}
	return text
}

// Level returns the confidence that each of n intervals needs so that all hold together with the given confidence
// (Bonferroni).
func Level(confidence float64, n int) float64 {
	return stats.Confidence(stats.Alpha(confidence) / float64(max(n, 1)))
}
