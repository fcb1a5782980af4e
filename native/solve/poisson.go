package solve

import (
	"context"
	"slices"
)

// truncation bounds the Poisson probability of the omitted numbers, relative to the other numbers. It is far below the rounding
// errors, so small probabilities also have small relative errors.
const truncation = 0x1p-66

// fineTruncation replaces truncation where the computed values may be as small as truncation.
const fineTruncation = 0x1p-900

// minTruncated is the least bound on the probability of the omitted numbers. It is a normal float64.
const minTruncated = 0x1p-1000

// poisson holds the probabilities of a Poisson distribution around its mode:
// weights[i] is the probability of firstNumber+i.
type poisson struct {
	mean        float64
	firstNumber int
	weights     []float64
	// relErr bounds the relative error of every weight, including the effect of the
	// relative error of the mean.
	relErr float64
	// truncatedProb bounds the probability of all truncated numbers.
	truncatedProb float64
	// truncatedExcess bounds the expected excess of a number over the last number with a weight.
	truncatedExcess float64
}

// newPoisson returns a Poisson distribution whose mean has the relative error meanErr. It computes the probabilities from the mode by their
// recurrence p(k+1) = p(k) * mean/(k+1), and omits numbers with a total relative probability of about maxOmitted.
//
// Source: Fox and Glynn, Computing Poisson probabilities (CACM 1988), the weighter. Sharper geometric bounds replace the finder;
// Jansen (2011) corrects its bounds.
func newPoisson(ctx context.Context, mean, meanErr, maxOmitted float64) (*poisson, error) {
	mode := int(mean)
	below, belowRemainder, err := poissonTail(ctx, mean, mode, -1, maxOmitted)
	if err != nil {
		return nil, err
	}
	above, aboveRemainder, err := poissonTail(ctx, mean, mode, +1, maxOmitted)
	if err != nil {
		return nil, err
	}
	distribution := &poisson{mean: mean, firstNumber: mode - len(below)}
	for _, weight := range slices.Backward(below) {
		distribution.weights = append(distribution.weights, weight)
	}
	distribution.weights = append(distribution.weights, 1) // the weight of the mode
	distribution.weights = append(distribution.weights, above...)
	sum := sumFromEnds(distribution.weights)
	for i := range distribution.weights {
		distribution.weights[i] /= sum
	}
	distribution.truncatedProb = max(errMargin*(belowRemainder+aboveRemainder)/sum, minTruncated)
	ratio := mean / float64(distribution.lastNumber()+1)
	distribution.truncatedExcess = max(errMargin*last(distribution.weights)*ratio/((1-ratio)*(1-ratio)), minTruncated)
	// Each step of the recurrence rounds twice. The derivative of the logarithm
	// of the weight of k by the logarithm of the mean is k - mean.
	steps := float64(max(len(below), len(above)) + 1)
	distribution.relErr = wideErrMargin * (unitRoundoff*(2*steps+float64(len(distribution.weights))+2) + meanErr*(steps+1) + distribution.truncatedProb)
	return distribution, nil
}

// sumFromEnds returns the sum of weights that first increase and then decrease. It adds the smallest weights first, so rounding errors are
// small.
func sumFromEnds(weights []float64) float64 {
	sum := 0.0
	for i, j := 0, len(weights)-1; i <= j; {
		if i < j && weights[j] < weights[i] {
			sum += weights[j]
			j--
		} else {
			sum += weights[i]
			i++
		}
	}
	return sum
}

// poissonTail returns the Poisson weights of the numbers above the mode (direction 1) or below it (direction -1), relative to the weight of the mode. It
// stops when the omitted weights are at most maxRemainder times the sum of the others. remainder bounds the sum of the omitted weights.
func poissonTail(ctx context.Context, mean float64, mode, direction int, maxRemainder float64) (weights []float64, remainder float64, err error) {
	weight, sum := 1.0, 1.0
	for number := mode; ; number += direction {
		ratio := mean / float64(number+1) // weight of number+1 divided by weight of number
		if direction < 0 {
			ratio = float64(number) / mean
		}
		if ratio < 1 {
			if remainder = weight * ratio / (1 - ratio); remainder <= maxRemainder*sum {
				return weights, remainder, nil
			}
		}
		weight *= ratio
		sum += weight
		weights = append(weights, weight)
		if len(weights)%workPerPoll == 0 && ctx.Err() != nil { // the number of weights is about the root of the mean
			return nil, 0, ctx.Err()
		}
	}
}

// lastNumber returns the greatest number with a weight.
func (distribution *poisson) lastNumber() int {
	return distribution.firstNumber + len(distribution.weights) - 1
}

// probabilityOf returns the probability of a number, or zero if the number is omitted.
func (distribution *poisson) probabilityOf(number int) float64 {
	if number < distribution.firstNumber || number > distribution.lastNumber() {
		return 0
	}
	return distribution.weights[number-distribution.firstNumber]
}

// tailProbs returns P(X > k) for each number k that has a weight.
func (distribution *poisson) tailProbs() []float64 {
	probs := make([]float64, len(distribution.weights))
	sum := 0.0
	for i := len(probs) - 1; i >= 0; i-- {
		probs[i] = min(sum, 1)
		sum += distribution.weights[i]
	}
	return probs
}
