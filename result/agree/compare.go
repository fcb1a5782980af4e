package agree

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	a, b := Read(who, v, q, level), Read(whoElse, w, q, level)
	for _, x := range []struct {
		a   *Answer
		who string
	}{{&a, who}, {&b, whoElse}} {
		if !x.a.Given() {
			return Outcome{Relation: Unknown, Reason: x.who + " has no value"}
		}
	}
	return Compare(&a, &b, opt)
}

// Compare decides whether two answers can have the same true value and, if so, whether all their possible values are close.
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

type comparison struct {
	a, b *Answer
	opt  Options
	Outcome
}

func (c *comparison) set(r Relation, why string) {
	c.Relation = r
	c.Reason = fmt.Sprintf("%s: %s %s, %s %s", why, c.a.who, c.a, c.b.who, c.b)
}

func (c *comparison) compare() {
	a, b := c.a, c.b
	switch {
	case a.undecided != "" || b.undecided != "":
		x := a
		if a.undecided == "" {
			x = b
		}
		c.Relation, c.Reason = Unknown, x.who+": "+x.undecided
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
	case a.boolean:
	case a.high != nil || b.high != nil:
		c.compareRanges()
	default:
		c.compareNumbers(a, b)
	}
}

// bothInfeasible reports whether both answers say that no scheduler satisfies all objectives: PRISM and the native engine
// return NaN, Storm returns false.
func bothInfeasible(a, b *Answer) bool {
	nan := func(x *Answer) bool { return x.question.Multi && !x.boolean && math.IsNaN(x.number.Lo) }
	no := func(x *Answer) bool { return x.boolean && !x.holds }
	return nan(a) && no(b) || nan(b) && no(a)
}

// applyDoubts makes the relation at most Unknown if an engine doubts its own value.
func (c *comparison) applyDoubts() {
	for _, x := range []*Answer{c.a, c.b} {
		if x.doubt == "" {
			continue
		}
		c.Relation, c.Compatible = min(c.Relation, Unknown), false
		why := fmt.Sprintf("the value of %s is doubtful (%s)", x.who, x.doubt)
		if c.Reason != "" {
			why += "; " + c.Reason
		}
		c.Reason = why
	}
}

// compareSchedulers compares an answer about one scheduler with one about all schedulers. It can only check that the scheduler
// does not exceed the maximum or fall short of the minimum.
func (c *comparison) compareSchedulers() {
	u, v := c.a, c.b
	if u.scheduler == 0 {
		u, v = v, u
	}
	extremum := u.question.Extremum
	if v.scheduler == 0 && !u.boolean && u.high == nil && v.high == nil {
		slack := c.slack(v, v)
		switch {
		case extremum == syntax.Max && u.number.Lo > v.number.Hi+slack:
			c.set(Different, "a scheduler exceeds the maximum")
			return
		case extremum == syntax.Min && u.number.Hi < v.number.Lo-slack:
			c.set(Different, "a scheduler falls short of the minimum")
			return
		}
	}
	drew := "drew the choices uniformly"
	if u.scheduler == result.Fixed {
		drew = "followed a given scheduler"
	}
	c.Relation, c.Wide = Unknown, [2]bool{}
	c.Reason = fmt.Sprintf("%s %s, which is no minimum or maximum as %s has it", u.who, drew, v.who)
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
	r, x := a, b
	if r.high == nil {
		r, x = b, a
	}
	if slack := max(c.slack(r, x), c.slack(r.high, x)); math.IsNaN(x.number.Lo) || x.number.Lo > r.high.number.Hi+slack || x.number.Hi < r.number.Lo-slack {
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
		return
	case a.number.Exact != nil && b.number.Exact != nil:
		if a.number.Exact.Cmp(b.number.Exact) != 0 {
			c.set(Different, "fractions differ")
		}
		return
	case a.number.Exact != nil && isInfinite(b), b.number.Exact != nil && isInfinite(a):
		c.set(Different, "one is infinite")
		return
	case a.integer && b.integer && a.number.Lo == a.number.Hi && b.number.Lo == b.number.Hi:
		if a.number.Lo != b.number.Lo {
			c.set(Different, "whole numbers differ")
		}
		return
	}
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

// slack is the greatest distance of two sets that may still have a common true value: 0 if both are proven, the
// rounding error if one is claimed, and the tolerance if one is an estimate.
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

// maxDifference is the greatest difference of numbers that count as the same: the relative tolerance, and a small absolute one
// for numbers near 0. The latter is the squared tolerance if the bounds are guaranteed, and the rounding error of a difference
// of probabilities for estimates.
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
	most := 0.0
	for _, x := range []float64{a.number.Lo, a.number.Hi, b.number.Lo, b.number.Hi} {
		if !math.IsInf(x, 0) {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

// difference returns x-y, and 0 for equal infinities.
func difference(x, y float64) float64 {
	if x == y {
		return 0
	}
	return x - y
}

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
	before := ": "
	for _, x := range []struct {
		n    int
		word string
	}{{t.Same, "the same"}, {t.Compatible, "not told apart by their samples"}, {t.Different, "different"}} {
		if x.n > 0 {
			text += fmt.Sprintf("%s%d %s", before, x.n, x.word)
			before = ", "
		}
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
