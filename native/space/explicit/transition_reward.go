package explicit

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// TransitionRewards returns Program.Rewards[index] for every transition of a Markov chain, in the order of Model.
// rats has the same values as fractions in an exact model, with nil for zero. In other models rats is nil. For an
// MDP it returns nil, because rewards belong to choices.
//
// Source: reference, sections 4.8 and 4.10.
func (s *Space) TransitionRewards(index int) (values []float64, rats []*big.Rat, err error) {
	if s.model.Kind == sparse.MDP {
		return nil, nil, nil
	}
	if s.quotient != nil {
		values, rats = s.quotient.transitionRewards(s.model, index)
		return values, rats, nil
	}
	if s.imported != nil {
		imported := s.imported.transitionRewards[index]
		return imported.Values, imported.Rats, nil
	}
	structure := &s.Program().Rewards[index]
	if !hasTransitionRewards(structure) {
		return nil, nil, nil
	}
	values = make([]float64, s.model.NumTransitions())
	if s.model.Exact() {
		rats = make([]*big.Rat, len(values))
		err = s.exactTransitionRewards(structure, func(transition int, value *big.Rat) { storeRational(values, rats, transition, value) })
		return values, rats, err
	}
	_, err = s.evaluateRewards(index, func(evaluator *rewardEvaluator, i int, state []int32) error {
		return s.rowRewards(values, evaluator, i, state)
	})
	return values, nil, err
}

// hasTransitionRewards reports whether a reward structure gives rewards to transitions.
func hasTransitionRewards(structure *sema.RewardStruct) bool {
	return slices.ContainsFunc(structure.Items, func(item sema.RewardItem) bool { return item.Transition })
}

// hasStateRewards reports whether a reward structure gives rewards to states.
func hasStateRewards(structure *sema.RewardStruct) bool {
	return slices.ContainsFunc(structure.Items, func(item sema.RewardItem) bool { return !item.Transition })
}

// rowRewards stores the rewards of the transitions of state i in values. A deadlock's self-loop has no reward.
func (s *Space) rowRewards(values []float64, evaluator *rewardEvaluator, i int, state []int32) error {
	if s.model.IsDeadlock(i) {
		return nil
	}
	first, end := s.model.Row(i)
	for transition := first; transition < end; transition++ {
		reward, err := evaluator.choice(state, s.actionIndex(transition))
		if err != nil {
			return err
		}
		values[transition] = reward
	}
	return nil
}

// exactTransitionRewards calls set with the exact reward of every transition. It skips the self-loops of
// deadlocks.
func (s *Space) exactTransitionRewards(structure *sema.RewardStruct, set func(transition int, reward *big.Rat)) error {
	state := s.State(nil, 0)
	evaluator, err := s.newExactRewardEvaluator(structure)
	if err != nil {
		return err
	}
	for i := range s.store.n {
		if s.model.IsDeadlock(i) {
			continue
		}
		s.State(state, i)
		first, end := s.model.Row(i)
		for transition := first; transition < end; transition++ {
			reward, err := evaluator.sum(state, isTransitionItem(s.actionIndex(transition)))
			if err != nil {
				return err
			}
			set(transition, reward)
		}
	}
	return nil
}
