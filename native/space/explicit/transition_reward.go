package explicit

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// TransitionRewards returns the rewards of all transitions of a Markov chain in the structure Program.Rewards[index], in the order of
// Model. fractions has the same values as fractions in an exact model, with nil for zero; in other models it is nil. For an MDP both results are
// nil, because rewards belong to choices.
//
// Source: reference, sections 4.8 and 4.10.
func (space *Space) TransitionRewards(index int) (values []float64, fractions []*big.Rat, err error) {
	if space.model.Kind == sparse.MDP {
		return nil, nil, nil
	}
	if space.quotient != nil {
		values, fractions = space.quotient.transitionRewards(space.model, index)
		return values, fractions, nil
	}
	if space.imported != nil {
		imported := space.imported.transitionRewards[index]
		return imported.Values, imported.Fractions, nil
	}
	structure := &space.Program().Rewards[index]
	if !hasTransitionRewards(structure) {
		return nil, nil, nil
	}
	values = make([]float64, space.model.NumTransitions())
	if space.model.Exact() {
		fractions = make([]*big.Rat, len(values))
		err = space.exactTransitionRewards(structure, func(transition int, value *big.Rat) { storeFraction(values, fractions, transition, value) })
		return values, fractions, err
	}
	_, err = space.evaluateRewards(index, func(evaluator *rewardEvaluator, i int, state []int32) error {
		return space.rowRewards(values, evaluator, i, state)
	})
	return values, nil, err
}

// hasTransitionRewards reports whether a reward structure gives rewards to transitions.
func hasTransitionRewards(structure *sema.RewardStruct) bool {
	return slices.ContainsFunc(structure.Items, func(item sema.RewardItem) bool { return item.IsTransition })
}

// hasStateRewards reports whether a reward structure gives rewards to states.
func hasStateRewards(structure *sema.RewardStruct) bool {
	return slices.ContainsFunc(structure.Items, func(item sema.RewardItem) bool { return !item.IsTransition })
}

// rowRewards evaluates the rewards of the transitions of a state, and stores them in values. The self-loop of a deadlock has no reward.
func (space *Space) rowRewards(values []float64, evaluator *rewardEvaluator, stateIndex int, state []int32) error {
	if space.model.IsDeadlock(stateIndex) {
		return nil
	}
	first, end := space.model.Transitions(stateIndex)
	for transition := first; transition < end; transition++ {
		reward, err := evaluator.choiceReward(state, space.actionIndex(transition))
		if err != nil {
			return err
		}
		values[transition] = reward
	}
	return nil
}

// exactTransitionRewards evaluates the reward of every transition as a fraction, and calls set for each of them. It skips the self-loops of deadlocks, which
// have no reward.
func (space *Space) exactTransitionRewards(structure *sema.RewardStruct, set func(transition int, reward *big.Rat)) error {
	state := space.State(nil, 0)
	evaluator, err := space.newExactRewardEvaluator(structure)
	if err != nil {
		return err
	}
	for i := range space.store.numStates {
		if space.model.IsDeadlock(i) {
			continue
		}
		space.State(state, i)
		first, end := space.model.Transitions(i)
		for transition := first; transition < end; transition++ {
			reward, err := evaluator.sumOfItems(state, isTransitionItem(space.actionIndex(transition)))
			if err != nil {
				return err
			}
			set(transition, reward)
		}
	}
	return nil
}
