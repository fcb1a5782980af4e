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

// Relation is how two answers stand to each other.
type Relation uint8

// The relations; the last is the gravest.
const (
	Same      Relation = iota // of one value, or surely close to each other
	Unknown                   // nothing that is known tells
	Different                 // not of one value
)

// String returns "same", "unknown" or "different".
func (r Relation) String() string { return [...]string{"same", "unknown", "different"}[r] }

// Basis is what a relation rests on.
type Basis string

// The bases, strongest first. A relation has the weakest of its answers' bases.
const (
	Proven      Basis = "proven"      // fractions, our bounds, and truth values that hold for certain
	Claimed     Basis = "claimed"     // an interval that another program claims
	Estimated   Basis = "estimated"   // a value of floating-point arithmetic, of an iteration without bounds, or one that its engine doubts
	Statistical Basis = "statistical" // confidence intervals that hold with a probability that is stated
)

// Weaker returns the basis that both reach.
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

// Options say how far apart agreeing numbers may be. The zero value has the defaults.
type Options struct {
	// Tolerance is relative, for numbers that were not sampled.
	Tolerance float64
	// Precision is for those that were: absolute up to 1 and relative above.
	Precision float64
	// Level is the confidence of the interval of one sampled value.
	Level float64
}

// Outcome is what two answers say about each other.
type Outcome struct {
	Relation Relation
	Basis    Basis
	// Reason is why, in words; of answers that are the same it is what there is to
	// know beside, and mostly empty.
	Reason string
	// Error is the probability, over the samples, that a relation on the basis
	// Statistical is not right, at most.
	Error float64
	// Compatible says of what is Unknown only because samples are few that they
	// were compared, and are not told apart at the level asked for.
	Compatible bool
	// Wide lists which of the two answers more samples might improve.
	Wide [2]bool
}

// Verdicts compares two verdicts about one property of one model.
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

// Compare says whether two answers can be of one value and, if so, whether they
// are surely close.
func Compare(a, b *Answer, opt Options) Outcome {
	c := &comparison{a: a, b: b, opt: opt}
	c.opt.Tolerance, c.opt.Precision = cmp.Or(opt.Tolerance, DefaultTolerance), cmp.Or(opt.Precision, DefaultPrecision)
	c.Basis, c.Wide = Weaker(a.basis, b.basis), [2]bool{a.wide, b.wide}
	c.compare()
	c.doubts()
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
	case a.open != "" || b.open != "":
		x := a
		if a.open == "" {
			x = b
		}
		c.Relation, c.Reason = Unknown, x.who+": "+x.open
	case infeasible(a, b):
		c.set(Same, "the objectives cannot be met together, which is not a number to one and false to the other")
	case a.boolean != b.boolean, (a.curve == nil) != (b.curve == nil):
		c.set(Different, "answers of different kinds")
	case a.curve != nil:
		c.curves()
	case a.scheduler != b.scheduler:
		c.schedulers()
	case a.optimum != b.optimum && a.optimum != 0 && b.optimum != 0:
		c.set(Unknown, fmt.Sprintf("one is the %s and one the %s over all schedulers", a.optimum, b.optimum))
	case a.boolean && a.holds != b.holds && (a.nominal || b.nominal):
		c.set(Unknown, "a sequential test may be wrong near its bound")
	case a.boolean && a.holds != b.holds:
		c.set(Different, "truth values differ")
	case a.boolean:
	case a.high != nil || b.high != nil:
		c.ranges()
	default:
		c.numbers(a, b)
	}
}

// infeasible reports whether both say that several objectives cannot be met
// together: PRISM and we with NaN, Storm with false.
func infeasible(a, b *Answer) bool {
	nan := func(x *Answer) bool { return x.question.Multi && !x.boolean && math.IsNaN(x.lo) }
	no := func(x *Answer) bool { return x.boolean && !x.holds }
	return nan(a) && no(b) || nan(b) && no(a)
}

