package solve

import (
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Rewards are scaled before steps are taken, if a reward is so small that bounds on sums of it would underflow. Afterwards the smallest
// positive reward is tinyRewardTarget, unless the greatest one would exceed greatestScaledReward. The values are multiplied by the same power of two.
const (
	tinyReward           = 0x1p-300
	tinyRewardTarget     = -100 // an exponent of 2, as the next one
	greatestScaledReward = 300
)

// withScaledRewards calls compute with rewards that were multiplied by a power of two, so large that their sums do not underflow. It
// divides the resulting bounds by the same power. It does not scale if no reward is tiny, or if fractions or a grid are requested.
func withScaledRewards(reward *sparse.Reward, opts Options, compute func(*sparse.Reward) (*Values, error)) (*Values, error) {
	exponent := 0
	if !opts.Exact && opts.Grid == 0 {
		exponent = scalingExponent(reward)
	}
	if exponent == 0 {
		return compute(reward)
	}
	largerReward := *reward
	largerReward.State, largerReward.Choice = scaledNumbers(reward.State, exponent), scaledNumbers(reward.Choice, exponent)
	largerReward.StateFractions, largerReward.ChoiceFractions = scaledFractions(reward.StateFractions, exponent), scaledFractions(reward.ChoiceFractions, exponent)
	values, err := compute(&largerReward)
	if err != nil {
		return nil, err
	}
	for state := range values.Lower {
		values.Lower[state] = unscaled(values.Lower[state], exponent, 0)
		values.Upper[state] = unscaled(values.Upper[state], exponent, math.Inf(1))
	}
	return values, nil
}

// scalingExponent returns the exponent of the power of two by which rewards must be multiplied to prevent underflow, or 0 if no reward is
// tiny.
func scalingExponent(reward *sparse.Reward) int {
	minReward, maxReward := math.Inf(1), 0.0
	for _, numbers := range [][]float64{reward.State, reward.Choice} {
		for _, number := range numbers {
			if number > 0 {
				minReward, maxReward = min(minReward, number), max(maxReward, number)
			}
		}
	}
	if !(minReward < tinyReward) {
		return 0
	}
	return max(min(tinyRewardTarget-math.Ilogb(minReward), greatestScaledReward-math.Ilogb(maxReward)), 0)
}

// scaledNumbers returns a copy of numbers multiplied by 2^exponent. It returns nil for nil.
func scaledNumbers(numbers []float64, exponent int) []float64 {
	if numbers == nil {
		return nil
	}
	result := make([]float64, len(numbers))
	for i, number := range numbers {
		result[i] = math.Ldexp(number, exponent)
	}
	return result
}

// scaledFractions returns a copy of fractions multiplied by 2^exponent. It returns nil for nil.
func scaledFractions(fractions []*big.Rat, exponent int) []*big.Rat {
	if fractions == nil {
		return nil
	}
	factor := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(exponent)))
	result := make([]*big.Rat, len(fractions))
	for i, fraction := range fractions {
		if fraction != nil {
			result[i] = new(big.Rat).Mul(fraction, factor)
		}
	}
	return result
}

// unscaled divides a bound by a power of two, and rounds a subnormal result in the given direction.
func unscaled(bound float64, exponent int, direction float64) float64 {
	result := math.Ldexp(bound, -exponent)
	restored := math.Ldexp(result, exponent)
	if restored < bound && direction > result || restored > bound && direction < result {
		return math.Nextafter(result, direction)
	}
	return result
}
