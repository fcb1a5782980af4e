package stats

import (
	"cmp"
	"math"
)

// CompareConfidence is the confidence for [Compare] where many estimates are
// compared: one comparison in a thousand of equal probabilities fails.
const CompareConfidence = 0.999

// Comparison is whether two independent estimates can be of one probability.
type Comparison struct {
	// Compatible is false if the samples would be as different as they are with
	// probability at most 1-Confidence, were the probabilities equal.
	Compatible bool
	Confidence float64
	// PValue is that of Fisher's exact test, and NaN if a sample was sequential.
	PValue float64
	// A and B are the intervals of the samples, each for the confidence at which
	// both hold jointly. They may overlap where the test tells the samples apart.
	A, B Interval
}

// Sample is a Bernoulli sample and how its size was decided.
type Sample struct {
	Bernoulli
	Sequential bool // by looking at the samples, see [Plan.Sequential]
}

// Compare decides whether independent samples are compatible with one
// probability. If both sizes were fixed beforehand it uses Fisher's exact test,
// two-sided by doubling the smaller tail. Otherwise samples are compatible if
// their intervals for confidence (1+confidence)/2 each overlap, which tells
// fewer samples apart. Either way equal probabilities are declared incompatible with
// probability at most 1-confidence. A compatible pair need not have the same
// probability: small samples are compatible with much.
//
// The error has the code BadValue.
//
// Source: Fisher 1935; Bonferroni's inequality.
func Compare(first, second Sample, confidence float64) (Comparison, error) {
	result := Comparison{Confidence: confidence, PValue: math.NaN()}
	if err := checkConfidence(confidence); err != nil {
		return Comparison{}, err
	}
	sampleConfidence := Confidence(Alpha(confidence) / 2)
	var errA, errB error
	result.A, errA = BernoulliInterval(first.Bernoulli, sampleConfidence, first.Sequential)
	result.B, errB = BernoulliInterval(second.Bernoulli, sampleConfidence, second.Sequential)
	if err := cmp.Or(errA, errB); err != nil {
		return Comparison{}, err
	}
	if first.Sequential || second.Sequential {
		result.Compatible = result.A.overlaps(result.B)
		return result, nil
	}
	result.PValue = fisher(first.Bernoulli, second.Bernoulli)
	result.Compatible = result.PValue > Alpha(confidence)
	return result, nil
}

// fisher returns the doubled tail of the conditional distribution of a.K given
// the total of successes, which is hypergeometric.
func fisher(a, second Bernoulli) float64 {
	if a.N == 0 || second.N == 0 {
		return 1
	}
	if a.Mean() < second.Mean() {
		a, second = second, a
	}
	total, n := a.K+second.K, a.N+second.N
	if total == 0 || total == n {
		return 1
	}
	p := float64(total) / float64(n)
	first := logBinomial(a.K, a.N, p) + logBinomial(second.K, second.N, p) - logBinomial(total, n, p)
	sum, term := 1.0, 1.0
	for x, y := a.K, second.K; x < a.N && y > 0 && term > 1e-17*sum; x, y = x+1, y-1 {
		term *= float64(a.N-x) / float64(x+1) * (float64(y) / float64(second.N-y+1))
		sum += term
	}
	return min(1, 2*math.Exp(first)*sum)
}

// ZScore returns the difference of the means of two samples in standard deviations, which are estimated as if both had one probability: about a
// standard normal number if they have. It is 0 if all or none of the samples are successes.
func ZScore(first, second Bernoulli) float64 {
	if first.N == 0 || second.N == 0 {
		return 0
	}
	n, m := float64(first.N), float64(second.N)
	p := float64(first.K+second.K) / (n + m)
	if p == 0 || p == 1 {
		return 0
	}
	return (first.Mean() - second.Mean()) / math.Sqrt(p*(1-p)*(1/n+1/m))
}

// Published returns the sample behind a printed estimate: mean is the fraction
// of n samples that were successes. Since k/n with n = 1000 has three decimals,
// a mean printed with three is exact. The error, of code BadValue, says that
// mean is not a multiple of 1/n, so that the successes cannot be known; the
// sample is then not n large or not all decimals are given.
func Published(mean float64, n int64) (Bernoulli, error) {
	if n <= 0 || !(mean >= 0 && mean <= 1) {
		return Bernoulli{}, errorf(BadValue, "estimate %v from %d samples: want a probability and a positive number", mean, n)
	}
	k := math.Round(mean * float64(n))
	if math.Abs(mean*float64(n)-k) > 1e-6 {
		return Bernoulli{}, errorf(BadValue, "estimate %v from %d samples: want a multiple of 1/%d", mean, n, n)
	}
	return Bernoulli{N: n, K: int64(k)}, nil
}
