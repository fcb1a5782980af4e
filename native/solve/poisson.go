package solve

import "context"

// truncation bounds the Poisson probability of what poisson leaves out,
// relative to what it keeps. It is far below the rounding errors, so that small
// probabilities are relatively accurate, too.
const truncation = 0x1p-66

// fineTruncation is the same where values themselves may be as small.
const fineTruncation = 0x1p-900

// leastRest is what bounds of the rest are at least, so that they have all their digits.
const leastRest = 0x1p-1000

// poisson holds the probabilities of a Poisson distribution around its mode:
// weight[i] is that of first+i.
type poisson struct {
	mean   float64
	first  int
	weight []float64
	// err bounds the relative error of every weight, when the mean's own
	// relative error is within meanErr.
	err float64
	// rest bounds the probability of all numbers left out.
	rest float64
	// excess bounds the mean of by how much a number exceeds the last one kept.
	excess float64
}

// newPoisson computes the probabilities by their recurrence from the mode, where
// the weight is set to one, and scales them by their sum. It goes on until the
// geometric series that bounds the rest is below cut.
//
// Source: Fox and Glynn, Computing Poisson probabilities (CACM 1988), the
// weighter; its finder, whose bounds Jansen (2011) corrects, is replaced by the
// geometric bounds, which are sharper and need no normal approximation.
func newPoisson(ctx context.Context, mean, meanErr, cut float64) (*poisson, error) {
	p := &poisson{mean: mean}
	mode := int(mean)
	below, low, err := tail(ctx, mean, mode, -1, cut)
	if err != nil {
		return nil, err
	}
	above, high, err := tail(ctx, mean, mode, +1, cut)
	if err != nil {
		return nil, err
	}
	p.first = mode - len(below)
	for i := range below {
		p.weight = append(p.weight, below[len(below)-1-i])
	}
	p.weight = append(p.weight, 1)
	p.weight = append(p.weight, above...)
	// Small weights first, for accuracy.
	sum := 0.0
	for i, j := 0, len(p.weight)-1; i <= j; {
		if i < j && p.weight[j] < p.weight[i] {
			sum += p.weight[j]
			j--
		} else {
			sum += p.weight[i]
			i++
		}
	}
	for i := range p.weight {
		p.weight[i] /= sum
	}
	p.rest = max(1.01*(low+high)/sum, leastRest)
	last := float64(p.first + len(p.weight) - 1)
	ratio := mean / (last + 1)
	p.excess = max(1.01*p.weight[len(p.weight)-1]*ratio/((1-ratio)*(1-ratio)), leastRest)
	// Each step of the recurrence rounds twice. The derivative of the logarithm
	// of the weight of k by that of the mean is k - mean.
	steps := float64(max(len(below), len(above)) + 1)
	p.err = 1.05 * (unit*(2*steps+float64(len(p.weight))+2) + meanErr*(steps+1) + p.rest)
	return p, nil
}

// tail returns the weights beyond the mode in one direction, relative to the
// mode's, and a bound of the sum of those that follow.
func tail(ctx context.Context, mean float64, mode, step int, cut float64) (weights []float64, rest float64, err error) {
	w, sum := 1.0, 1.0
	for k := mode; ; k += step {
		ratio := mean / float64(k+1) // of the weight of k+1 to that of k
		if step < 0 {
			ratio = float64(k) / mean
		}
		if ratio < 1 {
			if rest = w * ratio / (1 - ratio); rest <= cut*sum {
				return weights, rest, nil
			}
		}
		w *= ratio
		sum += w
		weights = append(weights, w)
		if len(weights)%workPerPoll == 0 && ctx.Err() != nil { // there are as many as the root of the mean
			return nil, 0, ctx.Err()
		}
	}
}

// last returns the greatest number kept.
func (p *poisson) last() int { return p.first + len(p.weight) - 1 }

// of returns the probability of k, zero when it is left out.
func (p *poisson) of(k int) float64 {
	if k < p.first || k > p.last() {
		return 0
	}
	return p.weight[k-p.first]
}

// beyond returns, for each number from first on, the probability of greater numbers. Its relative error is that of the
// weights. Below first the probability is one.
func (p *poisson) beyond() []float64 {
	out := make([]float64, len(p.weight))
	sum := 0.0
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = min(sum, 1)
		sum += p.weight[i]
	}
	return out
}
