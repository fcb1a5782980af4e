package explicit

import (
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Costs evaluates the reward structure Program.Rewards[index] as fractions, even if the weights of the space are float64. stateCosts has an entry for each
// state; moveCosts has one for each choice of an MDP, or for each transition of a Markov chain. An irrational reward is an error.
func (space *Space) Costs(index int) (stateCosts, moveCosts []*big.Rat, err error) {
	if space.imported != nil {
		return space.importedCosts(index)
	}
	structure := &space.Program().Rewards[index]
	evaluator, err := space.newExactRewardEvaluator(structure)
	if err != nil {
		return nil, nil, err
	}
	numMoves := space.model.NumTransitions()
	if space.model.Kind == sparse.MDP {
		numMoves = space.model.NumChoices()
	}
	stateCosts, moveCosts = make([]*big.Rat, space.store.numStates), make([]*big.Rat, numMoves)
	hasTransitionItems := hasTransitionRewards(structure)
	state := space.State(nil, 0)
	for i := range space.store.numStates {
		space.State(state, i)
		if stateCosts[i], err = evaluator.sumOfItems(state, isStateItem); err != nil {
			return nil, nil, err
		}
		if !hasTransitionItems || space.model.IsDeadlock(i) {
			continue
		}
		first, end := space.costRange(i)
		for move := first; move < end; move++ {
			if moveCosts[move], err = evaluator.sumOfItems(state, isTransitionItem(space.actionIndex(move))); err != nil {
				return nil, nil, err
			}
		}
	}
	return stateCosts, moveCosts, nil
}

// costRange returns the range of indices into moveCosts that belongs to state i. The indices are choices of an
// MDP, or transitions of a Markov chain.
func (space *Space) costRange(i int) (first, end int) {
	first, end = space.model.Choices(i)
	if space.model.Kind == sparse.MDP {
		return first, end
	}
	return space.model.Transitions(i)
}

// importedCosts returns the costs of a space that was read from files: costs of states, and of choices or transitions. If the files have no
// fractions, all rewards must be whole numbers.
func (space *Space) importedCosts(index int) (stateCosts, moveCosts []*big.Rat, err error) {
	reward, err := space.importedReward(index)
	if err != nil {
		return nil, nil, err
	}
	values, fractions := reward.Choice, reward.ChoiceFractions
	if space.model.Kind != sparse.MDP {
		transitionReward := space.imported.transitionRewards[index]
		values, fractions = transitionReward.Values, transitionReward.Fractions
	}
	if stateCosts, err = rationalCosts(reward.State, reward.StateFractions, space.model.NumStates()); err != nil {
		return nil, nil, err
	}
	numMoves := space.model.NumTransitions()
	if space.model.Kind == sparse.MDP {
		numMoves = space.model.NumChoices()
	}
	moveCosts, err = rationalCosts(values, fractions, numMoves)
	return stateCosts, moveCosts, err
}

// rationalCosts returns fractions if the files have them. Otherwise it converts values to fractions, with nil for zero; a value that is not a whole number
// is an error, because it may have been rounded.
func rationalCosts(values []float64, fractions []*big.Rat, length int) ([]*big.Rat, error) {
	if fractions != nil {
		return fractions, nil
	}
	costs := make([]*big.Rat, length)
	for i, value := range values {
		if value == 0 {
			continue
		}
		costs[i] = new(big.Rat).SetFloat64(value)
		if costs[i] == nil || !costs[i].IsInt() {
			return nil, fmt.Errorf("found reward %v in files that were read without fractions, wanted a whole number (or use --exact)", value)
		}
	}
	return costs, nil
}
