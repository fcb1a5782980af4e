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

// importedPart returns what is earned by Program.Rewards[index] of an imported space if sign is 1, and what is lost if it is -1. The
// rewards of the transitions of a Markov chain are taken apart before they are added up.
func (s *Space) importedPart(index, sign int) *sparse.Reward {
	part := s.model.Rewards[index] // a copy
	part.State, part.StateRat = partOf(part.State, part.StateRat, sign)
	transitions := s.importedTransitions(index)
	if transitions.Values == nil || s.model.Intervals() {
		part.Choice, part.ChoiceRat = partOf(part.Choice, part.ChoiceRat, sign)
		return &part
	}
	values, rats := partOf(transitions.Values, transitions.Rats, sign)
	if !s.model.Exact() { // Space.WithoutFractions
		rats = nil
	}
	part.Choice, part.ChoiceRat = make([]float64, s.model.NumChoices()), nil
	if rats != nil {
		part.ChoiceRat = make([]*big.Rat, s.model.NumChoices())
	}
	for c := range part.Choice {
		first, end := s.model.Row(c)
		sum := new(big.Rat)
		for t := first; t < end; t++ {
			switch {
			case rats == nil:
				part.Choice[c] += s.model.Prob(t) * values[t]
			case rats[t] != nil:
				sum.Add(sum, new(big.Rat).Mul(s.model.Rat(t), rats[t]))
			}
		}
		if rats != nil {
			storeRational(part.Choice, part.ChoiceRat, c, sum)
		}
	}
	return &part
}

// partOf returns the numbers with the given sign, without their sign, and 0 for the others; nil for nil.
func partOf(values []float64, rats []*big.Rat, sign int) ([]float64, []*big.Rat) {
	if values == nil {
		return nil, nil
	}
	outValues := make([]float64, len(values))
	for i, value := range values {
		outValues[i] = max(float64(sign)*value, 0)
	}
	if rats == nil {
		return outValues, nil
	}
	outRats := make([]*big.Rat, len(rats))
	for i, rat := range rats {
		if rat != nil && rat.Sign() == sign {
			outRats[i] = new(big.Rat).Abs(rat)
		}
	}
	return outValues, outRats
}
