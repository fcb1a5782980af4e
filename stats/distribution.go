package stats

import (
	"math"
	"math/big"
	"slices"
	"strconv"
)

// Quantile is what samples say about one level of the distribution of a reward: its quantile, and the mean of the rewards beyond it.
type Quantile struct {
	// Level is the probability p of the quantile, 0 < p < 1.
	Level float64
	// Value is the p-quantile of the samples: the smallest sample that at least the part p of the samples does not exceed.
	// Lower and Upper bound the p-quantile of the distribution.
	Value, Lower, Upper float64
	// Tail is the mean of the largest 1-p of the samples, the conditional value at risk (CVaR) or expected shortfall.
	// TailLower and TailUpper bound that of the distribution.
	Tail, TailLower, TailUpper float64
}

// Quantiles returns the quantiles of a reward at the given levels. All intervals hold together with at least the given confidence, for every
// distribution, if the number of samples was fixed beforehand.
//
// support has the least and the greatest possible reward; nil if they are unknown. Without it, a quantile with a level close to 0 or 1 can have an
// infinite bound, and TailUpper is infinite, because samples do not bound the largest reward.
// Errors have the code NotFinite or BadValue.
//
// With probability at least the confidence, the distribution function F of the reward differs from that of the n samples by at most
// e = sqrt(log(2/alpha)/(2n)) everywhere. Then the p-quantile of F lies between the quantiles of the samples at p-e and p+e, and
// integrals of the quantile over p lie between those of the samples.
//
// Source: Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990; Thomas and Learned-Miller 2019 for the CVaR.
func Quantiles(samples, levels []float64, support *Bounds, confidence float64) ([]Quantile, error) {
	if err := checkConfidence(confidence); err != nil {
		return nil, err
	}
	sorted := sortedSamples{values: slices.Sorted(slices.Values(samples)), support: Bounds{math.Inf(-1), math.Inf(1)}}
	if support != nil {
		sorted.support = *support
	}
	if err := sorted.check(); err != nil {
		return nil, err
	}
	deviation := math.Sqrt(math.Log(2/Alpha(confidence))/(2*float64(len(samples)))) * (1 + tailSlack)
	quantiles := make([]Quantile, len(levels))
	rounding := sorted.maxRounding()
	for i, level := range levels {
		if !(0 < level && level < 1) {
			return nil, errorf(BadValue, "level %v of a quantile: want a number between 0 and 1", level)
		}
		quantiles[i] = Quantile{
			Level: level,
			Value: sorted.estimate(level), Lower: sorted.quantile(level - deviation), Upper: sorted.quantile(level + deviation),
			Tail:      sorted.tail(level, 0),
			TailLower: sorted.tail(level, -deviation) - rounding/(1-level), TailUpper: sorted.tail(level, deviation) + rounding/(1-level),
		}
	}
	return quantiles, nil
}

// sortedSamples are samples in ascending order, at least one, and the interval that contains all possible ones.
type sortedSamples struct {
	values  []float64
	support Bounds
}

// check returns an error if there are no samples, or if they are not finite or outside of the support.
func (s *sortedSamples) check() error {
	if len(s.values) == 0 {
		return errorf(BadValue, "no samples: want at least one for quantiles")
	}
	smallest, greatest := s.values[0], s.values[len(s.values)-1]
	switch {
	case math.IsNaN(smallest) || math.IsInf(smallest, 0) || math.IsInf(greatest, 0):
		return errorf(NotFinite, "a sampled reward is infinite or not a number")
	case smallest < s.support.Lo || greatest > s.support.Hi:
		return errorf(BadValue, "sampled rewards in [%v,%v]: want all in the stated bounds [%v,%v]", smallest, greatest, s.support.Lo, s.support.Hi)
	}
	return nil
}

// maxRounding bounds the rounding error of the sum in tail: each of its n terms has an error of at most 2^-51 times the largest sample, and
// adding it has one of at most 2^-53 times the sum of the terms before, which is at most that sample.
func (s *sortedSamples) maxRounding() float64 {
	largest := max(math.Abs(s.values[0]), math.Abs(s.values[len(s.values)-1]))
	return float64(len(s.values)+2) * largest * 0x1p-50
}

// estimate returns the quantile of n samples at a level p: sample number ceil(p*n), where p is the decimal number that the user wrote. As float64,
// 0.07*100 is 7.000000000000001, whose ceiling is 8.
//
// Source: Hyndman and Fan 1996, definition 1, the inverse of the empirical distribution function.
func (s *sortedSamples) estimate(level float64) float64 {
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(level, 'g', -1, 64))
	exact.Mul(exact, big.NewRat(int64(len(s.values)), 1))
	belowRank := new(big.Int).Quo(new(big.Int).Sub(exact.Num(), big.NewInt(1)), exact.Denom()) // ceil(a/b) is (a-1)/b rounded down, plus 1
	return s.values[belowRank.Int64()]
}

// quantile returns the quantile of the samples at a level. Below 0 and above 1 it is an end of the support.
func (s *sortedSamples) quantile(level float64) float64 {
	rank := math.Ceil(level * float64(len(s.values)))
	switch {
	case rank < 1:
		return s.support.Lo
	case rank > float64(len(s.values)):
		return s.support.Hi
	}
	return s.values[int(rank)-1]
}

// tail returns the mean of quantile(q+shift) over the q between level and 1.
func (s *sortedSamples) tail(level, shift float64) float64 {
	start, end := level+shift, 1+shift
	sum := 0.0
	if start < 0 {
		sum -= start * s.support.Lo
	}
	if end > 1 {
		sum += (end - max(start, 1)) * s.support.Hi
	}
	count := float64(len(s.values))
	for i, value := range s.values { // it is the quantile from i/n to (i+1)/n
		sum += value * max(0, min(end, (float64(i)+1)/count)-max(start, float64(i)/count))
	}
	return sum / (1 - level)
}
