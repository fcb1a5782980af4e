package certificate

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"tilecheck/internal/noun"
)

// Difference returns the first difference between two models; nil if they are the same. The rewards of Storm's operator T, which are not in the text
// of a model, may be missing in other: then no property that is confirmed with it has this operator.
func (m *Model) Difference(other *Model) error {
	n, rewards := m.NumStates(), m.Rewards
	if last := len(rewards) - 1; last == len(other.Rewards) && rewards[last].Name == TimeRewards {
		rewards = rewards[:last]
	}
	switch {
	case m.Kind != other.Kind || n != other.NumStates():
		return fmt.Errorf("the certificate has %s with %d states, the model is %s with %d", noun.WithArticle(string(m.Kind)), n, noun.WithArticle(string(other.Kind)), other.NumStates())
	case !slices.Equal(m.Initial, other.Initial):
		return errors.New("the initial states differ")
	case len(rewards) != len(other.Rewards):
		return fmt.Errorf("the certificate has %s, the model %d", noun.Count(len(rewards), "reward structure"), len(other.Rewards))
	}
	comparedPairs := map[[2]uint32]bool{} // whether numbers of the models are equal, by their indices
	equal := func(a, b []uint32, i int) bool {
		if a == nil || b == nil {
			return (a == nil || m.Numbers[a[i]].Sign() == 0) && (b == nil || other.Numbers[b[i]].Sign() == 0)
		}
		pair := [2]uint32{a[i], b[i]}
		isEqual, isKnown := comparedPairs[pair]
		if !isKnown {
			isEqual = m.Numbers[pair[0]].Cmp(other.Numbers[pair[1]]) == 0
			comparedPairs[pair] = isEqual
		}
		return isEqual
	}
	for s := range n {
		first, end := m.Choices(s)
		if a, b := other.Choices(s); a != first || b != end {
			return fmt.Errorf("state %d: the certificate has %s, the model %d", s, noun.Count(end-first, "choice"), b-a)
		}
		if m.ExitRate != nil && !equal(m.ExitRate, other.ExitRate, s) {
			return fmt.Errorf("state %d: the exit rates differ", s)
		}
		for k := range rewards {
			if !equal(rewards[k].State, other.Rewards[k].State, s) {
				return fmt.Errorf("state %d: the rewards %d differ", s, k+1)
			}
		}
		for c := first; c < end; c++ {
			if !m.hasSameDistribution(other, c, equal) {
				return fmt.Errorf("state %d, choice %d: the transitions differ", s, c-first)
			}
			for k := range rewards {
				if !equal(rewards[k].Choice, other.Rewards[k].Choice, c) {
					return fmt.Errorf("state %d, choice %d: the rewards %d differ", s, c-first, k+1)
				}
			}
		}
	}
	for k := range rewards {
		if rewards[k].Name != other.Rewards[k].Name {
			return fmt.Errorf("found the rewards of %s, wanted those of %s", m.rewardOperator(k), other.rewardOperator(k))
		}
	}
	return nil
}

// hasSameDistribution reports whether choice c has the same distribution over states in both models. The order of the transitions does
// not matter. equal reports whether two columns of the models have the same number at index i.
func (m *Model) hasSameDistribution(other *Model, c int, equal func(left, right []uint32, i int) bool) bool {
	if m.hasSameTransitions(other, c, equal) {
		return true
	}
	distribution, otherDistribution := m.distribution(c), other.distribution(c)
	return maps.EqualFunc(distribution, otherDistribution, func(left, right *big.Rat) bool { return left.Cmp(right) == 0 })
}

// hasSameTransitions reports whether choice c has the same transitions in both models, with the same indices and in the same order. equal compares
// the probabilities of a transition.
func (m *Model) hasSameTransitions(other *Model, c int, equal func(left, right []uint32, i int) bool) bool {
	first, end := m.Row(c)
	if otherFirst, otherEnd := other.Row(c); otherFirst != first || otherEnd != end {
		return false
	}
	for transition := first; transition < end; transition++ {
		if m.Target[transition] != other.Target[transition] || !equal(m.Prob, other.Prob, transition) {
			return false
		}
	}
	return true
}

// distribution returns the probability of each target of choice c. It merges transitions to the same target.
func (m *Model) distribution(c int) map[uint32]*big.Rat {
	probabilities := make(map[uint32]*big.Rat)
	first, end := m.Row(c)
	for transition := first; transition < end; transition++ {
		target, prob := m.Target[transition], m.Numbers[m.Prob[transition]]
		if sum := probabilities[target]; sum != nil {
			sum.Add(sum, prob)
			continue
		}
		probabilities[target] = new(big.Rat).Set(prob)
	}
	return probabilities
}
