package stats

import (
	"fmt"
	"math"
	"math/bits"
)

// Statistics is what a [Plan] reads of the samples: a [Bernoulli] or a *[Moments].
type Statistics interface {
	Count() int64
	Mean() float64
	Variance() float64

	reward() bool
	check() error
	soundInterval(bounds *Bounds, confidence float64, sequential bool) (Interval, error)
	logLikelihoodRatio(h hypotheses) (float64, bool)
}

// free is the parameter that a plan computes.
type free uint8

const (
	freeWidth free = iota
	freeSamples
	freeConfidence
)

// Plan says when to stop sampling for one property. It is immutable and may be
// shared by goroutines.
type Plan struct {
	method   Method
	property Property
	free     free

	width      float64 // given, or computed beforehand; 0 if computed afterwards
	samples    int64   // likewise
	confidence float64 // given, or the default
	alpha      float64 // 1-confidence
	max        int64

	valid     bool    // as in Params, where that is possible
	maxReward float64 // as in Params; 0 if it was not given

	squaredZ     float64 // CI and ACI: square of the normal quantile
	zeroVariance float64 // samples before a variance of 0 is believed

	sprt     hypotheses
	warnings []string
}

// hypotheses are the hypotheses of SPRT: that the mean is p0 and the property holds
// (H0), or that it is p1 and it does not (H1). Evidence is counted in logarithms
// of the likelihood of p1 over that of p0: what a success and a failure add for
// probabilities, and where H0 and H1 are accepted.
type hypotheses struct {
	p0, p1             float64
	success, failure   float64
	acceptH0, acceptH1 float64
}

// NewPlan returns the plan of sampling for a property with these parameters. The error is an [*Error].
func NewPlan(params Params, property Property) (*Plan, error) {
	params = params.resolve(property)
	if err := params.check(property); err != nil {
		return nil, err
	}
	plan := &Plan{
		method:     params.Method,
		property:   property,
		width:      params.width(),
		confidence: orDefault(params.Confidence, DefaultConfidence),
		samples:    params.Samples,
		max:        params.MaxSamples,
		warnings:   params.warnings(property),
	}
	plan.alpha = Alpha(plan.confidence)
	if err := plan.completeParameters(); err != nil {
		return nil, err
	}
	plan.maxReward = params.MaxReward
	plan.valid = params.Valid && plan.method == CI && plan.free == freeSamples && property.Bound == nil && (!property.Reward || plan.maxReward > 0)
	if plan.max > 0 && plan.samples > plan.max {
		return nil, errorf(BadValue, "%v needs %d samples: want at most %d", plan.method, plan.samples, plan.max)
	}
	plan.zeroVariance = float64(params.ZeroVarianceSamples)
	if plan.zeroVariance == 0 && property.Reward {
		plan.zeroVariance = orDefault(params.MaxReward, DefaultMaxReward) / plan.width
	} else if plan.zeroVariance == 0 {
		plan.zeroVariance = 1 / plan.width
	}
	return plan, nil
}

// MostValidSamples returns about how many samples a valid interval of that half-width takes for a probability of 1/2: n
// for which the beta-binomial confidence sequence has it, n·width² = (ln(1/alpha) + ln(2n/π)/2)/2.
func MostValidSamples(width, confidence float64) float64 {
	n := MostSamples(width, confidence)
	for range 20 { // converges fast: n changes the logarithm only
		n = math.Max(1, (math.Log(1/Alpha(orDefault(confidence, DefaultConfidence)))+math.Log(2*n/math.Pi)/2)/(2*width*width))
	}
	return math.Ceil(n)
}

// MostSamples returns about how many samples an interval of that half-width takes
// for a probability of 1/2, which takes most: z²/4w².
func MostSamples(width, confidence float64) float64 {
	z := normalQuantile(Alpha(orDefault(confidence, DefaultConfidence)))
	return math.Ceil(z * z / 4 / (width * width))
}

// orDefault returns x or, if x is 0, the default.
func orDefault(x, def float64) float64 {
	if x == 0 {
		return def
	}
	return x
}

// completeParameters determines which of width, confidence and samples is free, that is, follows from the other
// two. It computes the free parameter if that is possible before sampling.
func (p *Plan) completeParameters() error {
	switch {
	case p.method == SPRT:
		p.free, p.samples = freeSamples, 0
		p.width = orDefault(p.width, DefaultWidth)
		return p.setHypotheses()
	case p.width == 0:
		p.free = freeWidth
		if p.samples == 0 {
			p.samples = DefaultSamples
		}
	case p.samples == 0:
		p.free = freeSamples
	default:
		p.free = freeConfidence
	}
	if p.method == APMC {
		return p.completeAPMC()
	}
	quantile := normalQuantile(p.alpha)
	p.squaredZ = quantile * quantile
	return nil
}

