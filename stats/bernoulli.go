package stats

// Bernoulli summarises N Boolean samples of which K were true. The zero value
// is the empty sample; 0 <= K <= N.
type Bernoulli struct{ N, K int64 }

// Add counts one sample.
func (b *Bernoulli) Add(success bool) {
	b.N++
	if success {
		b.K++
	}
}

// Merge adds the samples of o. Counts are exact, so the order does not matter.
func (b *Bernoulli) Merge(o Bernoulli) {
	b.N += o.N
	b.K += o.K
}

// Count returns the number of samples.
func (b Bernoulli) Count() int64 { return b.N }

// Mean returns K/N, and NaN for the empty sample.
func (b Bernoulli) Mean() float64 { return float64(b.K) / float64(b.N) }

// Variance returns the unbiased estimate k(n-k)/(n(n-1)) of the variance of one
// sample, and 0 if n <= 1.
//
// Source: PRISM, simulator.sampler.SamplerBoolean.
func (b Bernoulli) Variance() float64 {
	if b.N <= 1 {
		return 0
	}
	n, k := float64(b.N), float64(b.K)
	return k * (n - k) / (n * (n - 1))
}

// reward reports that the samples are no rewards.
func (b Bernoulli) reward() bool { return false }

// check returns an error unless 0 <= K <= N.
func (b Bernoulli) check() error {
	if b.N < 0 || b.K < 0 || b.K > b.N {
		return errorf(BadValue, "%d successes in %d samples: want 0 <= successes <= samples", b.K, b.N)
	}
	return nil
}

// soundInterval returns the interval of BernoulliInterval. A probability needs no bounds.
func (b Bernoulli) soundInterval(_ *Bounds, confidence float64, sequential bool) (Interval, error) {
	return BernoulliInterval(b, confidence, sequential)
}

// logLikelihoodRatio returns the logarithm of the likelihood ratio of tested.p1 and tested.p0.
// PRISM multiplies the powers themselves, which become 0·Inf in long runs.
func (b Bernoulli) logLikelihoodRatio(tested hypotheses) (float64, bool) {
	return times(b.K, tested.success) + times(b.N-b.K, tested.failure), true
}

// times returns k·x, and 0 if k is 0, also if x is infinite: an impossible event that did not occur adds nothing to the ratio.
func times(k int64, x float64) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * x
}
