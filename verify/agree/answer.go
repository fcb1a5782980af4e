package agree

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/result"
	"tilecheck/stats"
)

// Answer is what a verdict says, as far as it is to be believed. The zero Answer
// is of an engine that said nothing.
type Answer struct {
	who      string
	question Question
	basis    Basis
	boolean  bool
	holds    bool
	integer  bool
	lo, hi   float64 // numbers lie between them, in the sense of basis
	rat      *big.Rat
	high     *Answer // of a range of values: its other end
	curve    [][]float64
	// scheduler is the one that the answer is about, if it is not all of them.
	scheduler result.Resolution
	optimum   result.Resolution // Minimum, Maximum, or unknown
	// nominal says that a truth value comes from a test without a guarantee that
	// holds for every model.
	nominal bool
	// alpha is the probability, over the samples, that the truth is not between lo
	// and hi.
	alpha float64
	// open says why nothing can be said, and wide that more samples might help.
	open  string
	wide  bool
	doubt string
}

// Given reports whether there is an answer.
func (a *Answer) Given() bool { return a.basis != "" }

// Empty reports whether no truth is possible: intervals that are each right with
// some probability have nothing in common.
func (a *Answer) Empty() bool { return a.lo > a.hi }

// Who is whose answer it is.
func (a *Answer) Who() string { return a.who }

// Read reads the verdict of an engine. Level is the confidence that the interval
// of a sampled value is to have. What failed or has no value, or is a function, is the zero Answer;
// but a simulation that could not decide has an interval.
func Read(who string, v *result.Verdict, q Question, level float64) Answer {
	undecided := v.Err != nil && v.Err.Class == result.NonConverge && v.Bound != nil && q.Rel != 0 &&
		v.Accuracy == result.Probable && v.Samples > 0
	if !undecided && (v.Err != nil || v.Value.Kind == result.NoValue || v.Value.Kind == result.Function) {
		return Answer{}
	}
	a := Answer{who: who, question: q, basis: Estimated, doubt: v.Doubt}
	switch v.Resolution {
	case result.Uniform, result.Fixed:
		if !q.NoChoices {
			a.scheduler = v.Resolution
		}
	case result.Minimum, result.Maximum:
		a.optimum = v.Resolution
	}
	certain := v.Bound != nil || v.Value.Kind == result.Boolean
	switch {
	case v.Accuracy == result.Probable:
		a.sampled(v, level)
		return a
	case v.Accuracy == result.Exact, (v.Accuracy == result.Bounded || v.Accuracy == result.Proven) && certain:
		a.basis = Proven
	case v.Accuracy == result.Claimed && certain:
		a.basis = Claimed
	}
	switch v.Value.Kind {
	case result.Boolean:
		a.boolean, a.holds = true, v.Value.Bool
	case result.Range:
		a.basis = Estimated // the bounds are not those of the ends
		a.high = &Answer{who: who, basis: Estimated}
		a.lo, a.hi = v.Value.Num, v.Value.Num
		a.high.lo, a.high.hi = v.Value.Hi, v.Value.Hi
	case result.Curve:
		a.basis, a.curve = Estimated, v.Value.Points
	default:
		a.number(v)
	}
	if a.doubt != "" {
		a.basis = Estimated
	}
	return a
}

// number reads a number that was not sampled.
func (a *Answer) number(v *result.Verdict) {
	x := v.Value
	a.integer = x.Kind == result.Integer
	a.lo, a.hi = x.Num, x.Num
	switch {
	case math.IsNaN(x.Num):
	case (v.Accuracy == result.Exact || v.Accuracy == result.Proven) && x.Rat != nil:
		a.rat = x.Rat
		a.lo, a.hi = result.Around(x.Rat)
	case v.Accuracy == result.Exact:
		if !a.integer && !math.IsInf(x.Num, 0) {
			a.basis = Estimated // the fraction was rounded when it was printed
		}
	case v.Bound != nil:
		a.lo, a.hi = v.Bound.Lo, v.Bound.Hi
		if a.basis == Estimated { // what an engine says of its error is not to exclude its value
			a.lo, a.hi = min(a.lo, x.Num), max(a.hi, x.Num)
		}
	}
}

// sampled reads the verdict of a simulation.
func (a *Answer) sampled(v *result.Verdict, level float64) {
	a.basis, a.alpha = Statistical, stats.Alpha(level)
	if a.question.Choices {
		a.scheduler = result.Uniform
	}
	if v.Value.Kind == result.Boolean || a.question.Rel != 0 {
		a.decision(v, level)
		return
	}
	i, err := Interval(v, a.question, level)
	if err != nil {
		a.open = err.Error()
		return
	}
	a.lo, a.hi = i.Lo, i.Hi
}

