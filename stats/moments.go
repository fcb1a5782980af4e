package stats

import "math"

// Moments summarises N real samples. The zero value is the empty sample.
//
// Sum+Low is the sum of the samples to about twice the working precision, so
// that the mean of integer rewards is correctly rounded. M2 is the sum of
// squared deviations from the mean. The fields are exported to be stored.
//
// Adding the same samples in the same order gives the same bits. Merging is
// associative only up to rounding: shards have to be merged in a fixed order,
// say that of their first sample index, for the result not to depend on the
// number of workers.
//
// Samples have to be finite: after an infinity or a NaN, or when the squares
// overflow, [Plan.Outcome] and [RewardInterval] report the code [NotFinite].
//
// Source: Youngs and Cramer 1971 (update), Chan, Golub and LeVeque 1983
// (merging), Neumaier 1974 (compensated sum).
type Moments struct {
	N        int64
	Sum, Low float64
	M2       float64
	Min, Max float64 // 0 for the empty sample
}

// Add counts one sample.
func (m *Moments) Add(sample float64) {
	if m.N == 0 {
		*m = Moments{N: 1, Sum: sample, Min: sample, Max: sample}
		return
	}
	m.N++
	m.addToSum(sample)
	m.Min, m.Max = min(m.Min, sample), max(m.Max, sample)
	n := float64(m.N)
	deviation := n*sample - (m.Sum + m.Low)
	m.M2 += deviation * deviation / (n * (n - 1))
}

// Merge adds the samples of o.
func (m *Moments) Merge(other Moments) {
	switch {
	case other.N == 0:
		return
	case m.N == 0:
		*m = other
		return
	}
	count, otherCount := float64(m.N), float64(other.N)
	difference := other.Mean() - m.Mean()
	m.M2 += other.M2 + difference*difference*(count*otherCount/(count+otherCount))
	m.N += other.N
	m.addToSum(other.Sum)
	m.Low += other.Low
	m.Min, m.Max = min(m.Min, other.Min), max(m.Max, other.Max)
}

// addToSum adds a summand to Sum, and the rounding error of this addition to Low.
func (m *Moments) addToSum(summand float64) {
	newSum := m.Sum + summand
	if math.Abs(m.Sum) >= math.Abs(summand) {
		m.Low += (m.Sum - newSum) + summand
	} else {
		m.Low += (summand - newSum) + m.Sum
	}
	m.Sum = newSum
}

// Count returns the number of samples.
func (m *Moments) Count() int64 { return m.N }

// Mean returns the mean of the samples, and NaN for the empty sample.
func (m *Moments) Mean() float64 { return (m.Sum + m.Low) / float64(m.N) }

// Variance returns the unbiased estimate M2/(n-1) of the variance of one
// sample, and 0 if n <= 1. It is exactly 0 if all samples are equal, which the
// stopping conditions rely on.
//
// Source: PRISM, simulator.sampler.SamplerDouble (which shifts by the first sample).
func (m *Moments) Variance() float64 {
	if m.N <= 1 || m.Min == m.Max {
		return 0
	}
	return m.M2 / float64(m.N-1)
}

// reward reports that the samples are rewards.
func (m *Moments) reward() bool { return true }

// check returns an error if the moments are inconsistent or not finite.
func (m *Moments) check() error {
	switch {
	case m.N < 0 || m.M2 < 0 || m.N > 0 && m.Min > m.Max:
		return errorf(BadValue, "inconsistent moments: %+v", *m)
	case !m.finite():
		return errorf(NotFinite, "a sampled reward is infinite or not a number, or too large to square")
	}
	return nil
}

// finite reports whether all sums are finite.
func (m *Moments) finite() bool {
	return !math.IsInf(m.M2+math.Abs(m.Sum), 0) && !math.IsNaN(m.M2+m.Sum+m.Low)
}

// soundInterval returns the interval of RewardInterval.
func (m *Moments) soundInterval(bounds *Bounds, confidence float64, sequential bool) (Interval, error) {
	return RewardInterval(*m, bounds, confidence, sequential)
}

// logLikelihoodRatio returns the logarithm of the likelihood ratio of the means tested.p1
// and tested.p0, for normal samples with the maximum-likelihood variance. It
// returns false if this variance is 0, because then the ratio is undefined.
func (m *Moments) logLikelihoodRatio(tested hypotheses) (float64, bool) {
	samples, variance := float64(m.N), m.Variance()
	if variance == 0 {
		return 0, false
	}
	variance *= (samples - 1) / samples
	return samples * (tested.p1 - tested.p0) * (2*m.Mean() - tested.p1 - tested.p0) / (2 * variance), true
}
