package stats

import (
	"cmp"
	"math"
)

// Decision is the answer to a property with a bound.
type Decision uint8

// The decisions. NoDecision belongs to quantitative properties. Undecided is
// PRISM's "Approximation is not precise enough to get a result".
const (
	NoDecision Decision = iota
	Holds
	Fails
	Undecided
)

// String returns a word for reports.
func (d Decision) String() string {
	return [...]string{"none", "holds", "fails", "undecided"}[d]
}

// Outcome is the result of PRISM's method for the samples.
type Outcome struct {
	Method Method
	N      int64 // samples
	Mean   float64
	// Width is PRISM's +/-: given, or computed from the samples; +Inf if there
	// are too few to compute it. For SPRT it is half the indifference region.
	Width float64
	// Confidence is given, or computed from the samples. For SPRT it is one minus
	// the probability of either error, given that the mean is outside the
	// indifference region; for rewards that is nominal.
	Confidence float64
	Decision   Decision
	// Interval is Mean-Width to Mean+Width, for probabilities cut to [0,1].
	// That of CI and ACI is nominal. SPRT has none.
	Interval Interval
}

// RelativeError returns Width/|Mean|, and 0 if Width is 0, as PRISM prints it.
func (o Outcome) RelativeError() float64 {
	if o.Width == 0 {
		return 0
	}
	return o.Width / math.Abs(o.Mean)
}

// Outcome evaluates the samples. The error is an [*Error]. If its code is
// NotDone, Truncated or ZeroVariance, the outcome has the width or the
// confidence that these samples support, and no decision.
func (p *Plan) Outcome(statistics Statistics) (Outcome, error) {
	if err := cmp.Or(p.checkKind(statistics), statistics.check()); err != nil {
		return Outcome{}, err
	}
	samples := statistics.Count()
	err := p.whyIncomplete(samples, statistics)
	if samples == 0 {
		return Outcome{}, err
	}
	result := Outcome{Method: p.method, N: samples, Mean: statistics.Mean(), Width: p.width, Confidence: p.confidence}
	p.compute(&result, statistics.Variance(), err == nil)
	result.Decision = p.decide(result, statistics, err == nil)
	result.Interval = p.interval(result)
	return result, err
}

// whyIncomplete returns why the samples do not satisfy the plan, or nil if they do.
func (p *Plan) whyIncomplete(samples int64, statistics Statistics) error {
	switch {
	case p.isSatisfied(samples, statistics.Variance(), statistics):
		return nil
	case p.areRewardsEqual(samples, statistics.Variance()):
		return errorf(ZeroVariance, "SPRT cannot decide: all %d sampled rewards are equal to %v", samples, statistics.Mean())
	case p.max > 0 && samples >= p.max:
		return errorf(Truncated, "sampling stopped at the limit of %d samples before the %v method was done", p.max, p.method)
	}
	return errorf(NotDone, "sampling ended after %d samples, before the %v method was done", samples, p.method)
}

// compute sets the parameter of the outcome that depends on the samples: the
// confidence or the width. If sampling is not complete, the width is that of the
// samples instead of the requested one.
func (p *Plan) compute(outcome *Outcome, variance float64, isComplete bool) {
	switch {
	case p.method == SPRT:
	case p.method == APMC && p.free == freeConfidence:
		outcome.Confidence = hoeffdingConfidence(min(outcome.N, p.samples), p.width)
	case p.free == freeConfidence:
		outcome.Confidence = 1 - p.tail(outcome.N, variance)
	case p.method == APMC:
		if !isComplete {
			outcome.Width = hoeffding(outcome.N, p.alpha)
		}
	case p.free == freeWidth || p.valid:
		outcome.Width = p.nominalWidth(outcome.N, variance)
	case !isComplete:
		outcome.Width = p.nominalWidth(outcome.N, variance)
		if variance == 0 {
			outcome.Width = math.Inf(1)
		}
	}
}

// nominalWidth returns the half-width of the CI or ACI interval.
func (p *Plan) nominalWidth(samples int64, variance float64) float64 {
	if samples < 2 {
		return math.Inf(1)
	}
	quantile := math.Sqrt(p.squaredZ)
	if p.method == CI {
		quantile = prismStudentQuantile(p.alpha, samples-1)
	}
	return quantile * math.Sqrt(variance/float64(samples))
}

