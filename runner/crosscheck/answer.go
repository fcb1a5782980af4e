package crosscheck

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/native/simulate"
	"tilecheck/native/stats"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// answer is what a verdict says, as far as it is to be believed: numbers lie
// between lo and hi, in the sense of basis.
type answer struct {
	who     string
	boolean bool
	holds   bool
	lo, hi  float64
	rat     *big.Rat // the number, if it is known exactly
	high    *answer  // of a range of values: its other end
	basis   Basis
	// uniform says that choices were drawn, so that the answer is about that
	// scheduler and not about a minimum or maximum.
	uniform bool
	// nominal says that a truth value comes from a test without a guarantee
	// that holds for every model.
	nominal bool
	// open says why nothing can be said, and wide that more samples might help.
	open string
	wide bool
}

// question is what the readers of verdicts need to know of a row.
type question struct {
	objective *simulate.Objective // nil if no simulator can be asked
	// nondet says that the model may have states with several choices.
	nondet bool
	mdp    bool
}

// newAnswer reads the verdict of an engine that was asked for samples at that
// level of confidence, or more.
func newAnswer(who string, v *result.Verdict, q *question, level float64) answer {
	a := answer{who: who, basis: Estimated}
	switch {
	case v.Accuracy == result.Probable:
		a.sampled(v, q, level)
		return a
	case v.Accuracy == result.Exact, v.Accuracy == result.Bounded && (v.Bound != nil || v.Value.Kind == result.Boolean):
		a.basis = Proven
	}
	switch v.Value.Kind {
	case result.Boolean:
		a.boolean, a.holds = true, v.Value.Bool
	case result.Range:
		a.basis = Estimated // the bounds are not those of the ends
		a.point(v.Value.Num)
		a.high = &answer{who: who, basis: Estimated}
		a.high.point(v.Value.Hi)
	default:
		a.number(v)
	}
	return a
}

func (a *answer) point(x float64) { a.lo, a.hi = x, x }

// number reads a number that was not sampled.
func (a *answer) number(v *result.Verdict) {
	switch x := v.Value; {
	case math.IsNaN(x.Num):
		a.point(x.Num)
	case v.Accuracy == result.Bounded && v.Bound != nil:
		a.lo, a.hi = v.Bound.Lo, v.Bound.Hi
	case v.Accuracy == result.Exact && x.Rat != nil:
		a.rat = x.Rat
		a.lo, a.hi = around(x.Rat)
	default:
		a.point(x.Num)
		if v.Accuracy == result.Exact && x.Kind != result.Integer && !math.IsInf(x.Num, 0) {
			a.basis = Estimated // the fraction was rounded when it was printed
		}
	}
}

// around returns the doubles next to a fraction, or the one that it is.
func around(r *big.Rat) (lo, hi float64) {
	f, exact := r.Float64()
	if exact || math.IsInf(f, 0) {
		return f, f
	}
	if new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		return f, math.Nextafter(f, math.Inf(1))
	}
	return math.Nextafter(f, math.Inf(-1)), f
}

// sampled reads the verdict of a simulation.
func (a *answer) sampled(v *result.Verdict, q *question, level float64) {
	a.basis = Statistical
	a.uniform = q.mdp && q.nondet
	if v.Value.Kind == result.Boolean || q.objective != nil && !q.objective.Query() {
		a.decision(v, q, level)
		return
	}
	i, err := interval(v, q, level)
	if err != "" {
		a.open = err
		return
	}
	a.lo, a.hi = i.Lo, i.Hi
}

// interval returns an interval for a sampled mean that is valid at a level,
// whatever the model. The number of samples was fixed.
func interval(v *result.Verdict, q *question, level float64) (result.Interval, string) {
	var zero result.Interval
	if q.objective == nil {
		return zero, "the property is none whose samples are known to be independent paths"
	}
	if v.Value.Kind == result.Number && !q.objective.Reward {
		b, err := stats.Published(v.Value.Num, v.Samples)
		if err != nil {
			return zero, "the estimate is no fraction of the samples, so that no interval can be made: " + err.Error()
		}
		i, err := stats.BernoulliInterval(b, level, false)
		if err != nil {
			return zero, err.Error()
		}
		return result.Interval{Lo: i.Lo, Hi: i.Hi}, ""
	}
	if v.Bound == nil {
		return zero, "no interval is valid for the mean of a reward without a bound of the reward of a path"
	}
	if v.Confidence < level-1e-12 {
		return zero, fmt.Sprintf("the interval holds with %v only, want %v", v.Confidence, level)
	}
	return *v.Bound, ""
}

// decision reads whether a sampled property holds. An interval that lies on one
// side of the property's bound decides it; the tool's word does so nominally.
func (a *answer) decision(v *result.Verdict, q *question, level float64) {
	a.boolean, a.holds = true, v.Value.Bool
	if q.objective == nil || v.Bound == nil || v.Confidence < level-1e-12 {
		a.nominal = true
		if v.Value.Kind != result.Boolean {
			a.open = "the simulation has not decided the property"
		}
		return
	}
	lo := satisfies(v.Bound.Lo, q.objective.Rel, q.objective.Bound)
	hi := satisfies(v.Bound.Hi, q.objective.Rel, q.objective.Bound)
	a.holds = lo
	if lo != hi {
		a.wide = true
		a.open = fmt.Sprintf("the interval %s has the bound %s in it", intervalText(v.Bound.Lo, v.Bound.Hi), number(q.objective.Bound))
	}
}

func satisfies(x float64, rel syntax.Op, bound float64) bool {
	switch rel {
	case syntax.OpLt:
		return x < bound
	case syntax.OpLe:
		return x <= bound
	case syntax.OpGt:
		return x > bound
	}
	return x >= bound
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func intervalText(lo, hi float64) string { return "[" + number(lo) + ", " + number(hi) + "]" }

// text is the answer in a reason.
func (a *answer) text() string {
	switch {
	case a.boolean:
		return strconv.FormatBool(a.holds)
	case a.high != nil:
		return "a range of " + intervalText(a.lo, a.high.lo)
	case a.rat != nil && len(a.rat.RatString()) <= 40:
		return a.rat.RatString()
	case a.lo == a.hi, math.IsNaN(a.lo):
		return number(a.lo)
	}
	return intervalText(a.lo, a.hi)
}
