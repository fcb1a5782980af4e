package agree

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tilecheck/internal/interval"
	"tilecheck/result"
	"tilecheck/stats"
)

// Answer is what a verdict guarantees about the true value. The zero Answer means that the engine did not answer.
type Answer struct {
	who      string
	question Question
	basis    Basis
	boolean  bool
	holds    bool
	integer  bool
	number   interval.Number // its interval is as certain as basis says
	high     *Answer         // the upper end if the answer is a range of values
	curve    [][]float64
	// scheduler says how choices were resolved if the answer is about one scheduler instead of all.
	scheduler result.Resolution
	optimum   result.Resolution // Minimum, Maximum, or unknown
	// nominal says that a truth value comes from a test whose error probability is not guaranteed
	// for every model.
	nominal bool
	// alpha is the probability, over the samples, that the true value is not between lo
	// and hi.
	alpha float64
	// undecided says why the answer decides nothing; wide says that more samples might help.
	undecided string
	wide      bool
	doubt     string
}

// Given reports whether the engine answered.
func (a *Answer) Given() bool { return a.basis != "" }

// Empty reports whether no value is possible, because the intervals of several draws are disjoint.
func (a *Answer) Empty() bool { return a.number.Lo > a.number.Hi }

// Who returns the name of the engine.
func (a *Answer) Who() string { return a.who }

// Read converts an engine's verdict. level is the confidence that the interval of a sampled value must have. Failures,
// verdicts without a value, and functions give the zero Answer; a simulation that could not decide still gives an interval.
func Read(who string, v *result.Verdict, q Question, level float64) Answer {
	hasNoValue := v.Err != nil || v.Value.Kind == result.NoValue || v.Value.Kind == result.Function
	if hasNoValue && !isUndecidedSample(v, q) {
		return Answer{}
	}
	a := Answer{who: who, question: q, basis: basisOf(v), doubt: v.Doubt}
	a.readResolution(v.Resolution)
	if v.Accuracy == result.Probable {
		a.readSampled(v, level)
		return a
	}
	a.readValue(v)
	if a.doubt != "" {
		a.basis = Estimated
	}
	return a
}

// isUndecidedSample reports whether a verdict is from a simulation that has an interval but could not decide a comparison.
func isUndecidedSample(v *result.Verdict, q Question) bool {
	return v.Err != nil && v.Err.Class == result.NonConverge && v.Bound != nil && q.Rel != 0 && v.Accuracy == result.Probable && v.Samples > 0
}

// basisOf returns the basis of a value that was not sampled, and is neither a range nor a curve.
func basisOf(v *result.Verdict) Basis {
	isCertain := v.Bound != nil || v.Value.Kind == result.Boolean
	switch {
	case v.Accuracy == result.Exact, (v.Accuracy == result.Bounded || v.Accuracy == result.Proven) && isCertain:
		return Proven
	case v.Accuracy == result.Claimed && isCertain:
		return Claimed
	}
	return Estimated
}

// readResolution sets how choices were resolved.
func (a *Answer) readResolution(resolution result.Resolution) {
	switch resolution {
	case result.Uniform, result.Fixed:
		if !a.question.NoChoices {
			a.scheduler = resolution
		}
	case result.Minimum, result.Maximum:
		a.optimum = resolution
	}
}

// readValue converts a value that was not sampled.
func (a *Answer) readValue(v *result.Verdict) {
	switch v.Value.Kind {
	case result.Boolean:
		a.boolean, a.holds = true, v.Value.Bool
	case result.Range:
		a.basis = Estimated // the bounds are not about the ends of the range
		a.high = &Answer{who: a.who, basis: Estimated}
		a.number.Interval = interval.Point(v.Value.Num)
		a.high.number.Interval = interval.Point(v.Value.Hi)
	case result.Curve:
		a.basis, a.curve = Estimated, v.Value.Points
	default:
		a.readNumber(v)
	}
}

// readNumber converts a number that was not sampled.
func (a *Answer) readNumber(v *result.Verdict) {
	x := v.Value
	a.integer = x.Kind == result.Integer
	a.number.Interval = interval.Point(x.Num)
	switch {
	case math.IsNaN(x.Num):
	case (v.Accuracy == result.Exact || v.Accuracy == result.Proven) && x.Rat != nil:
		a.number = interval.Fraction(x.Rat)
	case v.Accuracy == result.Exact:
		if !a.integer && !math.IsInf(x.Num, 0) {
			a.basis = Estimated // the fraction was rounded when it was printed
		}
	case v.Bound != nil:
		a.number.Interval = *v.Bound
		if a.basis == Estimated { // the engine's own error bound must not exclude its value
			a.number.Lo, a.number.Hi = min(a.number.Lo, x.Num), max(a.number.Hi, x.Num)
		}
	}
}