// completeAPMC computes the free parameter from the Chernoff-Hoeffding bound
// 2·exp(-2·samples·width²) = alpha. If the confidence is free, it only checks
// that the bound gives one.
//
// Source: Hérault, Lassaigne, Magniette and Peyronnet 2004; PRISM,
// simulator.method.APMC*.
func (p *Plan) completeAPMC() error {
	switch p.free {
	case freeWidth:
		p.width = hoeffding(p.samples, p.alpha)
	case freeSamples:
		samples := math.Ceil(0.5 * math.Log(2/p.alpha) / (p.width * p.width))
		if !(samples < 1<<53) {
			return errorf(Overflow, "APMC with approximation %v needs %v samples: want fewer than 2^53", p.width, samples)
		}
		p.samples = int64(samples)
	case freeConfidence:
		if exponent := float64(p.samples) * p.width * p.width; exponent < math.Ln2/2 {
			return errorf(TooFew, "%d samples with approximation %v: want samples·approximation² >= ln(2)/2 = 0.3466 for APMC, found %.4g", p.samples, p.width, exponent)
		}
	}
	return nil
}

// hoeffding returns the half-width of the Hoeffding interval for the mean of n
// samples in [0,1].
func hoeffding(n int64, alpha float64) float64 {
	return math.Sqrt(0.5 * math.Log(2/alpha) / float64(n))
}

// hoeffdingConfidence returns the confidence that belongs to a half-width; it is
// never rounded up to certainty.
func hoeffdingConfidence(n int64, width float64) float64 {
	c := 1 - 2*math.Exp(-2*float64(n)*width*width)
	return min(max(c, 0), math.Nextafter(1, 0))
}

// setHypotheses sets the hypotheses of Wald's test, with the probability alpha of an error of type I and of type II.
//
// Source: Wald 1945; Younes and Simmons 2002; PRISM, simulator.method.SPRTMethod.
func (p *Plan) setHypotheses() error {
	threshold := p.property.Bound.Threshold
	if threshold-p.width <= 0 && !p.property.MayBeNegative {
		return errorf(Indifference, "indifference %v for the SPRT method is too wide: bound %v is too close to 0", p.width, threshold)
	}
	if threshold+p.width > 1 && !p.property.Reward {
		return errorf(Indifference, "indifference %v for the SPRT method is too wide: bound %v is too close to 1", p.width, threshold)
	}
	result := hypotheses{p0: threshold - p.width, p1: threshold + p.width}
	if p.property.Bound.AtLeast {
		result.p0, result.p1 = result.p1, result.p0
	}
	result.success, result.failure = math.Log(result.p1/result.p0), math.Log((1-result.p1)/(1-result.p0))
	result.acceptH0 = math.Log(p.alpha / (1 - p.alpha))
	result.acceptH1 = math.Log((1 - p.alpha) / p.alpha)
	p.sprt = result
	return nil
}

// Method returns the method, never Auto.
func (p *Plan) Method() Method { return p.method }

// Warnings returns what the user should know about parameters and method.
func (p *Plan) Warnings() []string { return p.warnings }

// Samples returns the number of samples if it is fixed before sampling.
func (p *Plan) Samples() (n int64, fixed bool) { return p.samples, !p.Sequential() }

// Sequential reports whether the samples decide when to stop. Then an interval
// for a fixed number of samples has less than its nominal coverage.
func (p *Plan) Sequential() bool { return p.method != APMC && p.free == freeSamples }

// Likely returns about the largest number of samples that a sequential plan takes. It returns 0 if this cannot
// be estimated before sampling, as for rewards.
func (p *Plan) Likely() int64 {
	if p.property.Reward || p.width == 0 {
		return 0
	}
	if p.valid {
		return int64(min(MostValidSamples(p.width, p.confidence), 1<<53))
	}
	return int64(min(MostSamples(p.width, p.confidence), 1<<53))
}

// Forecast returns about the total number of samples with which the plan will be satisfied, if further samples are
// like these, which do not satisfy it. The result is larger than the number of these samples.
func (p *Plan) Forecast(statistics Statistics) int64 {
	samples, variance := statistics.Count(), statistics.Variance()
	needed := 2 * float64(samples)
	switch ratio, ok := 0.0, false; {
	case p.method == SPRT:
		if ratio, ok = statistics.logLikelihoodRatio(p.sprt); ok && ratio < 0 {
			needed = float64(samples) * p.sprt.acceptH0 / ratio
		} else if ok && ratio > 0 {
			needed = float64(samples) * p.sprt.acceptH1 / ratio
		}
	case samples < 2:
	case variance <= 0:
		needed = p.zeroVariance
	default:
		needed = 1.01 * variance * p.squaredZ / (p.width * p.width)
		if p.valid {
			needed *= MostValidSamples(p.width, p.confidence) / MostSamples(p.width, p.confidence)
		}
	}
	return max(samples+1, int64(min(math.Ceil(needed), 1<<53)))
}

