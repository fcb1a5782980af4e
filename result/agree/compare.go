package agree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
	// Wide says for each of the two answers whether more samples might improve it.
	Wide [2]bool
}

// Verdicts compares two verdicts about the same property of the same model.
func Verdicts(who string, v *result.Verdict, whoElse string, w *result.Verdict, q Question, opt Options) Outcome {
	level := cmp.Or(opt.Level, DefaultLevel)
	first, second := Read(who, v, q, level), Read(whoElse, w, q, level)
	switch {
	case !first.Given():
		return Outcome{Relation: Unknown, Reason: who + " has no value"}
	case !second.Given():
		return Outcome{Relation: Unknown, Reason: whoElse + " has no value"}
	}
	return Compare(&first, &second, opt)
}

// Compare decides whether two answers can have the same true value, and whether all their possible values are close.
func Compare(a, b *Answer, opt Options) Outcome {
	c := &comparison{a: a, b: b, opt: opt}
	c.opt.Tolerance, c.opt.Precision = cmp.Or(opt.Tolerance, DefaultTolerance), cmp.Or(opt.Precision, DefaultPrecision)
	c.Basis, c.Wide = Weaker(a.basis, b.basis), [2]bool{a.wide, b.wide}
	c.compare()
	c.applyDoubts()
	if c.Basis == Statistical && c.Relation != Unknown {
		c.Error = min(1, a.alpha+b.alpha)
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
	a, b := c.a, c.b
	switch {
	case a.undecided != "" || b.undecided != "":
		undecided := a
		if a.undecided == "" {
			undecided = b
		}
		c.Relation, c.Reason = Unknown, undecided.who+": "+undecided.undecided
	case bothInfeasible(a, b):
		c.set(Same, "the objectives cannot be met together, which is not a number to one and false to the other")
	case a.boolean != b.boolean, (a.curve == nil) != (b.curve == nil):
		c.set(Different, "answers of different kinds")
	case a.curve != nil:
		c.compareCurves()
	case a.scheduler != b.scheduler:
		c.compareSchedulers()
	case a.optimum != b.optimum && a.optimum != 0 && b.optimum != 0:
		c.set(Unknown, fmt.Sprintf("one is the %s and one the %s over all schedulers", a.optimum, b.optimum))
	case a.boolean && a.holds != b.holds && (a.nominal || b.nominal):
		c.set(Unknown, "a sequential test may be wrong near its bound")
	case a.boolean && a.holds != b.holds:
		c.set(Different, "truth values differ")
	case a.boolean: // the same truth value
	case a.high != nil || b.high != nil:
		c.compareRanges()
	default:
		c.compareNumbers(a, b)
	}
}

// bothInfeasible reports whether both answers say that no scheduler satisfies all objectives. For this PRISM and the native engine return NaN, and
// Storm returns false.
func bothInfeasible(a, b *Answer) bool {
	isNaN := func(answer *Answer) bool {
		return answer.question.Multi && !answer.boolean && math.IsNaN(answer.number.Lo)
	}
	isFalse := func(answer *Answer) bool { return answer.boolean && !answer.holds }
	return isNaN(a) && isFalse(b) || isNaN(b) && isFalse(a)
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
	resolution := "drew the choices uniformly"
	if single.scheduler == result.Fixed {
		resolution = "followed a given scheduler"
	}
	c.Relation, c.Wide = Unknown, [2]bool{}
	c.Reason = fmt.Sprintf("%s %s, which is no minimum or maximum as %s has it", single.who, resolution, optimal.who)
}

// compareRanges compares the values of several initial states. If one engine reports a single number, it must be in the range.
func (c *comparison) compareRanges() {
	a, b := c.a, c.b
	if a.high != nil && b.high != nil {
		if c.compareNumbers(a, b); c.Relation == Same {
			c.compareNumbers(a.high, b.high)
		}
		return
	}
	valueRange, number := a, b
	if valueRange.high == nil {
		valueRange, number = b, a
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
func (c *comparison) compareNumbers(a, b *Answer) {
	switch {
	case math.IsNaN(a.number.Lo) || math.IsNaN(b.number.Lo):
		if math.IsNaN(a.number.Lo) != math.IsNaN(b.number.Lo) {
			c.set(Different, "one is not a number")
		}
	case a.number.Exact != nil && b.number.Exact != nil:
		if a.number.Exact.Cmp(b.number.Exact) != 0 {
			c.set(Different, "fractions differ")
		}
	case a.number.Exact != nil && isInfinite(b), b.number.Exact != nil && isInfinite(a):
		c.set(Different, "one is infinite")
	case a.integer && b.integer && a.number.Lo == a.number.Hi && b.number.Lo == b.number.Hi:
		if a.number.Lo != b.number.Lo {
			c.set(Different, "whole numbers differ")
		}
	default:
		c.compareIntervals(a, b)
	}
}

// compareIntervals compares two intervals of possible values. They differ if the gap between them exceeds the rounding errors, and are the same if
// all their values are close.
func (c *comparison) compareIntervals(a, b *Answer) {
	if gap := max(difference(a.number.Lo, b.number.Hi), difference(b.number.Lo, a.number.Hi)); gap > c.slack(a, b) {
		c.set(Different, c.differenceReason())
		return
	}
	allowed := c.maxDifference(a, b)
	if spread := max(difference(a.number.Hi, b.number.Lo), difference(b.number.Hi, a.number.Lo)); spread > allowed {
		why := "the values"
		if c.claimContainsProof(a, b) || c.claimContainsProof(b, a) {
			why = "the interval that is claimed holds, since it contains what is proven, but the values"
		}
		c.set(Unknown, fmt.Sprintf("%s may be %s apart, want at most %s", why, numberText(spread), numberText(allowed)))
		c.Compatible = c.Basis == Statistical
		c.Wide = [2]bool{a.basis == Statistical, b.basis == Statistical}
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
func isInfinite(a *Answer) bool {
	return a.number.Exact == nil && a.number.Lo == a.number.Hi && math.IsInf(a.number.Lo, 0)
}

// rounding is the rounding error that is granted to a number of size 1.
//
// Source: PRISM's test mode grants it in addition to other errors (ResultTesting).
const rounding = 1e-12

// slack returns the greatest distance of two intervals that may have a common true value. It is 0 for proven intervals, the rounding error for a
// claimed interval, and the tolerance for an estimate.
//
// Source: PRISM's test mode compares relatively, with 1e-5 (ResultTesting).
func (c *comparison) slack(a, b *Answer) float64 {
	switch {
	case a.basis == Estimated || b.basis == Estimated:
		return max(c.opt.Tolerance*largestFinite(a, b), rounding)
	case a.basis == Claimed || b.basis == Claimed:
		return rounding * largestFinite(a, b)
	}
	return 0
}

// maxDifference returns the greatest difference of numbers that count as the same. The tolerance is relative, with a small absolute tolerance for
// numbers near 0.
func (c *comparison) maxDifference(a, b *Answer) float64 {
	switch c.Basis {
	case Statistical:
		return c.opt.Precision * max(1, math.Abs(a.number.Lo), math.Abs(b.number.Lo))
	case Estimated:
		return max(c.opt.Tolerance*largestFinite(a, b), rounding/1000)
	}
	return c.opt.Tolerance * max(largestFinite(a, b), c.opt.Tolerance)
}

// largestFinite returns the largest finite absolute value of the bounds.
func largestFinite(a, b *Answer) float64 {
	largest := 0.0
	for _, bound := range []float64{a.number.Lo, a.number.Hi, b.number.Lo, b.number.Hi} {
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
func (t *Tally) Add(o Outcome) {
	switch {
	case o.Relation == Same:
		t.Same++
	case o.Relation == Different:
		t.Different++
	case o.Compatible:
		t.Compatible++
	default:
		t.Unknown++
		if !slices.Contains(t.Reasons, o.Reason) {
			t.Reasons = append(t.Reasons, o.Reason)
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
		if more := len(t.Reasons) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more reasons)", more)
		}
	}
	return text
}

// Level returns the confidence that each of n intervals needs so that all hold together with the given confidence
// (Bonferroni).
func Level(confidence float64, n int) float64 {
	return stats.Confidence(stats.Alpha(confidence) / float64(max(n, 1)))
}