// readSampled converts the verdict of a simulation.
func (a *Answer) readSampled(v *result.Verdict, level float64) {
	a.basis, a.alpha = Statistical, stats.Alpha(level)
	if a.question.Choices {
		a.scheduler = result.Uniform
	}
	if v.Value.Kind == result.Boolean || a.question.Rel != 0 {
		a.readDecision(v, level)
		return
	}
	i, err := Interval(v, a.question, level)
	if err != nil {
		a.undecided = err.Error()
		return
	}
	a.number.Interval = i
}

// readDecision converts the sampled answer to a bounded property. If the interval lies on one side of the property's bound, it
// decides the property with its confidence. Otherwise the tool's own decision counts, with its nominal error probability.
func (a *Answer) readDecision(v *result.Verdict, level float64) {
	a.boolean, a.holds = true, v.Value.Bool
	if a.question.Rel == 0 || math.IsNaN(a.question.Bound) || v.Bound == nil || v.Confidence < level-confidenceRounding {
		a.nominal, a.alpha = true, stats.Alpha(v.Confidence)
		if v.Value.Kind != result.Boolean {
			a.undecided = "the simulation has not decided the property"
		}
		return
	}
	a.holds = a.question.holds(v.Bound.Lo)
	if a.holds != a.question.holds(v.Bound.Hi) {
		a.wide = true
		a.undecided = fmt.Sprintf("the interval %s has the bound %s in it", intervalText(v.Bound.Lo, v.Bound.Hi), numberText(a.question.Bound))
	}
}

// confidenceRounding is the rounding error of computed confidences.
const confidenceRounding = 1e-12

// Interval returns an interval that contains the mean of a sampled verdict with at least the confidence level, for every
// model. It is the verdict's own interval if that suffices. For a proportion of successes it is computed anew from the counts; the interval is
// valid at any stopping time unless the number of samples was fixed. An interval for another mean is stretched.
func Interval(v *result.Verdict, q Question, level float64) (result.Interval, error) {
	switch {
	case q.Operator == 0 || v.Value.Kind == result.Range:
		return result.Interval{}, fmt.Errorf("the property is none whose samples are known to be independent paths")
	case v.Bound != nil && v.Confidence >= level-confidenceRounding:
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
	return stretchInterval(v, level)
}

// stretchInterval stretches an interval around its mean to a higher confidence. The width of every interval with a known method
// grows at most like log(c/alpha) for some c >= 1, and so at most in proportion to log(1/alpha): in Hoeffding's and
// Bernstein's it occurs below a root and beside it, and in the betting sequence it is one term of each bet. An end may
// have been cut off at the least or greatest possible reward, so the longer side gives the width.
func stretchInterval(v *result.Verdict, level float64) (result.Interval, error) {
	known := []string{stats.Hoeffding.String(), stats.EmpiricalBernstein.String(), stats.EmpiricalBernsteinSequence.String()}
	if !slices.Contains(known, v.BoundMethod) || !(v.Confidence > 0) {
		return result.Interval{}, fmt.Errorf("the interval holds with %v only, want %v", v.Confidence, level)
	}
	mean := v.Value.Num
	width := max(mean-v.Bound.Lo, v.Bound.Hi-mean) * math.Log(stats.Alpha(level)) / math.Log(stats.Alpha(v.Confidence))
	return result.Interval{Lo: mean - width, Hi: mean + width}, nil
}

// Meet combines two answers of one engine: the intersection of sampled intervals, otherwise the later answer.
func (a *Answer) Meet(later Answer) Answer {
	if a.Given() && a.basis == Statistical && later.basis == Statistical && !a.boolean && !later.boolean && a.undecided == "" && later.undecided == "" {
		later.number.Lo, later.number.Hi = max(a.number.Lo, later.number.Lo), min(a.number.Hi, later.number.Hi)
		later.alpha += a.alpha
	}
	return later
}

// String returns the answer for a message.
func (a *Answer) String() string {
	switch {
	case a.boolean:
		return strconv.FormatBool(a.holds)
	case a.curve != nil:
		return result.CurveText(a.curve, numberText, ", ")
	case a.high != nil:
		return "a range of " + intervalText(a.number.Lo, a.high.number.Lo)
	case a.number.Exact != nil && len(a.number.Exact.RatString()) <= 40:
		return a.number.Exact.RatString()
	case a.number.Lo == a.number.Hi, math.IsNaN(a.number.Lo):
		return numberText(a.number.Lo)
	}
	return intervalText(a.number.Lo, a.number.Hi)
}

func numberText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func intervalText(lo, hi float64) string { return "[" + numberText(lo) + ", " + numberText(hi) + "]" }
