package solve

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Conditional returns bounds on the greatest conditional probability of a formula in the state start. From each state of goal on, the
// formula and the condition hold with probability one. A path violates the condition only if the scheduler stops it in a state of excluded. Only the
// value of start is meaningful. It is 0 if no scheduler satisfies the condition with positive probability.
//
// A path that is stopped in excluded restarts in start. If a scheduler reaches goal with probability g and stops with probability x in the
// original model, it reaches goal with probability g/(1-x) in the model with restarts.
//
// Source: Baier, Klein, Klüppelholz and Märcker, Computing conditional probabilities in Markovian models efficiently
// (TACAS 2014), the reset method.
func Conditional(ctx context.Context, graph *sparse.Graph, goal, excluded *sparse.Set, start uint32, opts Options) (*Values, error) {
	rows := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	rows.Grow(graph.NumStates(), graph.NumChoices()+excluded.Count(), graph.NumTransitions()+excluded.Count())
	for state := range graph.NumStates() {
		rows.State()
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			rows.Copy(choice, func(i int) uint32 { return graph.Target[i] })
		}
		if excluded.Has(state) {
			rows.Loop(start)
		}
	}
	opts.Scheduler, opts.Within = false, nil
	if opts.Exact {
		opts.Within = sparse.SetOf(graph.NumStates(), int(start))
	}
	return Until(ctx, sparse.NewGraph(rows.Finish()), sparse.FullSet(graph.NumStates()), goal, Max, opts)
}

// RewardParts are the rewards of a Markov chain by state and transition, which sparse.Reward has as sums. Nil stands for
// 0.
type RewardParts struct {
	State      []*big.Rat
	Transition []*big.Rat
}

// ConditionedReward multiplies every reward of a Markov chain by the probability that a path satisfies a condition after it has earned this reward. Then the
// expected total reward is E[reward * 1_condition]. The probabilities of the states are in exactProbs or, if that is nil, in probs. Tiny products are
// rounded up if roundUp is set, and otherwise down.
func ConditionedReward(model *sparse.Model, rewardParts RewardParts, exactProbs []*big.Rat, probs []float64, roundUp bool) *sparse.Reward {
	condition := conditionedReward{model: model, exactProbs: exactProbs, probs: probs, roundUp: roundUp}
	reward := &sparse.Reward{RelErr: 0x1p-51}
	reward.State, reward.StateFractions = condition.roundRewards(func(state int) *big.Rat {
		return condition.conditionReward(state, fractionAt(rewardParts.State, state))
	})
	if rewardParts.Transition != nil {
		reward.Choice, reward.ChoiceFractions = condition.roundRewards(func(state int) *big.Rat { return condition.transitionReward(state, rewardParts.Transition) })
		reward.RelErr += math.Nextafter(model.RelErr, math.Inf(1)) // the weights of the transitions have this relative error, the other factors are exact
	}
	return reward
}

// conditionedReward has the arguments of ConditionedReward.
type conditionedReward struct {
	model      *sparse.Model
	exactProbs []*big.Rat
	probs      []float64
	roundUp    bool
}

// conditionReward multiplies a reward by the probability that a path from a state satisfies the condition.
func (condition *conditionedReward) conditionReward(state int, reward *big.Rat) *big.Rat {
	if condition.exactProbs != nil {
		return new(big.Rat).Mul(reward, condition.exactProbs[state])
	}
	product := new(big.Rat).SetFloat64(condition.probs[state])
	return product.Mul(product, reward)
}

// transitionReward returns the expected transition reward of a state. Each reward is multiplied by the probability that a path from the target of the
// transition satisfies the condition.
func (condition *conditionedReward) transitionReward(state int, rewards []*big.Rat) *big.Rat {
	sum, weight := new(big.Rat), new(big.Rat)
	first, end := condition.model.Transitions(state)
	for transition := first; transition < end; transition++ {
		if rewards[transition] == nil || rewards[transition].Sign() == 0 {
			continue
		}
		if condition.exactProbs != nil {
			weight.Set(condition.model.Fraction(transition))
		} else {
			weight.SetFloat64(condition.model.Prob(transition))
		}
		sum.Add(sum, weight.Mul(weight, condition.conditionReward(int(condition.model.Target[transition]), rewards[transition])))
	}
	return sum
}

// roundRewards computes fractionOf(state) for each state. It returns the numbers as float64 and, if the probabilities are exact, also as fractions.
func (condition *conditionedReward) roundRewards(fractionOf func(state int) *big.Rat) (floats []float64, fractions []*big.Rat) {
	floats = make([]float64, condition.model.NumStates())
	if condition.exactProbs != nil {
		fractions = make([]*big.Rat, len(floats))
	}
	for state := range floats {
		fraction := fractionOf(state)
		if fractions != nil {
			fractions[state] = fraction
		}
		floats[state] = condition.roundFloat(fraction)
	}
	return floats, fractions
}

// roundFloat rounds a fraction to the nearest float64. A number below sparse.MinNumber is rounded in the direction of roundUp.
func (condition *conditionedReward) roundFloat(fraction *big.Rat) float64 {
	float, _ := fraction.Float64()
	if fraction.Sign() <= 0 || float >= sparse.MinNumber {
		return float
	}
	if condition.roundUp {
		return sparse.MinNumber
	}
	return 0
}