// decision reads whether a sampled property holds. An interval that lies on one
// side of the property's bound decides it; the tool's word does so nominally.
func (a *Answer) decision(v *result.Verdict, level float64) {
	a.boolean, a.holds = true, v.Value.Bool
	if a.question.Rel == 0 || math.IsNaN(a.question.Bound) || v.Bound == nil || v.Confidence < level-slightly {
		a.nominal, a.alpha = true, stats.Alpha(v.Confidence)
		if v.Value.Kind != result.Boolean {
			a.open = "the simulation has not decided the property"
		}
		return
	}
	a.holds = a.question.holds(v.Bound.Lo)
	if a.holds != a.question.holds(v.Bound.Hi) {
		a.wide = true
		a.open = fmt.Sprintf("the interval %s has the bound %s in it", intervalText(v.Bound.Lo, v.Bound.Hi), numberText(a.question.Bound))
	}
}

// slightly is what confidences differ by when they are computed.
const slightly = 1e-12

// Interval returns an interval that holds the mean that a sampled verdict
// estimates with at least that confidence, whatever the model: the one that came
// with it, or, of the share of samples that were successes, one for the confidence
// that is asked for, which is valid at any time unless the number of samples was
// fixed. Of other means an interval for less confidence is made longer.
func Interval(v *result.Verdict, q Question, level float64) (result.Interval, error) {
	switch {
	case q.Operator == 0 || v.Value.Kind == result.Range:
		return result.Interval{}, fmt.Errorf("the property is none whose samples are known to be independent paths")
	case v.Bound != nil && v.Confidence >= level-slightly:
		return *v.Bound, nil
	case q.Operator == 'P':
		counts, err := stats.Published(v.Value.Num, v.Samples)
		if err != nil {
			return result.Interval{}, fmt.Errorf("the estimate is no fraction of the samples, so that no interval can be made: %w", err)
		}
		fixed := q.FixedSamples || slices.Contains([]string{stats.ClopperPearson.String(), stats.Hoeffding.String()}, v.BoundMethod)
		i, err := stats.BernoulliInterval(counts, level, !fixed)
		return result.Interval{Lo: i.Lo, Hi: i.Hi}, err
	case v.Bound == nil:
		return result.Interval{}, fmt.Errorf("no interval is valid for the mean of a reward without a bound of the reward of a path")
	}
	return longer(v, level)
}

// longer stretches an interval around its mean to more confidence. The width of
// every interval whose method is known grows with log(c/alpha) at most, for some
// c >= 1, and so no faster than with log(1/alpha): in Hoeffding's and Bernstein's
// it is below a root and beside it, and each bet of the sequence has it as a term.
// The ends may be those of the possible rewards, where the interval was cut; it
// is then the longer end that says how long it was.
func longer(v *result.Verdict, level float64) (result.Interval, error) {
	known := []string{stats.Hoeffding.String(), stats.EmpiricalBernstein.String(), stats.EmpiricalBernsteinSequence.String()}
	if !slices.Contains(known, v.BoundMethod) || !(v.Confidence > 0) {
		return result.Interval{}, fmt.Errorf("the interval holds with %v only, want %v", v.Confidence, level)
	}
	mean := v.Value.Num
	width := max(mean-v.Bound.Lo, v.Bound.Hi-mean) * math.Log(stats.Alpha(level)) / math.Log(stats.Alpha(v.Confidence))
	return result.Interval{Lo: mean - width, Hi: mean + width}, nil
}

// Meet is what two answers of one engine say together: numbers lie in both
// intervals. Of truth values it is the later one.
func (a *Answer) Meet(later Answer) Answer {
	if a.Given() && a.basis == Statistical && later.basis == Statistical && !a.boolean && !later.boolean && a.open == "" && later.open == "" {
		later.lo, later.hi = max(a.lo, later.lo), min(a.hi, later.hi)
		later.alpha += a.alpha
	}
	return later
}

// String is the answer in a reason.
func (a *Answer) String() string {
	switch {
	case a.boolean:
		return strconv.FormatBool(a.holds)
	case a.curve != nil:
		return result.CurveText(a.curve, numberText, ", ")
	case a.high != nil:
		return "a range of " + intervalText(a.lo, a.high.lo)
	case a.rat != nil && len(a.rat.RatString()) <= 40:
		return a.rat.RatString()
	case a.lo == a.hi, math.IsNaN(a.lo):
		return numberText(a.lo)
	}
	return intervalText(a.lo, a.hi)
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func intervalText(lo, hi float64) string { return "[" + numberText(lo) + ", " + numberText(hi) + "]" }
