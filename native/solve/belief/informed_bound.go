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

func (o *informedBound) index(s, k int) int {
	first, _ := o.model.Choices(s)
	return first + k
}

// backupFullyObserved returns the value of an action in a state, for given values of the next states, rounded
// optimistically.
func (o *informedBound) backupFullyObserved(s, action int, value func(uint32) float64) float64 {
	choice := o.choiceOf(uint32(s), action)
	first, end := o.model.Row(choice)
	sum := 0.0
	for j := first; j < end; j++ {
		if target := o.model.Target[j]; !o.terminal.Has(int(target)) {
			sum += o.model.Prob(j) * value(target)
		}
	}
	return o.addImmediate(s, choice, sum)
}

// addImmediate adds to laterValue the immediate reward of a choice or, for probabilities, its probability to
// reach the target. The sum is rounded optimistically.
func (o *informedBound) addImmediate(s, choice int, laterValue float64) float64 {
	first, end := o.model.Row(choice)
	value := laterValue
	if o.Reward != nil {
		reward, _ := o.rewardOf(uint32(s), choice).Float64()
		value += reward
	} else {
		for j := first; j < end; j++ {
			if o.Target.Has(int(o.model.Target[j])) {
				value += o.model.Prob(j)
			}
		}
	}
	return o.roundOptimistic(value, float64(end-first+8)*0x1p-53)
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
func (o *informedBound) improve() bool {
	changed := false
	next := make([]float64, len(o.actionValue))
	for s := range o.model.NumStates() {
		for action := range o.numActions(uint32(s)) {
			i := o.index(s, action)
			next[i] = o.actionValue[i]
			if o.terminal.Has(s) {
				continue
			}
			if value := o.informedBackup(s, action); o.better(o.actionValue[i], value) {
				changed = changed || math.Abs(value-o.actionValue[i]) > 1e-9*math.Abs(value)
				next[i] = value
			}
		}
	}
	o.actionValue = next
	return changed
}

// informedBackup returns the value of an action if the player then sees the next observation and the state
// before it, and chooses the best action.
func (o *informedBound) informedBackup(s, action int) float64 {
	choice := o.choiceOf(uint32(s), action)
	first, end := o.model.Row(choice)
	seen := map[uint32]bool{}
	laterValue := 0.0
	for j := first; j < end; j++ {
		target := o.model.Target[j]
		observation := o.Observation[target]
		if o.terminal.Has(int(target)) || seen[observation] {
			continue
		}
		seen[observation] = true
		var actionValues []float64
		for nextAction := range o.numActions(target) {
			sum := 0.0
			for i := j; i < end; i++ {
				if sameObservation := o.model.Target[i]; o.Observation[sameObservation] == observation {
					sum += o.model.Prob(i) * o.actionValue[o.index(int(sameObservation), nextAction)]
				}
			}
			actionValues = append(actionValues, sum)
		}
		laterValue += o.bestOf(actionValues...)
	}
	return o.addImmediate(s, choice, laterValue)
}

// bound returns an optimistic bound on the value of a belief.
func (o *informedBound) bound(b *belief) float64 {
	var value []float64
	for k := range o.numActions(b.states[0]) {
		x, off := b.expectationFloat(func(s uint32) float64 { return o.actionValue[o.index(int(s), k)] })
		value = append(value, o.roundOptimistic(x, off))
	}
	return o.bestOf(value...)
}
