package certificate

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
)

// maxWhole is the exclusive upper limit of numerators and denominators.
const maxWhole = 1 << 62

// Weights are the probabilities of a model as integers: transition t of choice c has probability Numerators[t]/Denominators[c].
// Denominators[c] is below 2^62, or 0 if the common denominator is too large.
type Weights struct{ Numerators, Denominators []uint64 }

// Weights returns the probabilities of each choice as whole numbers with a common denominator. It is an error if the probabilities of a choice
// do not sum to exactly 1. The error can also be ctx.Err().
func (model *Model) Weights(ctx context.Context) (*Weights, error) {
	numerators, denominators := splitNumbers(model.Numbers)
	weights := &Weights{make([]uint64, len(model.Target)), make([]uint64, len(model.FirstTransition)-1)}
	for c := range weights.Denominators {
		if c&0xfff == 0 && ctx.Err() != nil {
			return weights, ctx.Err()
		}
		weights.Denominators[c] = weights.setRow(model, c, numerators, denominators)
		if weights.Denominators[c] == 0 {
			if err := model.checkSum(c); err != nil {
				return weights, err
			}
		}
	}
	return weights, nil
}

// setRow sets the numerators of the probabilities of choice c, and returns their common denominator. It returns 0 if the denominator is not
// below 2^62, or if the probabilities do not sum to 1. numerators and denominators are the results of splitNumbers for the numbers of the model.
func (weights *Weights) setRow(model *Model, c int, numerators, denominators []uint64) (commonDenominator uint64) {
	first, end := model.Row(c)
	probs, scaled := model.Prob[first:end], weights.Numerators[first:end]
	commonDenominator = 1
	for _, number := range probs {
		commonDenominator = CommonMultiple(commonDenominator, denominators[number])
	}
	if commonDenominator == 0 {
		return 0
	}
	sum := uint64(0)
	for i, number := range probs {
		numerator, denominator := numerators[number], denominators[number]
		if numerator > denominator || sum > commonDenominator {
			return 0
		}
		numerator *= commonDenominator / denominator
		scaled[i] = numerator
		sum += numerator
	}
	if sum != commonDenominator {
		return 0
	}
	return commonDenominator
}

// checkSum returns an error unless the probabilities of choice c sum to exactly 1.
func (model *Model) checkSum(c int) error {
	sum := new(big.Rat)
	first, end := model.Row(c)
	for _, number := range model.Prob[first:end] {
		sum.Add(sum, model.Numbers[number])
	}
	if sum.Cmp(big.NewRat(1, 1)) != 0 {
		return fmt.Errorf("the probabilities of choice %d sum to %s", c, sum.RatString())
	}
	return nil
}

// Mean returns Denominators[choice] * (sum of P(t) values[t]), the expected value after a choice times the common denominator, as a number of 128 bits.
// Denominators[choice] must not be 0. The high word is below 2^62.
func (weights *Weights) Mean(model *Model, values []uint64, choice int) (high, low uint64) {
	var carry uint64
	first, end := model.Row(choice)
	for transition := first; transition < end; transition++ {
		productHigh, productLow := bits.Mul64(weights.Numerators[transition], values[model.Target[transition]])
		low, carry = bits.Add64(low, productLow, 0)
		high, _ = bits.Add64(high, productHigh, carry)
	}
	return high, low
}

// Rewards are the rewards of one step, by choice: choice c earns Fractions[FractionIndex[c]], which is Numerators/Denominators in integers below
// 2^62. The denominator is 0 if they are too large.
type Rewards struct {
	FractionIndex            []uint32
	Fractions                []*big.Rat
	Numerators, Denominators []uint64
}

// NewRewards returns rewards in which choice c has the reward fractions[indices[c]].
func NewRewards(indices []uint32, fractions []*big.Rat) *Rewards {
	numerators, denominators := splitNumbers(fractions)
	return &Rewards{indices, fractions, numerators, denominators}
}

// IsPositive reports whether the reward of a choice is positive. nil rewards are 0.
func (r *Rewards) IsPositive(choice int) bool {
	return r != nil && r.Fractions[r.FractionIndex[choice]].Sign() > 0
}

// StepRewards returns, for each choice, the reward of a step: the reward of the state plus the reward of the choice. In a CTMC the reward of the
// state is multiplied by the mean sojourn time. If structure is -1, the states of the set have the reward 1.
func (m *Model) StepRewards(structure int, set Bits) *Rewards {
	var reward Reward
	if structure >= 0 {
		reward = m.Rewards[structure]
	}
	indices, fractions := make([]uint32, len(m.FirstTransition)-1), []*big.Rat(nil)
	indexOfKey := map[rewardKey]uint32{}
	for s := range m.NumStates() {
		key := rewardKey{state: noReward, exit: noReward, choice: noReward}
		if reward.State != nil {
			key.state = reward.State[s]
		} else if structure < 0 && set.Has(s) {
			key.state = rewardOne
		}
		if m.ExitRate != nil {
			key.exit = m.ExitRate[s]
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if reward.Choice != nil {
				key.choice = reward.Choice[c]
			}
			index, isKnown := indexOfKey[key]
			if !isKnown {
				index = uint32(len(fractions))
				indexOfKey[key] = index
				fractions = append(fractions, m.rewardOf(key))
			}
			indices[c] = index
		}
	}
	return NewRewards(indices, fractions)
}

// rewardKey determines the reward of a step: the indices of the reward of the state, of its exit rate, and of the reward of the choice, in
// Model.Numbers. Each may be noReward instead, and the first may be rewardOne.
type rewardKey struct{ state, exit, choice uint32 }

const (
	noReward  = None
	rewardOne = None - 1
)

// rewardOf returns the reward of a step: state reward / exit rate + choice reward. key has the indices of these numbers; each of them may be
// missing.
func (m *Model) rewardOf(key rewardKey) *big.Rat {
	reward := new(big.Rat)
	if key.state == rewardOne {
		reward.SetInt64(1)
	} else if key.state != noReward {
		reward.Set(m.Numbers[key.state])
	}
	if key.exit != noReward {
		reward.Quo(reward, m.Numbers[key.exit])
	}
	if key.choice != noReward {
		reward.Add(reward, m.Numbers[key.choice])
	}
	return reward
}

// splitNumbers returns the numerators and the denominators of fractions. A denominator is 0 if the fraction does not fit in
// 62 bits.
func splitNumbers(fractions []*big.Rat) (numerators, denominators []uint64) {
	numerators, denominators = make([]uint64, len(fractions)), make([]uint64, len(fractions))
	for i, fraction := range fractions {
		if fraction.Num().BitLen() <= 62 && fraction.Denom().BitLen() <= 62 {
			numerators[i], denominators[i] = fraction.Num().Uint64(), fraction.Denom().Uint64()
		}
	}
	return numerators, denominators
}

// CommonMultiple returns the least common multiple of two numbers. It returns 0 if the result is not below 2^62, or if an argument is 0.
func CommonMultiple(left, right uint64) uint64 {
	if left == right || left == 0 || right == 0 {
		return min(left, right)
	}
	divisor, remainder := left, right
	for remainder != 0 {
		divisor, remainder = remainder, divisor%remainder
	}
	if high, product := bits.Mul64(left/divisor, right); high == 0 && product < maxWhole {
		return product
	}
	return 0
}
