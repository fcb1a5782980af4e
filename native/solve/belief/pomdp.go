package belief

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// Problem is a question about a POMDP: the extremal probability of Left U Target, or the extremal
// expected reward until Target is reached. The reward is infinite where Target is not reached with
// probability one.
type Problem struct {
	// Graph is an MDP with exact weights.
	Graph *sparse.Graph
	// Observation is the observation of each state.
	Observation []uint32
	// Left and Target must be unions of observations. Left is ignored if there is a Reward.
	Left, Target *sparse.Set
	// Reward must be exact; nil asks for the probability.
	Reward    *sparse.Reward
	Direction solve.Direction // Max or Min
}

// errProblem says that a Problem is not of the supported kind.
var errProblem = errors.New("want an MDP with exact weights, and the direction Max or Min")

// Observable reports whether the observation of a state decides whether the state is in the set: states with the same observation are all
// in the set, or all outside of it.
func Observable(set *sparse.Set, observation []uint32) bool {
	inSet := map[uint32]bool{} // for each observation, whether its states are in the set
	for state, stateObservation := range observation {
		earlier, found := inSet[stateObservation]
		if found && earlier != set.Has(state) {
			return false
		}
		inSet[stateObservation] = set.Has(state)
	}
	return true
}

// pomdp is a Problem prepared for belief updates.
type pomdp struct {
	Problem
	model         *sparse.Model
	actionChoices []uint32 // of each action in each state; see Model.MatchActions
	// scaledWeights are the weights times denominator, all integers.
	denominator   *big.Int
	scaledWeights []*big.Int
	// terminalStates are the states in which the outcome is decided: target states, and states outside Left.
	terminalStates *sparse.Set
}

// maxScale limits the common denominator of all weights, in bits. Every step adds that many bits to the
// weights of a belief.
const maxScale = 4096

// newPOMDP checks that a problem is supported, and prepares it: it scales all probabilities to integers over a common denominator.
func newPOMDP(problem Problem) (*pomdp, error) {
	model := problem.Graph.Model
	if model.Kind != sparse.MDP || !model.Exact() || problem.Direction > solve.Min {
		return nil, errProblem
	}
	result := &pomdp{Problem: problem, model: model, terminalStates: problem.Target}
	if problem.Reward == nil {
		result.terminalStates = problem.Left.Complement().Union(problem.Target)
	}
	var err error
	if result.actionChoices, err = model.MatchActions(problem.Observation); err != nil {
		return nil, err
	}
	if result.denominator, err = commonDenominator(model.Fractions); err != nil {
		return nil, err
	}
	for _, weight := range model.Fractions {
		scaled := new(big.Int).Mul(result.denominator, weight.Num())
		scaled.Quo(scaled, weight.Denom())
		result.scaledWeights = append(result.scaledWeights, scaled)
	}
	return result, nil
}

// commonDenominator returns the least common denominator of the probabilities. It returns an error if the denominator has more than
// maxScale bits.
func commonDenominator(probabilities []*big.Rat) (*big.Int, error) {
	result := big.NewInt(1)
	for _, probability := range probabilities {
		denominator := probability.Denom()
		gcd := new(big.Int).GCD(nil, nil, result, denominator)
		result.Mul(result, new(big.Int).Quo(denominator, gcd))
		if result.BitLen() > maxScale {
			return nil, fmt.Errorf("the probabilities have a common denominator of more than %d bits", maxScale)
		}
	}
	return result, nil
}

// numActions returns the number of actions in a state.
func (problem *pomdp) numActions(state uint32) int {
	first, end := problem.model.Choices(int(state))
	return end - first
}

// choiceOf returns the choice of an action in a state.
func (problem *pomdp) choiceOf(state uint32, action int) int {
	first, _ := problem.model.Choices(int(state))
	return int(problem.actionChoices[first+action])
}

// rewardOf returns the state reward plus the choice reward.
func (problem *pomdp) rewardOf(state uint32, choice int) *big.Rat {
	reward := new(big.Rat)
	if values := problem.Reward.StateFractions; values != nil && values[state] != nil {
		reward.Add(reward, values[state])
	}
	if values := problem.Reward.ChoiceFractions; values != nil && values[choice] != nil {
		reward.Add(reward, values[choice])
	}
	return reward
}

// isBetter reports whether left is a better value for the player than right.
func (problem *pomdp) isBetter(left, right float64) bool {
	if problem.Direction == solve.Max {
		return left > right
	}
	return left < right
}

// bestOf returns the value that is best for the player: the greatest value for a maximum, the least for a minimum.
func (problem *pomdp) bestOf(values ...float64) float64 {
	return slices.MaxFunc(values, func(a, b float64) int {
		switch {
		case problem.isBetter(a, b):
			return 1
		case problem.isBetter(b, a):
			return -1
		}
		return 0
	})
}
