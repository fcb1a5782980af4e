package explicit

import (
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// importedReward returns Program.Rewards[index] of an imported space. A negative reward is an error.
func (space *Space) importedReward(index int) (*sparse.Reward, error) {
	reward := &space.model.Rewards[index]
	perTransition := space.importedTransitions(index)
	for _, list := range [][]float64{reward.State, reward.Choice, perTransition.Values} {
		if i := slices.IndexFunc(list, isNegative); i >= 0 {
			return nil, &compile.UnsupportedError{File: space.Program().File, Msg: fmt.Sprintf("found the reward %v, want a reward that is finite and not negative", list[i])}
		}
	}
	return reward, nil
}

func isNegative(x float64) bool { return x < 0 }

// importedTransitions returns the rewards of the transitions of an imported Markov chain.
func (space *Space) importedTransitions(index int) TransitionReward {
	if index < len(space.imported.transitionRewards) {
		return space.imported.transitionRewards[index]
	}
	return TransitionReward{}
}

// importedRewardsWithSign returns the positive rewards of Program.Rewards[index] if sign is 1. If sign is -1, it
// returns the absolute values of the negative rewards. In a Markov chain, it selects rewards of transitions before
// it sums them.
func (space *Space) importedRewardsWithSign(index, sign int) *sparse.Reward {
	result := space.model.Rewards[index] // a copy
	result.State, result.StateRat = withSign(result.State, result.StateRat, sign)
	transitions := space.importedTransitions(index)
	if transitions.Values == nil || space.model.Intervals() {
		result.Choice, result.ChoiceRat = withSign(result.Choice, result.ChoiceRat, sign)
		return &result
	}
	values, rats := withSign(transitions.Values, transitions.Rats, sign)
	if rats != nil && space.model.Exact() {
		result.Choice, result.ChoiceRat = space.exactMeans(rats)
	} else {
		result.Choice, result.ChoiceRat = space.means(values), nil
	}
	return &result
}

// means returns, for each choice, the sum of its transitions' values, weighted with their probabilities or rates.
func (space *Space) means(values []float64) []float64 {
	means := make([]float64, space.model.NumChoices())
	for choice := range means {
		first, end := space.model.Row(choice)
		for transition := first; transition < end; transition++ {
			means[choice] += space.model.Prob(transition) * values[transition]
		}
	}
	return means
}

// exactMeans returns, for each choice, the weighted sum of its transitions' values as a float64 and as a fraction.
// A nil fraction stands for 0.
func (space *Space) exactMeans(values []*big.Rat) (floats []float64, means []*big.Rat) {
	floats, means = make([]float64, space.model.NumChoices()), make([]*big.Rat, space.model.NumChoices())
	for choice := range means {
		first, end := space.model.Row(choice)
		sum := new(big.Rat)
		for transition := first; transition < end; transition++ {
			if values[transition] != nil {
				sum.Add(sum, new(big.Rat).Mul(space.model.Rat(transition), values[transition]))
			}
		}
		storeRational(floats, means, choice, sum)
	}
	return floats, means
}

// withSign returns the absolute values of the numbers with the given sign, and 0 for other numbers. sign is 1 or
// -1. A nil list gives nil.
func withSign(values []float64, rats []*big.Rat, sign int) (absValues []float64, absRats []*big.Rat) {
	if values == nil {
		return nil, nil
	}
	absValues = make([]float64, len(values))
	for i, value := range values {
		absValues[i] = max(float64(sign)*value, 0)
	}
	if rats == nil {
		return absValues, nil
	}
	absRats = make([]*big.Rat, len(rats))
	for i, rat := range rats {
		if rat != nil && rat.Sign() == sign {
			absRats[i] = new(big.Rat).Abs(rat)
		}
	}
	return absValues, absRats
}
