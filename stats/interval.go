package stats

import "math"

// IntervalMethod names how an [Interval] was constructed.
type IntervalMethod uint8

// The constructions; StudentT and NormalApproximation are nominal.
const (
	NoInterval                 IntervalMethod = iota
	StudentT                                  // PRISM's CI
	NormalApproximation                       // PRISM's ACI
	Hoeffding                                 // PRISM's APMC; fixed number of samples
	ClopperPearson                            // probability, fixed number of samples
	BetaBinomial                              // probability, at any time
	EmpiricalBernstein                        // bounded reward, fixed number of samples
	EmpiricalBernsteinSequence                // bounded reward, at any time
)

// String returns the name used in reports.
func (m IntervalMethod) String() string {
	return [...]string{
		"none", "Student t", "normal approximation", "Hoeffding", "Clopper-Pearson",
		"beta-binomial confidence sequence", "empirical Bernstein", "empirical Bernstein confidence sequence",
	}[m]
}

// Interval is a two-sided confidence interval for a mean.
type Interval struct {
	Lo, Hi     float64
	Confidence float64 // 0.99 is 99 %
	Method     IntervalMethod
}

// Sound reports whether the interval contains the true mean with probability at
// least Confidence whatever the model. An interval that is not sound has this
// coverage at best in the limit of many samples.
func (i Interval) Sound() bool { return i.Method >= Hoeffding }

// Contains reports whether x lies in the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// overlaps reports whether the intervals have a point in common.
func (i Interval) overlaps(o Interval) bool { return i.Lo <= o.Hi && o.Lo <= i.Hi }

// Bounds are the least and the greatest possible reward of a path.
type Bounds struct{ Lo, Hi float64 }

// BernoulliInterval returns a sound interval for a probability. If the number of
// samples was fixed beforehand, it is the Clopper-Pearson interval. If sequential
// is true, the samples themselves may have decided when sampling stopped, and it
// is the interval of the beta-binomial confidence sequence; the Clopper-Pearson
// interval would not be sound then.
//
// 0 <= Lo <= Mean <= Hi <= 1; the empty sample has [0,1]. The error has the code
// BadValue.
//
// Source: Clopper and Pearson 1934; Robbins 1970.
func BernoulliInterval(sample Bernoulli, confidence float64, sequential bool) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if err := sample.check(); err != nil {
		return Interval{}, err
	}
	result := Interval{Confidence: confidence, Method: ClopperPearson}
	lower := clopperPearsonLower
	if sequential {
		result.Method, lower = BetaBinomial, betaBinomialLower
	}
	alpha := Alpha(confidence)
	// By symmetry, the upper limit is 1 minus the lower limit of the probability of failure.
	result.Lo, result.Hi = lower(sample.K, sample.N, alpha), 1-lower(sample.N-sample.K, sample.N, alpha)
	if sample.N > 0 { // against rounding in 1-lower
		result.Hi = max(result.Hi, sample.Mean())
	}
	return result, nil
}

// tailSlack is more than the relative error of the computed tail probabilities;
// limits are moved outwards by it to stay sound.
const tailSlack = 1e-9

// clopperPearsonLower returns the largest p with P(X >= k) <= alpha/2 for X
// binomial with n and p, or slightly less.
func clopperPearsonLower(k, n int64, alpha float64) float64 {
	limit := math.Log(alpha/2) - tailSlack
	return bisectLower(k, n, func(p float64) bool { return logUpperTail(k, n, p) <= limit })
}

// betaBinomialLower returns the lower end of the confidence sequence.
//
// If p is the true probability, the likelihood of the samples averaged over
// uniform p', divided by their likelihood under p, is a nonnegative martingale
// with mean 1. It equals 1/((n+1)·P(X = k)) for X binomial with n and p. By
// Ville's inequality it ever reaches 1/alpha with probability at most alpha;
// the sequence consists of the p for which it has not. The logarithm is convex
// in p with its minimum at k/n, so that this is an interval around k/n.
func betaBinomialLower(k, n int64, alpha float64) float64 {
	limit := math.Log(alpha) - math.Log(float64(n)+1) - tailSlack
	return bisectLower(k, n, func(p float64) bool { return logBinomial(k, n, p) <= limit })
}

// bisectLower returns the lower limit of a probability: about the largest
// excluded p, and never a larger one. excluded must be true from 0 to a point
// below k/n, and false from there to k/n. The error is at most 1e-9 times the
// distance of the limit to 0 or to k/n, whichever is nearer, or one float64.
// It returns 0 if k is 0.
func bisectLower(k, n int64, excluded func(p float64) bool) float64 {
	if k == 0 {
		return 0
	}
	mean := float64(k) / float64(n)
	lo, hi := 0.0, mean
	for hi-lo > 1e-9*min(lo, mean-lo) {
		p := lo + (hi-lo)/2
		switch {
		case p == lo || p == hi:
			return lo
		case excluded(p):
			lo = p
		default:
			hi = p
		}
	}
	return lo
}

