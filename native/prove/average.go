package prove

import (
	"errors"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// averageColumns computes the long-run average reward in rational arithmetic. It stores the numbers that prove it in the certificate: the gain and a
// nonnegative bias of each state. Without a reward structure, it computes the long-run probability of the states in right.
func (proof *vectorProof) averageColumns(right *sparse.Set) (*solve.Values, error) {
	if proof.effort < exactValues {
		return nil, errors.New("long-run averages need rational arithmetic")
	}
	reward := proof.rewardStructure
	if reward == nil {
		reward = &sparse.Reward{}
		reward.State, reward.StateFractions = indicatorRewards(right)
	}
	compute := proof.gainAndBias
	if proof.graph.FirstChoice != nil {
		compute = proof.policyIteration
	}
	values, bias, err := compute(proof.graph, reward)
	if err != nil {
		return nil, err
	}
	proof.setBoundColumns(values)
	biasColumn := proof.shiftedBias(bias)
	proof.LowerBias, proof.UpperBias = biasColumn, biasColumn
	return values, nil
}

// shiftedBias returns a bias as a column of the certificate. Columns have no negative entries, so it adds the same constant to all entries, which a bias
// allows.
func (proof *vectorProof) shiftedBias(bias []*big.Rat) *certificate.Values {
	leastBias := new(big.Rat)
	for _, stateBias := range bias {
		if stateBias.Cmp(leastBias) < 0 {
			leastBias = stateBias
		}
	}
	column := &certificate.Values{Fractions: make([]*big.Rat, len(bias))}
	for position, s := range proof.orderedStates() {
		column.Fractions[position] = new(big.Rat).Sub(bias[s], leastBias)
	}
	return column
}

// gainAndBias returns the gain g and a bias h of a Markov chain: a solution of g + h = r + P h. One state of each BSCC is a reference state.
// h(s) is the expected reward minus the expected gain on the path from s to a reference state.
func (proof *vectorProof) gainAndBias(graph *sparse.Graph, reward *sparse.Reward) (values *solve.Values, bias []*big.Rat, err error) {
	if values, err = solve.LongRun(proof.ctx, graph, reward, solve.Max, proof.options()); err != nil {
		return nil, nil, err
	}
	components, err := graph.EndComponents(proof.ctx, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	references := sparse.NewSet(graph.NumStates())
	for i := range components.Num() {
		references.Add(int(components.Members(i)[0]))
	}
	expectedReward, err := solve.ReachReward(proof.ctx, graph, reward, references, solve.Max, proof.options())
	if err != nil {
		return nil, nil, err
	}
	gain := &sparse.Reward{State: values.Lower, StateFractions: values.Exact}
	expectedGain, err := solve.ReachReward(proof.ctx, graph, gain, references, solve.Max, proof.options())
	if err != nil {
		return nil, nil, err
	}
	bias = make([]*big.Rat, graph.NumStates())
	for s := range bias {
		bias[s] = new(big.Rat).Sub(expectedReward.Exact[s], expectedGain.Exact[s])
	}
	return values, bias, nil
}

// maxImprovements is the greatest number of schedulers that policy iteration evaluates.
const maxImprovements = 1000

// policyIteration returns the optimal gain g and a bias h of an MDP. For a maximum they satisfy g + h >= r + P h for all choices, for a minimum g + h <=
// r + P h.
//
// Source: Howard's multichain policy iteration (Puterman, Markov Decision Processes, section 9.2).
func (proof *vectorProof) policyIteration(graph *sparse.Graph, reward *sparse.Reward) (values *solve.Values, bias []*big.Rat, err error) {
	choices := make([]int, graph.NumStates())
	for s := range choices {
		choices[s], _ = graph.Choices(s)
	}
	for range maxImprovements {
		chain, inducedReward, err := proof.inducedChain(graph, reward, choices)
		if err != nil {
			return nil, nil, err
		}
		if values, bias, err = proof.gainAndBias(chain, inducedReward); err != nil {
			return nil, nil, err
		}
		if proof.improve(graph, reward, choices, values.Exact, bias) {
			continue
		}
		proof.extendInequality(graph, reward, values.Exact, bias)
		return values, bias, proof.ctx.Err()
	}
	return nil, nil, errors.New("policy iteration for the long-run average evaluated too many schedulers")
}

// extendInequality adds a multiple of the gain to the bias, for the inequality g + h >= r + P h of a maximum. Policy iteration ensures
// the inequality for the choices that keep the gain. A large enough multiple ensures it for the choices that lose gain too.
func (proof *vectorProof) extendInequality(graph *sparse.Graph, reward *sparse.Reward, gain, bias []*big.Rat) {
	multiple := proof.gainMultiple(graph, reward, gain, bias)
	for s := range bias {
		bias[s].Add(bias[s], new(big.Rat).Mul(multiple, gain[s]))
	}
}

// gainMultiple returns a factor m such that bias + m * gain satisfies the inequality of the bias for all choices. Only choices that worsen the gain can
// violate this inequality for the bias alone, so m is their greatest ratio (improvement of the bias) / (loss of gain), or 0.
func (proof *vectorProof) gainMultiple(graph *sparse.Graph, reward *sparse.Reward, gain, bias []*big.Rat) *big.Rat {
	multiple := new(big.Rat)
	for s := range gain {
		first, end := graph.Choices(s)
		for choice := first; choice < end; choice++ {
			gainDecrease := proof.advantage(gain[s], proof.expectedNext(graph, choice, gain))
			if gainDecrease.Sign() <= 0 {
				continue
			}
			biasIncrease := proof.advantage(proof.rewardAndNext(graph, reward, s, choice, bias), new(big.Rat).Add(gain[s], bias[s]))
			ratio := biasIncrease.Quo(biasIncrease, gainDecrease)
			if ratio.Cmp(multiple) > 0 {
				multiple = ratio
			}
		}
	}
	return multiple
}

// advantage returns left-right for a maximum and right-left for a minimum. It is positive if left is better.
func (proof *vectorProof) advantage(left, right *big.Rat) *big.Rat {
	difference := new(big.Rat).Sub(left, right)
	if !proof.IsMaximum {
		difference.Neg(difference)
	}
	return difference
}

// expectedNext returns the sum of P(c,t) * values[t] over the successors t of choice c: the expected value of the next state.
func (proof *vectorProof) expectedNext(graph *sparse.Graph, choice int, values []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	first, end := graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		sum.Add(sum, new(big.Rat).Mul(graph.Fraction(transition), values[graph.Target[transition]]))
	}
	return sum
}

// rewardAndNext returns the reward of a choice in state s plus the expected value of the next state.
func (proof *vectorProof) rewardAndNext(graph *sparse.Graph, reward *sparse.Reward, s, choice int, values []*big.Rat) *big.Rat {
	sum := proof.expectedNext(graph, choice, values)
	return sum.Add(sum, reward.ExactChoiceTotal(s, choice))
}

// improve is the improvement step of policy iteration. It switches to choices with a better gain. If no gain is better, it switches to
// choices with an equal gain and a better bias. It reports whether a choice changed.
func (proof *vectorProof) improve(graph *sparse.Graph, reward *sparse.Reward, choices []int, gain, bias []*big.Rat) (hasChanged bool) {
	return proof.improveGain(graph, choices, gain) || proof.improveBias(graph, reward, choices, gain, bias)
}

// improveGain changes the choice of each state in which another choice leads to a better expected gain of the next state; it takes the best choice. It
// reports whether it changed a choice.
func (proof *vectorProof) improveGain(graph *sparse.Graph, choices []int, gain []*big.Rat) (hasChanged bool) {
	for s := range choices {
		bestGain := gain[s]
		first, end := graph.Choices(s)
		for choice := first; choice < end; choice++ {
			candidate := proof.expectedNext(graph, choice, gain)
			if proof.advantage(candidate, bestGain).Sign() > 0 {
				choices[s], bestGain, hasChanged = choice, candidate, true
			}
		}
	}
	return hasChanged
}

// improveBias changes the choice of each state in which another choice keeps the gain and has a better reward plus expected bias; it takes the best
// choice. It reports whether it changed a choice.
func (proof *vectorProof) improveBias(graph *sparse.Graph, reward *sparse.Reward, choices []int, gain, bias []*big.Rat) (hasChanged bool) {
	for s := range choices {
		bestBias := new(big.Rat).Add(gain[s], bias[s])
		first, end := graph.Choices(s)
		for choice := first; choice < end; choice++ {
			keepsGain := proof.expectedNext(graph, choice, gain).Cmp(gain[s]) == 0
			if !keepsGain {
				continue
			}
			candidate := proof.rewardAndNext(graph, reward, s, choice, bias)
			if proof.advantage(candidate, bestBias).Sign() > 0 {
				choices[s], bestBias, hasChanged = choice, candidate, true
			}
		}
	}
	return hasChanged
}

// inducedChain returns the Markov chain that a memoryless scheduler induces on an MDP, and its rewards. choices[s] is the choice of state s.
func (proof *vectorProof) inducedChain(graph *sparse.Graph, reward *sparse.Reward, choices []int) (*sparse.Graph, *sparse.Reward, error) {
	if err := proof.ctx.Err(); err != nil {
		return nil, nil, err
	}
	builder := sparse.NewBuilder(sparse.DTMC)
	inducedReward := &sparse.Reward{State: make([]float64, len(choices)), StateFractions: make([]*big.Rat, len(choices))}
	for s, choice := range choices {
		builder.State()
		first, end := graph.Transitions(choice)
		for transition := first; transition < end; transition++ {
			builder.AddRat(int(graph.Target[transition]), graph.Fraction(transition), sparse.NoAction)
		}
		if choiceReward := reward.ExactChoiceTotal(s, choice); choiceReward.Sign() > 0 {
			inducedReward.StateFractions[s] = choiceReward
			inducedReward.State[s], _ = sparse.NormalFloat(choiceReward)
		}
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, nil, err
	}
	model.Initial = graph.Initial
	return sparse.NewGraph(model), inducedReward, nil
}

// indicatorRewards returns state rewards that are 1 in the states of a set and 0 in other states, as float64 and as fractions.
func indicatorRewards(set *sparse.Set) (rewards []float64, fractions []*big.Rat) {
	rewards, fractions = make([]float64, set.Len()), make([]*big.Rat, set.Len())
	for s := range set.All() {
		rewards[s], fractions[s] = 1, big.NewRat(1, 1)
	}
	return rewards, fractions
}
