package explicit

import (
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// importedReward returns Program.Rewards[index] of an imported space. A negative reward is an error.
func (s *Space) importedReward(index int) (*sparse.Reward, error) {
	reward := &s.model.Rewards[index]
	perTransition := s.importedTransitions(index)
	for _, list := range [][]float64{reward.State, reward.Choice, perTransition.Values} {
		if i := slices.IndexFunc(list, isNegative); i >= 0 {
			return nil, &compile.UnsupportedError{File: s.Program().File, Msg: fmt.Sprintf("found the reward %v, want a reward that is finite and not negative", list[i])}
		}
	}
	return reward, nil
}

func isNegative(x float64) bool { return x < 0 }

// importedTransitions returns the rewards of the transitions of an imported Markov chain.
func (s *Space) importedTransitions(index int) TransitionReward {
	if index < len(s.imported.transitionRewards) {
		return s.imported.transitionRewards[index]
	}
	return TransitionReward{}
}

// importedRewardsWithSign returns the positive rewards of Program.Rewards[index] of an imported space if sign is 1, and the absolute
// values of its negative rewards if sign is -1. The rewards of the transitions of a Markov chain are split by sign before
// they are summed.
func (s *Space) importedRewardsWithSign(index, sign int) *sparse.Reward {
	result := s.model.Rewards[index] // a copy
	result.State, result.StateRat = withSign(result.State, result.StateRat, sign)
	transitions := s.importedTransitions(index)
	if transitions.Values == nil || s.model.Intervals() {
		result.Choice, result.ChoiceRat = withSign(result.Choice, result.ChoiceRat, sign)
		return &result
	}
	values, rats := withSign(transitions.Values, transitions.Rats, sign)
	if !s.model.Exact() { // Space.WithoutFractions
		rats = nil
	}
	result.Choice, result.ChoiceRat = make([]float64, s.model.NumChoices()), nil
	if rats != nil {
		result.ChoiceRat = make([]*big.Rat, s.model.NumChoices())
	}
	for c := range result.Choice {
		first, end := s.model.Row(c)
		sum := new(big.Rat)
		for transition := first; transition < end; transition++ {
			switch {
			case rats == nil:
				result.Choice[c] += s.model.Prob(transition) * values[transition]
			case rats[transition] != nil:
				sum.Add(sum, new(big.Rat).Mul(s.model.Rat(transition), rats[transition]))
			}
		}
		if rats != nil {
			storeRational(result.Choice, result.ChoiceRat, c, sum)
		}
	}
	return &result
}

// withSign returns the absolute values of the numbers with the given sign, and 0 for all other numbers. It returns nil for
// nil.
func withSign(values []float64, rats []*big.Rat, sign int) ([]float64, []*big.Rat) {
	if values == nil {
		return nil, nil
	}
	absValues := make([]float64, len(values))
	for i, value := range values {
		absValues[i] = max(float64(sign)*value, 0)
	}
	if rats == nil {
		return absValues, nil
	}
	absRats := make([]*big.Rat, len(rats))
	for i, rat := range rats {
		if rat != nil && rat.Sign() == sign {
			absRats[i] = new(big.Rat).Abs(rat)
		}
	}
	return absValues, absRats
}
