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

// Outcome evaluates the samples. The error is an [*Error]; when its code is
// NotDone, Truncated or ZeroVariance the outcome is still filled in, with the
// width or the confidence that the samples seen do support, and decides nothing.
func (p *Plan) Outcome(statistics Statistics) (Outcome, error) {
	if err := cmp.Or(p.checkKind(statistics), statistics.check()); err != nil {
		return Outcome{}, err
	}
	samples := statistics.Count()
	err := p.incomplete(samples, statistics)
	if samples == 0 {
		return Outcome{}, err
	}
	result := Outcome{Method: p.method, N: samples, Mean: statistics.Mean(), Width: p.width, Confidence: p.confidence}
	p.compute(&result, statistics.Variance(), err == nil)
	result.Decision = p.decide(result, statistics, err == nil)
	result.Interval = p.interval(result)
	return result, err
}

// incomplete returns why the samples do not satisfy the plan, or nil if they do.
func (p *Plan) incomplete(samples int64, statistics Statistics) error {
	switch {
	case p.satisfied(samples, statistics.Variance(), statistics):
		return nil
	case p.equalRewards(samples, statistics.Variance()):
		return errorf(ZeroVariance, "SPRT cannot decide: all %d sampled rewards are equal to %v", samples, statistics.Mean())
	case p.max > 0 && samples >= p.max:
		return errorf(Truncated, "sampling stopped at the limit of %d samples before the %v method was done", p.max, p.method)
	}
	return errorf(NotDone, "sampling ended after %d samples, before the %v method was done", samples, p.method)
}

// compute fills in the parameter that depends on the samples. A plan that is
// not complete cannot claim the width it was given.
func (p *Plan) compute(o *Outcome, variance float64, complete bool) {
	switch {
	case p.method == SPRT:
	case p.method == APMC && p.free == freeConfidence:
		o.Confidence = hoeffdingConfidence(min(o.N, p.samples), p.width)
	case p.free == freeConfidence:
		o.Confidence = 1 - p.tail(o.N, variance)
	case p.method == APMC:
		if !complete {
			o.Width = hoeffding(o.N, p.alpha)
		}
	case p.free == freeWidth || p.valid:
		o.Width = p.nominalWidth(o.N, variance)
	case !complete:
		o.Width = p.nominalWidth(o.N, variance)
		if variance == 0 {
			o.Width = math.Inf(1)
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

// tail returns the error probability of the CI or ACI interval of the given
// width, correctly; see [PRISMConfidence] for what PRISM prints under CI.
func (p *Plan) tail(samples int64, variance float64) float64 {
	x := p.width * math.Sqrt(float64(samples)/variance)
	switch {
	case samples < 2:
		return 1
	case p.method == ACI:
		return normalTail(x)
	}
	return studentTail(float64(samples-1), x)
}

// decide returns the answer to the bound of the property: by PRISM's rule the mean must be at least the half-width away from the threshold,
// or by the test of SPRT.
func (p *Plan) decide(result Outcome, statistics Statistics, complete bool) Decision {
	if p.property.Bound == nil {
		return NoDecision
	}
	threshold := p.property.Bound.Threshold
	switch {
	case !complete:
		return Undecided
	case p.method == SPRT:
		return p.test(result.N, statistics)
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

// interval returns the interval of an outcome, for probabilities cut to [0,1]; none for SPRT.
func (p *Plan) interval(result Outcome) Interval {
	i := Interval{
		Lo: result.Mean - result.Width, Hi: result.Mean + result.Width, Confidence: result.Confidence,
		Method: [...]IntervalMethod{CI: StudentT, ACI: NormalApproximation, APMC: Hoeffding, SPRT: NoInterval}[p.method],
	}
	if i.Method == NoInterval {
		return Interval{}
	}
	if !p.property.Reward {
		i.Lo, i.Hi = max(i.Lo, 0), min(i.Hi, 1)
	}
	return i
}

// SoundInterval returns a sound interval to be reported beside the outcome: that of
// [BernoulliInterval] or [RewardInterval], for the plan's confidence and way of
// stopping. bounds are used for rewards only and nil if unknown;
// then [Interval.Sound] is false. If sampling ended before a plan that is not
// Sequential was done, the reason must have nothing to do with the samples.
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

// PRISMConfidence returns the confidence that PRISM prints for CI when width > 0
// and samples are given, which is wrong: it exchanges the arguments of
// Student's distribution function and evaluates it with x = width·√(n/variance)
// degrees of freedom at the point n-1, where it means x at n-1 degrees of
// freedom. It is near 1 for all but small samples: for n = 500 and x = 2.662 it
// is 0.9999999 instead of 0.9920. It is here to be compared with logs;
// [Plan.Outcome] has the correct value. With one sample PRISM prints 1.
//
// Source: PRISM, simulator.method.CIconfidence.
func PRISMConfidence(width float64, statistics Statistics) float64 {
	n := float64(statistics.Count())
	if n <= 1 {
		return 1
	}
	x := width * math.Sqrt(n/statistics.Variance())
	switch {
	case math.IsInf(x, 1):
		return 1
	case n == 2:
		return 2 * math.Atan(x) / math.Pi
	}
	return 1 - studentTail(x, n-1)
}
