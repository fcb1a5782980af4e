package belief

import (
	"context"
	"math"

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

// newInformedBound computes the fast informed bound by iteration from the values of the fully observable MDP.
// The first round gives the QMDP bound.
//
// Source: Hauskrecht, Value-function approximations for partially observable Markov decision processes, JAIR
// 13 (2000), section 4.
func newInformedBound(ctx context.Context, g *pomdp, opts solve.Options) (*informedBound, error) {
	values, err := g.solve(ctx, g.Graph, opts, g.Reward)
	if err != nil {
		return nil, err
	}
	informed := &informedBound{g, make([]float64, g.model.NumChoices())}
	mdpValues := values.Upper
	if g.Direction == solve.Min {
		mdpValues = values.Lower
	}
	for s := range g.model.NumStates() {
		for k := range g.numActions(uint32(s)) {
			informed.actionValue[informed.index(s, k)] = informed.backupFullyObserved(s, k, func(to uint32) float64 { return mdpValues[to] })
		}
	}
	for range informedRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !informed.improve() {
			break
		}
	}
	return informed, nil
}

func (bound *informedBound) index(s, k int) int {
	first, _ := bound.model.Choices(s)
	return first + k
}

// backupFullyObserved returns the value of an action in a state, for given values of the next states, rounded
// optimistically.
func (bound *informedBound) backupFullyObserved(s, action int, value func(uint32) float64) float64 {
	choice := bound.choiceOf(uint32(s), action)
	first, end := bound.model.Row(choice)
	sum := 0.0
	for j := first; j < end; j++ {
		if target := bound.model.Target[j]; !bound.terminal.Has(int(target)) {
			sum += bound.model.Prob(j) * value(target)
		}
	}
	return bound.addImmediate(s, choice, sum)
}

// addImmediate adds to laterValue the immediate reward of a choice or, for probabilities, its probability to
// reach the target. The sum is rounded optimistically.
func (bound *informedBound) addImmediate(s, choice int, laterValue float64) float64 {
	first, end := bound.model.Row(choice)
	value := laterValue
	if bound.Reward != nil {
		reward, _ := bound.rewardOf(uint32(s), choice).Float64()
		value += reward
	} else {
		for j := first; j < end; j++ {
			if bound.Target.Has(int(bound.model.Target[j])) {
				value += bound.model.Prob(j)
			}
		}
	}
	return bound.roundOptimistic(value, float64(end-first+8)*0x1p-53)
}

// roundOptimistic moves a value by a relative error to the player's advantage: down for the minimum, up for
// the maximum.
func (g *pomdp) roundOptimistic(value, relErr float64) float64 {
	if g.Direction == solve.Min {
		return math.Max(0, value*(1-2*relErr))
	}
	value *= 1 + 2*relErr
	if g.Reward == nil {
		return min(value, 1)
	}
	return value
}

// improve applies one round of the fast informed bound, and reports whether a value changed noticeably.
func (bound *informedBound) improve() bool {
	changed := false
	next := make([]float64, len(bound.actionValue))
	for s := range bound.model.NumStates() {
		for action := range bound.numActions(uint32(s)) {
			i := bound.index(s, action)
			next[i] = bound.actionValue[i]
			if bound.terminal.Has(s) {
				continue
			}
			if value := bound.informedBackup(s, action); bound.better(bound.actionValue[i], value) {
				changed = changed || math.Abs(value-bound.actionValue[i]) > 1e-9*math.Abs(value)
				next[i] = value
			}
		}
	}
	bound.actionValue = next
	return changed
}

// informedBackup returns the value of an action if the player then sees the next observation and the state
// before it, and chooses the best action.
func (bound *informedBound) informedBackup(s, action int) float64 {
	choice := bound.choiceOf(uint32(s), action)
	first, end := bound.model.Row(choice)
	seen := map[uint32]bool{}
	laterValue := 0.0
	for j := first; j < end; j++ {
		target := bound.model.Target[j]
		observation := bound.Observation[target]
		if bound.terminal.Has(int(target)) || seen[observation] {
			continue
		}
		seen[observation] = true
		var actionValues []float64
		for nextAction := range bound.numActions(target) {
			sum := 0.0
			for i := j; i < end; i++ {
				if sameObservation := bound.model.Target[i]; bound.Observation[sameObservation] == observation {
					sum += bound.model.Prob(i) * bound.actionValue[bound.index(int(sameObservation), nextAction)]
				}
			}
			actionValues = append(actionValues, sum)
		}
		laterValue += bound.bestOf(actionValues...)
	}
	return bound.addImmediate(s, choice, laterValue)
}

// bound returns an optimistic bound on the value of a belief: the best expected value of an action, rounded outwards. For a maximum
// it is an upper bound, for a minimum a lower one.
func (bound *informedBound) bound(current *belief) float64 {
	var value []float64
	for action := range bound.numActions(current.states[0]) {
		expected, err := current.expectationFloat(func(s uint32) float64 { return bound.actionValue[bound.index(int(s), action)] })
		value = append(value, bound.roundOptimistic(expected, err))
	}
	return bound.bestOf(value...)
}
