package belief

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/solve"
)

// informedBound bounds the value of beliefs optimistically, by the value for a player who sees more.
type informedBound struct {
	*pomdp
	// actionValue[first choice of s + k] bounds the value of action k in state s, for a player who is shown the
	// state after each step (QMDP), or before it (after improvement).
	actionValue []float64
}

// informedRounds limits the improvements of the fast informed bound.
const informedRounds = 64

// newInformedBound computes the fast informed bound: an optimistic bound on the value of each action in each state. It starts from the
// values of the fully observable MDP (the QMDP bound), and improves them in at most informedRounds rounds.
//
// Source: Hauskrecht, Value-function approximations for partially observable Markov decision processes, JAIR
// 13 (2000), section 4.
func newInformedBound(ctx context.Context, problem *pomdp, opts solve.Options) (*informedBound, error) {
	values, err := problem.solveModel(ctx, problem.Graph, opts, problem.Reward)
	if err != nil {
		return nil, err
	}
	bound := &informedBound{problem, make([]float64, problem.model.NumChoices())}
	mdpValues := problem.optimisticBounds(values)
	for state := range problem.model.NumStates() {
		for action := range problem.numActions(uint32(state)) {
			bound.actionValue[bound.actionIndex(state, action)] = bound.backupFullyObserved(state, action, mdpValues)
		}
	}
	for range informedRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !bound.improveActions() {
			break
		}
	}
	return bound, nil
}

// actionIndex returns the index of an action of a state in actionValue.
func (bound *informedBound) actionIndex(state, action int) int {
	first, _ := bound.model.Choices(state)
	return first + action
}

// backupFullyObserved returns an optimistic bound on the value of an action in a state, for a player who will see the next state. values has bounds on the
// values of the states.
func (bound *informedBound) backupFullyObserved(state, action int, values []float64) float64 {
	choice := bound.choiceOf(uint32(state), action)
	first, end := bound.model.Transitions(choice)
	sum := 0.0
	for transition := first; transition < end; transition++ {
		if target := bound.model.Target[transition]; !bound.terminalStates.Has(int(target)) {
			sum += bound.model.Prob(transition) * values[target]
		}
	}
	return bound.addImmediate(state, choice, sum)
}

// addImmediate returns laterValue plus what a choice gives at once: its reward or, if the problem is a probability, its probability of moving to the target.
// The sum is rounded optimistically.
func (bound *informedBound) addImmediate(state, choice int, laterValue float64) float64 {
	first, end := bound.model.Transitions(choice)
	relErr := float64(end-first+8) * 0x1p-53 // each term rounds once; 8 is for the other operations
	if bound.Reward != nil {
		reward, _ := bound.rewardOf(uint32(state), choice).Float64()
		return bound.roundOptimistic(laterValue+reward, relErr)
	}
	value := laterValue
	for transition := first; transition < end; transition++ {
		if bound.Target.Has(int(bound.model.Target[transition])) {
			value += bound.model.Prob(transition)
		}
	}
	return bound.roundOptimistic(value, relErr)
}

// roundOptimistic moves a value by a relative error: down for a minimum, up for a maximum.
func (problem *pomdp) roundOptimistic(value, relErr float64) float64 {
	if problem.Direction == solve.Min {
		return math.Max(0, value*(1-2*relErr))
	}
	value *= 1 + 2*relErr
	if problem.Reward == nil {
		return min(value, 1)
	}
	return value
}

// improveActions performs one round of the fast informed bound on all actions. It reports whether a value changed noticeably.
func (bound *informedBound) improveActions() (changed bool) {
	newValues := slices.Clone(bound.actionValue)
	for state := range bound.model.NumStates() {
		if bound.terminalStates.Has(state) {
			continue
		}
		for action := range bound.numActions(uint32(state)) {
			if bound.improveAction(newValues, state, action) {
				changed = true
			}
		}
	}
	bound.actionValue = newValues
	return changed
}

// improveAction computes a new bound on the value of an action, and stores it in newValues if it is tighter than the old one. It reports whether the bound
// changed noticeably.
func (bound *informedBound) improveAction(newValues []float64, state, action int) (changed bool) {
	const noticeableShare = 1e-9 // smaller relative changes do not count as noticeable
	i := bound.actionIndex(state, action)
	oldValue, value := bound.actionValue[i], bound.informedBackup(state, action)
	if !bound.isBetter(oldValue, value) { // the old bound is optimistic, so it is replaced only by a bound that is worse for the player
		return false
	}
	newValues[i] = value
	return math.Abs(value-oldValue) > noticeableShare*math.Abs(value)
}

// informedBackup returns an optimistic bound on the value of an action in a state, for a player who knows this state, but will see only the observation of
// the next state. So the next action must be the same for all next states with equal observations.
func (bound *informedBound) informedBackup(state, action int) float64 {
	choice := bound.choiceOf(uint32(state), action)
	first, end := bound.model.Transitions(choice)
	isAdded := map[uint32]bool{} // the observations whose transitions are part of laterValue
	laterValue := 0.0
	for transition := first; transition < end; transition++ {
		target := bound.model.Target[transition]
		observation := bound.Observation[target]
		if bound.terminalStates.Has(int(target)) || isAdded[observation] {
			continue
		}
		isAdded[observation] = true
		laterValue += bound.bestNextValue(transition, end, observation)
	}
	return bound.addImmediate(state, choice, laterValue)
}

// bestNextValue returns the value of the best next action after an observation, multiplied by the probability of the observation. Transition first has this
// observation; the others with it are between first and end-1.
func (bound *informedBound) bestNextValue(first, end int, observation uint32) float64 {
	actionValues := make([]float64, bound.numActions(bound.model.Target[first]))
	for transition := first; transition < end; transition++ {
		target := bound.model.Target[transition]
		if bound.Observation[target] != observation {
			continue
		}
		for action := range actionValues {
			actionValues[action] += bound.model.Prob(transition) * bound.actionValue[bound.actionIndex(int(target), action)]
		}
	}
	return bound.bestOf(actionValues...)
}

// beliefBound returns an optimistic bound on the value of a belief: the best expected value of an action, rounded optimistically.
func (bound *informedBound) beliefBound(current *belief) float64 {
	var values []float64
	for action := range bound.numActions(current.states[0]) {
		valueIn := func(state uint32) float64 { return bound.actionValue[bound.actionIndex(int(state), action)] }
		expected, relErr := current.expectationFloat(valueIn)
		values = append(values, bound.roundOptimistic(expected, relErr))
	}
	return bound.bestOf(values...)
}
