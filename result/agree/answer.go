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

// IsGiven reports whether the engine answered.
func (a *Answer) IsGiven() bool { return a.basis != "" }

// IsEmpty reports whether no value is possible, because the intervals of several draws are disjoint.
func (a *Answer) IsEmpty() bool { return a.number.Lo > a.number.Hi }

// EngineLabel returns the name of the engine.
func (a *Answer) EngineLabel() string { return a.who }

// ReadAnswer converts an engine's verdict. level is the required confidence of the interval of a sampled value. A verdict without a value gives the zero
// Answer, except for the interval of an undecided simulation.
func ReadAnswer(engine string, verdict *result.Verdict, question Question, level float64) Answer {
	hasNoValue := verdict.Err != nil || verdict.Value.Kind == result.NoValue || verdict.Value.Kind == result.Function
	if hasNoValue && !isUndecidedSample(verdict, question) {
		return Answer{}
	}
	answer := Answer{who: engine, question: question, basis: basisOf(verdict), doubt: verdict.Doubt}
	answer.readResolution(verdict.Resolution)
	if verdict.Accuracy == result.Probable {
		answer.readSampled(verdict, level)
		return answer
	}
	answer.readValue(verdict)
	if answer.doubt != "" {
		answer.basis = Estimated
	}
	return answer
}

// isUndecidedSample reports whether a verdict has the interval of a simulation that could not decide a comparison.
func isUndecidedSample(verdict *result.Verdict, question Question) bool {
	return verdict.Err != nil && verdict.Err.Class == result.NonConverge && verdict.Bound != nil && question.Rel != 0 && verdict.Accuracy == result.Probable && verdict.Samples > 0
}