// doubts takes back what rests on a value that its own engine doubts.
func (c *comparison) doubts() {
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

// schedulers compares an answer about one scheduler with one about all of them:
// the one cannot exceed the maximum, nor fall short of the minimum, and more
// there is not to say.
func (c *comparison) schedulers() {
	u, v := c.a, c.b
	if u.scheduler == 0 {
		u, v = v, u
	}
	extremum := u.question.Extremum
	if v.scheduler == 0 && !u.boolean && u.high == nil && v.high == nil {
		slack := c.slack(v, v)
		switch {
		case extremum == syntax.Max && u.lo > v.hi+slack:
			c.set(Different, "a scheduler exceeds the maximum")
			return
		case extremum == syntax.Min && u.hi < v.lo-slack:
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

// ranges compares the values of several initial states. An engine may know only
// one number, which is then in the range.
func (c *comparison) ranges() {
	a, b := c.a, c.b
	if a.high != nil && b.high != nil {
		if c.numbers(a, b); c.Relation == Same {
			c.numbers(a.high, b.high)
		}
		return
	}
	r, x := a, b
	if r.high == nil {
		r, x = b, a
	}
	if slack := max(c.slack(r, x), c.slack(r.high, x)); math.IsNaN(x.lo) || x.lo > r.high.hi+slack || x.hi < r.lo-slack {
		c.set(Different, "the number is outside of the range of values")
		return
	}
	c.set(Unknown, "one engine has a range of values, one a number")
}

// numbers compares numbers: a and b, or the ends of ranges.
func (c *comparison) numbers(a, b *Answer) {
	switch {
	case math.IsNaN(a.lo) || math.IsNaN(b.lo):
		if math.IsNaN(a.lo) != math.IsNaN(b.lo) {
			c.set(Different, "one is not a number")
		}
		return
	case a.rat != nil && b.rat != nil:
		if a.rat.Cmp(b.rat) != 0 {
			c.set(Different, "fractions differ")
		}
		return
	case a.rat != nil && infinite(b), b.rat != nil && infinite(a):
		c.set(Different, "one is infinite")
		return
	case a.integer && b.integer && a.lo == a.hi && b.lo == b.hi:
		if a.lo != b.lo {
			c.set(Different, "whole numbers differ")
		}
		return
	}
	if gap := max(minus(a.lo, b.hi), minus(b.lo, a.hi)); gap > c.slack(a, b) {
		c.set(Different, c.apart())
		return
	}
	allowed := c.allowed(a, b)
	if spread := max(minus(a.hi, b.lo), minus(b.hi, a.lo)); spread > allowed {
		why := "the values"
		if c.confirmed(a, b) || c.confirmed(b, a) {
			why = "the interval that is claimed holds, since it contains what is proven, but the values"
		}
		c.set(Unknown, fmt.Sprintf("%s may be %s apart, want at most %s", why, numberText(spread), numberText(allowed)))
		c.Compatible = c.Basis == Statistical
		c.Wide = [2]bool{a.basis == Statistical, b.basis == Statistical}
	}
}

// confirmed reports whether one answer is an interval that a program claims, and the other proves that it holds.
func (c *comparison) confirmed(claim, proof *Answer) bool {
	if claim.basis != Claimed || proof.basis != Proven {
		return false
	}
	slack := c.slack(claim, proof)
	return claim.lo-slack <= proof.lo && proof.hi <= claim.hi+slack
}

// infinite reports whether an answer is infinite for certain.
func infinite(a *Answer) bool { return a.rat == nil && a.lo == a.hi && math.IsInf(a.lo, 0) }

// rounding is what floating-point arithmetic may be off by in a number of the
// size of 1.
//
// Source: PRISM's test mode grants it beside every other error (ResultTesting).
const rounding = 1e-12

// slack is how far apart sets may be that are to have a truth in common: nothing
// where both are proven, the rounding of the other program where it claims an
// interval, and the tolerance where it only estimates.
//
// Source: PRISM's test mode compares relatively, with 1e-5 (ResultTesting).
func (c *comparison) slack(a, b *Answer) float64 {
	switch {
	case a.basis == Estimated || b.basis == Estimated:
		return max(c.opt.Tolerance*size(a, b), rounding)
	case a.basis == Claimed || b.basis == Claimed:
		return rounding * size(a, b)
	}
	return 0
}

// allowed is how far apart numbers may be that are the same. Beside the relative
// tolerance there is an absolute one: of sets that are known to have a truth in
// common its square, of values without bounds the rounding of a difference of
// probabilities, which is no more than that of zero.
func (c *comparison) allowed(a, b *Answer) float64 {
	switch c.Basis {
	case Statistical:
		return c.opt.Precision * max(1, math.Abs(a.lo), math.Abs(b.lo))
	case Estimated:
		return max(c.opt.Tolerance*size(a, b), rounding/1000)
	}
	return c.opt.Tolerance * max(size(a, b), c.opt.Tolerance)
}

// size is the largest finite number of the ends.
func size(a, b *Answer) float64 {
	most := 0.0
	for _, x := range []float64{a.lo, a.hi, b.lo, b.hi} {
		if !math.IsInf(x, 0) {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

// minus is x-y where two equal infinities differ by nothing.
func minus(x, y float64) float64 {
	if x == y {
		return 0
	}
	return x - y
}

func (c *comparison) apart() string {
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

// Tally counts relations.
type Tally struct {
	Same, Different int
	// Compatible are samples that are not told apart, and not surely close.
	Compatible int
	// Unknown are all others that nothing tells of, and Reasons is why, each once.
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

// Compared is the number of comparisons that were made.
func (t *Tally) Compared() int { return t.Same + t.Compatible + t.Different }

// All is the number of comparisons that were to be made.
func (t *Tally) All() int { return t.Compared() + t.Unknown }

// String is "3 of 4 comparisons made: 2 the same, 1 different; not made: …".
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

// Level is the confidence of each of n intervals that hold all together with
// that confidence (Bonferroni).
func Level(confidence float64, n int) float64 {
	return stats.Confidence(stats.Alpha(confidence) / float64(max(n, 1)))
}