// tail returns the probability of error of the CI or ACI interval of the plan's
// width. For CI, PRISM prints another number: see [PRISMConfidence].
func (p *Plan) tail(samples int64, variance float64) float64 {
	quantile := p.width * math.Sqrt(float64(samples)/variance)
	switch {
	case samples < 2:
		return 1
	case p.method == ACI:
		return normalTail(quantile)
	}
	return studentTail(float64(samples-1), quantile)
}

// decide returns the answer to the bound of the property: by PRISM's rule the mean must be at least the half-width away from the threshold,
// or by the test of SPRT.
func (p *Plan) decide(result Outcome, statistics Statistics, isComplete bool) Decision {
	if p.property.Bound == nil {
		return NoDecision
	}
	threshold := p.property.Bound.Threshold
	switch {
	case !isComplete:
		return Undecided
	case p.method == SPRT:
		return p.sequentialTest(result.N, statistics)
	case result.Mean >= threshold+result.Width:
		return holdsIf(p.property.Bound.AtLeast)
	case result.Mean <= threshold-result.Width:
		return holdsIf(!p.property.Bound.AtLeast)
	}
	return Undecided
}

// holdsIf returns Holds if b is true, otherwise Fails.
func holdsIf(b bool) Decision {
	if b {
		return Holds
	}
	return Fails
}

// interval returns the interval of an outcome. The interval of a probability is cut to [0,1]. For SPRT it returns an empty Interval.
func (p *Plan) interval(result Outcome) Interval {
	interval := Interval{
		Lo: result.Mean - result.Width, Hi: result.Mean + result.Width, Confidence: result.Confidence,
		Method: [...]IntervalMethod{CI: StudentT, ACI: NormalApproximation, APMC: Hoeffding, SPRT: NoInterval}[p.method],
	}
	if interval.Method == NoInterval {
		return Interval{}
	}
	if !p.property.Reward {
		interval.Lo, interval.Hi = max(interval.Lo, 0), min(interval.Hi, 1)
	}
	return interval
}

// SoundInterval returns a sound interval to be reported beside the outcome:
// [BernoulliInterval] or [RewardInterval], for the plan's confidence and way of
// stopping. bounds are used for rewards only. If they are unknown (nil),
// [Interval.Sound] is false. If sampling ended before a plan that is not
// Sequential was done, the reason must not depend on the samples.
func (p *Plan) SoundInterval(statistics Statistics, bounds *Bounds) (Interval, error) {
	if err := p.checkKind(statistics); err != nil {
		return Interval{}, err
	}
	return statistics.soundInterval(bounds, p.confidence, p.Sequential())
}

// checkKind returns an error if the statistics are of rewards and the property is of probabilities, or the reverse.
func (p *Plan) checkKind(statistics Statistics) error {
	if statistics.reward() != p.property.Reward {
		return errorf(BadValue, "found statistics of the wrong kind: want *Moments for rewards and Bernoulli for probabilities")
	}
	return nil
}

// PRISMConfidence returns the confidence that PRISM prints for CI when the width
// and the number of samples n are given. The printed number is wrong: PRISM
// exchanges two arguments of Student's distribution function, and evaluates it
// at n-1 with x = width·√(n/variance) degrees of freedom instead of at x with
// n-1 degrees of freedom. For n = 500 and x = 2.662 it prints 0.9999999 instead
// of 0.9920. tilecheck uses this function to recognise PRISM's output;
// [Plan.Outcome] has the correct value. With one sample PRISM prints 1.
//
// Source: PRISM, simulator.method.CIconfidence.
func PRISMConfidence(width float64, statistics Statistics) float64 {
	n := float64(statistics.Count())
	if n <= 1 {
		return 1
	}
	quantile := width * math.Sqrt(n/statistics.Variance())
	switch {
	case math.IsInf(quantile, 1):
		return 1
	case n == 2:
		return 2 * math.Atan(quantile) / math.Pi
	}
	return 1 - studentTail(quantile, n-1)
}