// RewardInterval returns an interval for the mean of a reward. If every reward
// is within the given bounds, the interval is sound: it is the empirical
// Bernstein bound if the number of samples was fixed beforehand, and the
// empirical Bernstein confidence sequence if sequential is true.
//
// Without bounds (nil) no interval is sound, because the samples may have missed
// a rare path with a huge reward. Then the result is the nominal Student
// interval, and [Interval.Sound] is false. If sequential is true, its coverage
// can be below the nominal one.
//
// Lo <= Mean <= Hi, and both are within the bounds if there are any. With fewer
// than two samples, the interval is the bounds, or infinite. Errors have the code
// NotFinite, or BadValue, which includes samples outside the bounds.
//
// Source: Maurer and Pontil 2009, theorem 4; Howard, Ramdas, McAuliffe and
// Sekhon 2021, theorem 4, with the discrete mixture of their section 3.
func RewardInterval(moments Moments, bounds *Bounds, confidence float64, sequential bool) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if err := moments.check(); err != nil {
		return Interval{}, err
	}
	alpha := Alpha(confidence)
	if bounds == nil {
		return nominalInterval(moments, confidence, alpha), nil
	}
	scale := bounds.Hi - bounds.Lo
	if !(scale >= 0) || math.IsInf(scale, 1) {
		return Interval{}, errorf(BadValue, "reward bounds [%v,%v]: want a finite interval", bounds.Lo, bounds.Hi)
	}
	if moments.N > 0 && (moments.Min < bounds.Lo || moments.Max > bounds.Hi) {
		return Interval{}, errorf(BadValue, "sampled rewards in [%v,%v]: want all in the stated bounds [%v,%v]", moments.Min, moments.Max, bounds.Lo, bounds.Hi)
	}
	result := Interval{Confidence: confidence, Method: EmpiricalBernstein}
	deviation := empiricalBernstein
	if sequential {
		result.Method, deviation = EmpiricalBernsteinSequence, empiricalBernsteinSequence
	}
	result.Lo, result.Hi = bounds.Lo, bounds.Hi
	if moments.N >= 2 && scale > 0 {
		halfWidth := scale * deviation(moments.N, moments.M2/scale/scale, alpha) * (1 + tailSlack)
		mean := min(max(moments.Mean(), moments.Min), moments.Max) // against rounding
		result.Lo, result.Hi = max(result.Lo, mean-halfWidth), min(result.Hi, mean+halfWidth)
	}
	return result, nil
}

// nominalInterval returns PRISM's interval for a mean, by Student's t distribution. Its coverage is not guaranteed. Fewer than two samples give
// (-∞, ∞).
func nominalInterval(moments Moments, confidence, alpha float64) Interval {
	result := Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Confidence: confidence, Method: StudentT}
	if moments.N >= 2 {
		halfWidth := prismStudentQuantile(alpha, moments.N-1) * math.Sqrt(moments.Variance()/float64(moments.N))
		result.Lo, result.Hi = moments.Mean()-halfWidth, moments.Mean()+halfWidth
	}
	return result
}

// empiricalBernstein returns the half-width for n samples in [0,1] whose squared
// deviations sum to m2. Each side errs with probability alpha/2.
func empiricalBernstein(n int64, m2, alpha float64) float64 {
	l, n1 := math.Log(4/alpha), float64(n-1)
	return math.Sqrt(2*m2/n1*l/float64(n)) + 7*l/(3*n1)
}

// mixtureSize is the number of bets in the mixture; the smallest, 1e-6, is right
// for about 1e13 samples.
const mixtureSize = 40

// empiricalBernsteinSequence returns the half-width, valid at all n at once, for
// n samples in [0,1] whose squared deviations from their mean sum to m2.
//
// Let X be samples in [0,1] with mean mu and V the sum of (X_i - m_i)² where m_i
// depends on earlier samples only. For every bet 0 <= l < 1,
// exp(l·sum(X_i-mu) - psi(l)·V) with psi(l) = -l-log(1-l) is a nonnegative
// supermartingale that starts at 1 (Fan, Grama and Liu 2015), and so is a mixture
// over bets with weights of sum at most 1. By Ville's inequality the mixture
// ever reaches 2/alpha with probability at most alpha/2; so it is for 1-X.
//
// With m_1 = 1/2 and m_i the mean of the i-1 samples before, V follows from m2
// up to little, whatever the order of the samples: the i-th sample adds d_i >= 0
// to the sum m2, i >= 2, d_i <= (i-1)/i, and adds i/(i-1)·d_i to V. The sum of
// d_i/(i-1) is at most m2, and largest if the first samples are as far apart as
// can be, when it is at most log(2·m2+4).
func empiricalBernsteinSequence(n int64, m2, alpha float64) float64 {
	variation := 0.25 + m2 + min(m2, math.Log(2*m2+4))
	logLimit := math.Log(2 / alpha)
	// The j-th bet contributes exp(bets[j]·deviation + offsets[j]) to alpha/2 times the mixture.
	var bets, offsets [mixtureSize]float64
	deviation := math.Inf(1)
	for j := range bets {
		bet := 0.9 * math.Exp2(-float64(j)/2)
		psi := -bet - math.Log1p(-bet)
		bets[j], offsets[j] = bet, -math.Log(float64((j+1)*(j+2)))-psi*variation-logLimit
		deviation = min(deviation, -offsets[j]/bet) // one bet alone reaches the limit here
	}
	// The logarithm of the mixture is convex and increasing in the deviation, so
	// Newton's method comes down to the limit without passing it.
	for {
		sum, slope := 0.0, 0.0
		for j, bet := range bets {
			term := math.Exp(bet*deviation + offsets[j])
			sum += term
			slope += bet * term
		}
		step := math.Log(sum) * sum / slope
		if !(step > 1e-10*deviation) {
			return deviation / float64(n)
		}
		deviation -= step
	}
}