// Confidence returns the confidence that was asked for; the default if none was,
// also where the method computes one from width and samples.
func (p *Plan) Confidence() float64 { return p.confidence }

// String returns the parameters, with "unknown" for parameters that are computed afterwards.
func (p *Plan) String() string {
	width, confidence, samples := fmt.Sprint(p.width), fmt.Sprint(p.confidence), fmt.Sprint(p.samples)
	if p.method == APMC && p.free == freeConfidence {
		confidence = fmt.Sprint(hoeffdingConfidence(p.samples, p.width))
	} else if p.method != APMC {
		*[...]*string{freeWidth: &width, freeSamples: &samples, freeConfidence: &confidence}[p.free] = "unknown"
	}
	return fmt.Sprintf("%v: width=%s, confidence=%s, samples=%s", p.method, width, confidence, samples)
}

// Done reports whether to stop. It has to be asked after every sample in the
// order of the sample index, with the statistics of all samples so far; then
// the number of samples does not depend on how they were computed. It is
// cheap and does not allocate; CI evaluates a Student quantile only where it can matter.
//
// Done is also true when going on is pointless: at Params.MaxSamples, after a
// sample that is not finite, or for SPRT on rewards that are all equal.
// [Plan.Outcome] then returns an error.
func (p *Plan) Done(statistics Statistics) bool {
	n, v := statistics.Count(), statistics.Variance()
	return p.isSatisfied(n, v, statistics) || p.max > 0 && n >= p.max || p.stuck(n, v)
}

// isSatisfied reports whether the samples are enough, by PRISM's stopping condition.
func (p *Plan) isSatisfied(samples int64, variance float64, statistics Statistics) bool {
	switch {
	case !p.Sequential():
		return samples >= p.samples
	case p.method == SPRT:
		return p.sequentialTest(samples, statistics) != Undecided
	case samples < 2:
		return false
	case p.valid:
		return p.isNarrow(samples, variance, statistics)
	case variance <= 0:
		return float64(samples) >= p.zeroVariance
	}
	enough := func(samples int64, squaredQuantile float64) bool {
		return float64(samples) >= variance*squaredQuantile/(p.width*p.width)
	}
	if p.method == ACI {
		return enough(samples+1, p.squaredZ)
	}
	// Student's quantile is never below the normal one, which is cheaper.
	if !enough(samples, p.squaredZ) {
		return false
	}
	quantile := prismStudentQuantile(p.alpha, samples-1)
	return enough(samples, quantile*quantile)
}

// RewardBounds returns the bounds of the reward of a path that follow from Params.MaxReward; nil if it was not given.
func (p *Plan) RewardBounds() *Bounds {
	switch {
	case p.maxReward == 0:
		return nil
	case p.property.MayBeNegative:
		return &Bounds{Lo: -p.maxReward, Hi: p.maxReward}
	}
	return &Bounds{Lo: 0, Hi: p.maxReward}
}

// Valid reports whether sampling goes on until the valid interval is narrow enough.
func (p *Plan) Valid() bool { return p.valid }

// isNarrow reports whether the valid interval is as narrow as the plan asks. It computes the interval only at 128 numbers of samples
// between consecutive powers of two, to save time. That is sound, because a confidence sequence is valid at all numbers of samples together.
func (p *Plan) isNarrow(samples int64, variance float64, statistics Statistics) bool {
	step := int64(1) << max(bits.Len64(uint64(samples))-8, 0)
	if samples%step != 0 || float64(samples)*p.width*p.width < variance { // the interval is not narrower than a standard deviation of the mean
		return false
	}
	interval, err := statistics.soundInterval(p.RewardBounds(), p.confidence, true)
	return err != nil || interval.Hi-interval.Lo <= 2*p.width
}

// stuck reports whether no further sample will satisfy the plan.
func (p *Plan) stuck(n int64, variance float64) bool {
	return math.IsNaN(variance) || math.IsInf(variance, 0) || p.areRewardsEqual(n, variance)
}

// areRewardsEqual reports whether SPRT has seen only equal rewards for long enough
// to believe that they are all equal; then its likelihoods are undefined.
// PRISM samples forever.
func (p *Plan) areRewardsEqual(n int64, variance float64) bool {
	return p.method == SPRT && p.property.Reward && variance == 0 && n >= 2 && float64(n) >= p.zeroVariance
}

// sequentialTest decides the property by the sequential probability ratio test.
func (p *Plan) sequentialTest(samples int64, statistics Statistics) Decision {
	if samples < 2 {
		return Undecided
	}
	ratio, ok := statistics.logLikelihoodRatio(p.sprt)
	switch {
	case !ok:
		return Undecided
	case ratio <= p.sprt.acceptH0:
		return Holds
	case ratio >= p.sprt.acceptH1:
		return Fails
	}
	return Undecided
}
