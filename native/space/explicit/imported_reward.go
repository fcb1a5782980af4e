package explicit

import (
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// importedReward returns the reward structure Program.Rewards[index] of a space that was read from files. A negative reward is an error.
func (space *Space) importedReward(index int) (*sparse.Reward, error) {
	if negative := space.negativeImportedReward(index); negative < 0 {
		return nil, &compile.UnsupportedError{File: space.Program().File, Msg: fmt.Sprintf("found the reward %v, want a reward that is finite and not negative", negative)}
	}
	return &space.model.Rewards[index], nil
}

// negativeImportedReward returns the first negative reward of the structure Program.Rewards[index], or 0 if it has none.
func (space *Space) negativeImportedReward(index int) float64 {
	reward := &space.model.Rewards[index]
	for _, list := range [][]float64{reward.State, reward.Choice, space.importedTransitions(index).Values} {
		if i := slices.IndexFunc(list, isNegative); i >= 0 {
			return list[i]
		}
	}
	return 0
}

func isNegative(x float64) bool { return x < 0 }

// importedTransitions returns the rewards of the transitions of an imported Markov chain.
func (space *Space) importedTransitions(index int) TransitionReward {
	if index < len(space.imported.transitionRewards) {
		return space.imported.transitionRewards[index]
	}
	return TransitionReward{}
}

// importedRewardsWithSign returns the part of the reward structure Program.Rewards[index] with one sign: its positive rewards if sign is 1, or the absolute
// values of its negative rewards if sign is -1. In a Markov chain this concerns the reward of each single transition.
func (space *Space) importedRewardsWithSign(index, sign int) *sparse.Reward {
	result := space.model.Rewards[index] // a copy
	result.State, result.StateFractions = absoluteWithSign(result.State, result.StateFractions, sign)
	transitions := space.importedTransitions(index)
	if transitions.Values == nil || space.model.Intervals() {
		result.Choice, result.ChoiceFractions = absoluteWithSign(result.Choice, result.ChoiceFractions, sign)
		return &result
	}
	values, fractions := absoluteWithSign(transitions.Values, transitions.Fractions, sign)
	if fractions != nil && space.model.Exact() {
		result.Choice, result.ChoiceFractions = space.exactWeightedSums(fractions)
	} else {
		result.Choice, result.ChoiceFractions = space.weightedSums(values), nil
	}
	return &result
}

// weightedSums returns, for each choice, the sum of weight * value over its transitions. values has one entry for each transition.
func (space *Space) weightedSums(values []float64) []float64 {
	means := make([]float64, space.model.NumChoices())
	for choice := range means {
		first, end := space.model.Transitions(choice)
		for transition := first; transition < end; transition++ {
			means[choice] += space.model.Prob(transition) * values[transition]
		}
	}
	return means
}

// exactWeightedSums returns, for each choice, the sum of weight * value over its transitions, as a float64 and as a fraction. values has
// one entry for each transition. A nil fraction stands for 0.
func (space *Space) exactWeightedSums(values []*big.Rat) (floats []float64, means []*big.Rat) {
	floats, means = make([]float64, space.model.NumChoices()), make([]*big.Rat, space.model.NumChoices())
	for choice := range means {
		first, end := space.model.Transitions(choice)
		sum := new(big.Rat)
		for transition := first; transition < end; transition++ {
			if values[transition] != nil {
				sum.Add(sum, new(big.Rat).Mul(space.model.Fraction(transition), values[transition]))
			}
		}
		storeFraction(floats, means, choice, sum)
	}
	return floats, means
}

// absoluteWithSign returns |x| for each number x with the given sign (1 or -1), and 0 for all others, as float64 and as fractions. It
// returns nil for a nil list.
func absoluteWithSign(values []float64, fractions []*big.Rat, sign int) (absValues []float64, absFractions []*big.Rat) {
	if values == nil {
		return nil, nil
	}
	absValues = make([]float64, len(values))
	for i, value := range values {
		absValues[i] = max(float64(sign)*value, 0)
	}
	if fractions == nil {
		return absValues, nil
	}
	absFractions = make([]*big.Rat, len(fractions))
	for i, fraction := range fractions {
		if fraction != nil && fraction.Sign() == sign {
			absFractions[i] = new(big.Rat).Abs(fraction)
		}
	}
	return absValues, absFractions
}