// basisOf returns the basis of a value that was not sampled, and is neither a range nor a curve.
func basisOf(verdict *result.Verdict) Basis {
	isCertain := verdict.Bound != nil || verdict.Value.Kind == result.Boolean
	switch {
	case verdict.Accuracy == result.Exact, (verdict.Accuracy == result.Bounded || verdict.Accuracy == result.Proven) && isCertain:
		return Proven
	case verdict.Accuracy == result.Claimed && isCertain:
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
func (a *Answer) readValue(verdict *result.Verdict) {
	switch verdict.Value.Kind {
	case result.Boolean:
		a.boolean, a.holds = true, verdict.Value.Bool
	case result.Range:
		a.basis = Estimated // the bounds are not about the ends of the range
		a.high = &Answer{who: a.who, basis: Estimated}
		a.number.Interval = interval.Point(verdict.Value.Num)
		a.high.number.Interval = interval.Point(verdict.Value.Hi)
	case result.Curve:
		a.basis, a.curve = Estimated, verdict.Value.Points
	default:
		a.readNumber(verdict)
	}
}

// readNumber converts a number that was not sampled.
func (a *Answer) readNumber(verdict *result.Verdict) {
	value := verdict.Value
	a.integer = value.Kind == result.Integer
	a.number.Interval = interval.Point(value.Num)
	switch {
	case math.IsNaN(value.Num):
	case (verdict.Accuracy == result.Exact || verdict.Accuracy == result.Proven) && value.Rat != nil:
		a.number = interval.Fraction(value.Rat)
	case verdict.Accuracy == result.Exact:
		if !a.integer && !math.IsInf(value.Num, 0) {
			a.basis = Estimated // the fraction was rounded when it was printed
		}
	case verdict.Bound != nil:
		a.number.Interval = *verdict.Bound
		if a.basis == Estimated { // the engine's own error bound must not exclude its value
			a.number.Lo, a.number.Hi = min(a.number.Lo, value.Num), max(a.number.Hi, value.Num)
		}
	}
}

// readSampled converts the verdict of a simulation.
func (a *Answer) readSampled(verdict *result.Verdict, level float64) {
	a.basis, a.alpha = Statistical, stats.Alpha(level)
	if a.question.Choices {
		a.scheduler = result.Uniform
	}
	if verdict.Value.Kind == result.Boolean || a.question.Rel != 0 {
		a.readDecision(verdict, level)
		return
	}
	interval, err := Interval(verdict, a.question, level)
	if err != nil {
		a.undecided = err.Error()
		return
	}
	a.number.Interval = interval
}

// readDecision converts the sampled answer to a property with a bound. An interval on one side of the bound decides the property. Without a valid
// interval the decision of the tool counts, with its nominal error probability.
func (a *Answer) readDecision(verdict *result.Verdict, level float64) {
	a.boolean, a.holds = true, verdict.Value.Bool
	if a.question.Rel == 0 || math.IsNaN(a.question.Bound) || verdict.Bound == nil || verdict.Confidence < level-confidenceRounding {
		a.nominal, a.alpha = true, stats.Alpha(verdict.Confidence)
		if verdict.Value.Kind != result.Boolean {
			a.undecided = "the simulation has not decided the property"
		}
		return
	}
	a.holds = a.question.holds(verdict.Bound.Lo)
	if a.holds != a.question.holds(verdict.Bound.Hi) {
		a.wide = true
		a.undecided = fmt.Sprintf("the interval %s has the bound %s in it", intervalText(verdict.Bound.Lo, verdict.Bound.Hi), numberText(a.question.Bound))
	}
}

// confidenceRounding is the rounding error of computed confidences.
const confidenceRounding = 1e-12

// Interval returns an interval that contains the mean of a sampled verdict with at least the confidence level. It uses the interval of the verdict if
// possible. For a probability it computes the interval from the counts, and for a reward it stretches the interval of the verdict.
func Interval(verdict *result.Verdict, question Question, level float64) (result.Interval, error) {
	switch {
	case question.Operator == 0 || verdict.Value.Kind == result.Range:
		return result.Interval{}, fmt.Errorf("the samples of this property are not known to be independent paths")
	case verdict.Bound != nil && verdict.Confidence >= level-confidenceRounding:
		return *verdict.Bound, nil
	case question.Operator == 'P':
		counts, err := stats.Published(verdict.Value.Num, verdict.Samples)
		if err != nil {
			return result.Interval{}, fmt.Errorf("the estimate is not a fraction of the samples, so it has no interval: %w", err)
		}
		isFixed := question.FixedSamples || slices.Contains([]string{stats.ClopperPearson.String(), stats.Hoeffding.String()}, verdict.BoundMethod)
		computed, err := stats.BernoulliInterval(counts, level, !isFixed) // valid at any stopping time unless the number of samples was fixed
		return result.Interval{Lo: computed.Lo, Hi: computed.Hi}, err
	case verdict.Bound == nil:
		return result.Interval{}, fmt.Errorf("the mean of a reward has no valid interval, because the reward of a path has no known bound")
	}
	return stretchInterval(verdict, level)
}

// stretchInterval stretches an interval around its mean to a higher confidence. The width of each known method grows at most in proportion to
// log(1/alpha). An end may have been cut off at the least or greatest possible reward, so the longer side determines the width.
func stretchInterval(verdict *result.Verdict, level float64) (result.Interval, error) {
	methods := []string{stats.Hoeffding.String(), stats.EmpiricalBernstein.String(), stats.EmpiricalBernsteinSequence.String()}
	if !slices.Contains(methods, verdict.BoundMethod) || !(verdict.Confidence > 0) {
		return result.Interval{}, fmt.Errorf("the interval holds with %v only, want %v", verdict.Confidence, level)
	}
	mean := verdict.Value.Num
	width := max(mean-verdict.Bound.Lo, verdict.Bound.Hi-mean) * math.Log(stats.Alpha(level)) / math.Log(stats.Alpha(verdict.Confidence))
	return result.Interval{Lo: mean - width, Hi: mean + width}, nil
}

// hasSampledInterval reports whether the answer is the confidence interval of a number.
func (a *Answer) hasSampledInterval() bool {
	return a.basis == Statistical && !a.boolean && a.undecided == ""
}

// Intersect combines two answers of one engine. It returns the intersection of two sampled intervals; otherwise the later answer.
func (a *Answer) Intersect(later Answer) Answer {
	if a.hasSampledInterval() && later.hasSampledInterval() {
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

func numberText(x float64) string { return result.JSONNumber(x).String() }

func intervalText(lo, hi float64) string { return "[" + numberText(lo) + ", " + numberText(hi) + "]" }
