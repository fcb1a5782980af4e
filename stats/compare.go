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
// their intervals for confidence (1+confidence)/2 overlap, which is a weaker
// test. In both cases samples of equal probability are called incompatible with
// probability at most 1-confidence. Compatible samples can have different
// probabilities, in particular if the samples are small.
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
	var firstErr, secondErr error
	result.A, firstErr = BernoulliInterval(first.Bernoulli, sampleConfidence, first.Sequential)
	result.B, secondErr = BernoulliInterval(second.Bernoulli, sampleConfidence, second.Sequential)
	if err := cmp.Or(firstErr, secondErr); err != nil {
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

// fisher returns the p-value of Fisher's exact test: twice the tail of the
// hypergeometric distribution of the successes of one sample, given the
// successes of both samples together.
func fisher(sample, other Bernoulli) float64 {
	if sample.N == 0 || other.N == 0 {
		return 1
	}
	if sample.Mean() < other.Mean() {
		sample, other = other, sample
	}
	total, n := sample.K+other.K, sample.N+other.N
	if total == 0 || total == n {
		return 1
	}
	p := float64(total) / float64(n)
	logOfFirst := logBinomial(sample.K, sample.N, p) + logBinomial(other.K, other.N, p) - logBinomial(total, n, p)
	sum, term := 1.0, 1.0
	for x, y := sample.K, other.K; x < sample.N && y > 0 && term > 1e-17*sum; x, y = x+1, y-1 {
		term *= float64(sample.N-x) / float64(x+1) * (float64(y) / float64(other.N-y+1))
		sum += term
	}
	return min(1, 2*math.Exp(logOfFirst)*sum)
}

// ZScore returns the difference of the means of two samples, divided by its standard deviation, which is estimated from both samples together. If
// the samples have the same probability, the result is about standard normal. It is 0 if all samples are successes or all are failures.
func ZScore(first, second Bernoulli) float64 {
	if first.N == 0 || second.N == 0 {
		return 0
	}
	firstCount, secondCount := float64(first.N), float64(second.N)
	pooled := float64(first.K+second.K) / (firstCount + secondCount)
	if pooled == 0 || pooled == 1 {
		return 0
	}
	return (first.Mean() - second.Mean()) / math.Sqrt(pooled*(1-pooled)*(1/firstCount+1/secondCount))
}

// Published returns the sample behind a printed estimate: mean is the fraction
// of the n samples that were successes. It returns an error of code BadValue if
// mean is not a multiple of 1/n, because then n is wrong or the mean was
// rounded, and the number of successes is unknown.
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
