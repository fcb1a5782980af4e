package explicit

import (
	"context"
	"math"

	"tilecheck/native/space/sparse"
)

// ChoiceRewards evaluates a reward structure for the choices of packed states, exactly as Space.Reward does, for callers that keep the states
// themselves. It is not safe for concurrent use.
type ChoiceRewards struct {
	successors     *Successors
	evaluator      *rewardEvaluator
	weightErr      float64 // bounds the relative error of the weights so far
	maxTransitions int     // of a state of a Markov chain so far
}

// ChoiceRewards returns an evaluator of the reward structure Program.Rewards[index]. It uses the expander of states.
func (successors *Successors) ChoiceRewards(index int) (*ChoiceRewards, error) {
	evaluator, err := (&Space{compiled: successors.model}).newRewardEvaluator(index)
	return &ChoiceRewards{successors: successors, evaluator: evaluator}, err
}

// AppendTotals expands some packed states. For each of their choices it appends a number to totals: the reward of the state plus the reward of the choice. A
// deadlock has one number, the reward of the state. If a reward is out of range, the error is a *RangeError.
func (rewards *ChoiceRewards) AppendTotals(ctx context.Context, totals []float64, states []uint64) ([]float64, error) {
	rows, err := rewards.successors.Expand(ctx, states)
	if err != nil {
		return totals, err
	}
	actions := rewards.successors.batch.actions
	worker := rewards.successors.worker
	choice, transition := 0, 0
	for i, numChoices := range rows.Choices {
		worker.codec.unpack(worker.state, states[i*worker.codec.wordsPerState:])
		stateReward, err := rewards.evaluator.stateReward(worker.state)
		if err != nil {
			return totals, err
		}
		if numChoices == 0 {
			totals = append(totals, stateReward)
			continue
		}
		if worker.kind == sparse.MDP {
			endChoice := choice + int(numChoices)
			if totals, err = rewards.appendChoices(totals, stateReward, actions[choice:endChoice]); err != nil {
				return totals, err
			}
			choice = endChoice
			continue
		}
		rewards.weightErr = max(rewards.weightErr, rows.RelErr)
		endTransition := transition + int(rows.Transitions[choice]) // a state of a Markov chain has one choice
		chainReward, err := rewards.weightedSum(rows.Weights[transition:endTransition], actions[transition:endTransition])
		if err != nil {
			return totals, err
		}
		totals = append(totals, stateReward+chainReward)
		choice, transition = choice+1, endTransition
	}
	return totals, rewards.evaluator.rangeErr
}

// appendChoices appends the totals of the choices of an MDP's current state: the state reward plus the reward of the action of each choice.
func (rewards *ChoiceRewards) appendChoices(totals []float64, stateReward float64, actions []sparse.Action) ([]float64, error) {
	for _, action := range actions {
		choiceReward, err := rewards.evaluator.choiceReward(rewards.successors.worker.state, indexOfAction(action))
		if err != nil {
			return totals, err
		}
		totals = append(totals, stateReward+choiceReward)
	}
	return totals, nil
}

// weightedSum returns the sum of weight * reward over the transitions of the current state of a Markov chain.
func (rewards *ChoiceRewards) weightedSum(weights []float64, actions []sparse.Action) (float64, error) {
	rewards.maxTransitions = max(rewards.maxTransitions, len(weights))
	sum, limit := 0.0, math.MaxFloat64/float64(len(weights))
	for i, weight := range weights {
		weighted, err := rewards.evaluator.weightedReward(rewards.successors.worker.state, indexOfAction(actions[i]), weight, limit)
		if err != nil {
			return 0, err
		}
		sum += weighted
	}
	return sum, nil
}

// RelErr bounds the relative error of all totals so far.
func (rewards *ChoiceRewards) RelErr() float64 {
	return sumError(rewards.evaluator.structure, rewards.evaluator.relErr+rewards.weightErr, rewards.maxTransitions)
}
