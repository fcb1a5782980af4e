package belief

import (
	"context"
	"math"

	"tilecheck/native/solve"
)

// informedBound bounds the value of beliefs optimistically, by the value for a player who sees more.
type informedBound struct {
	*pomdp
	// q[first choice of s + k] bounds the value of action k in state s, for a player who is shown the
	// state after each step (QMDP), or before it (after improvement).
	q []float64
}

// informedRounds limits the improvements of the fast informed bound.
const informedRounds = 64

// newInformedBound computes the fast informed bound by iteration from the values of the MDP. The first
// round gives the QMDP bound.
//
// Source: Hauskrecht, Value-function approximations for partially observable Markov decision processes,
// JAIR 13 (2000), section 4.
func newInformedBound(ctx context.Context, g *pomdp, opts solve.Options) (*informedBound, error) {
	v, err := g.solve(ctx, g.Graph, opts, g.Reward)
	if err != nil {
		return nil, err
	}
	o := &informedBound{g, make([]float64, g.model.NumChoices())}
	seen := v.Upper
	if g.Direction == solve.Min {
		seen = v.Lower
	}
	for s := range g.model.NumStates() {
		for k := range g.numActions(uint32(s)) {
			o.q[o.index(s, k)] = o.backup(s, k, func(to uint32) float64 { return seen[to] })
		}
	}
	for range informedRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !o.improve() {
			break
		}
	}
	return o, nil
}

func (o *informedBound) index(s, k int) int {
	first, _ := o.model.Choices(s)
	return first + k
}

// backup returns the value of an action for given values of its targets, rounded optimistically.
func (o *informedBound) backup(s, k int, value func(uint32) float64) float64 {
	c := o.choiceOf(uint32(s), k)
	lo, hi := o.model.Row(c)
	x := 0.0
	for j := lo; j < hi; j++ {
		if to := o.model.Target[j]; !o.terminal.Has(int(to)) {
			x += o.model.Prob(j) * value(to)
		}
	}
	return o.addImmediate(s, c, x)
}

// addImmediate adds the immediate reward of a choice, or its probability of the target, to the value of
// what follows.
func (o *informedBound) addImmediate(s, c int, follows float64) float64 {
	lo, hi := o.model.Row(c)
	x := follows
	if o.Reward != nil {
		r, _ := o.rewardOf(uint32(s), c).Float64()
		x += r
	} else {
		for j := lo; j < hi; j++ {
			if o.Target.Has(int(o.model.Target[j])) {
				x += o.model.Prob(j)
			}
		}
	}
	return o.roundOptimistic(x, float64(hi-lo+8)*0x1p-53)
}

// roundOptimistic moves a value to the player's side by a relative error.
func (g *pomdp) roundOptimistic(x, off float64) float64 {
	if g.Direction == solve.Min {
		return math.Max(0, x*(1-2*off))
	}
	x *= 1 + 2*off
	if g.Reward == nil {
		return min(x, 1)
	}
	return x
}

// improve applies one round of the fast informed bound, and reports whether a value changed noticeably.
func (o *informedBound) improve() bool {
	changed := false
	next := make([]float64, len(o.q))
	for s := range o.model.NumStates() {
		for k := range o.numActions(uint32(s)) {
			i := o.index(s, k)
			next[i] = o.q[i]
			if o.terminal.Has(s) {
				continue
			}
			if x := o.informedBackup(s, k); o.better(o.q[i], x) {
				changed = changed || math.Abs(x-o.q[i]) > 1e-9*math.Abs(x)
				next[i] = x
			}
		}
	}
	o.q = next
	return changed
}

// informedBackup returns the value of an action if the player sees the next observation and the state
// before it, and then chooses the best action.
func (o *informedBound) informedBackup(s, k int) float64 {
	c := o.choiceOf(uint32(s), k)
	lo, hi := o.model.Row(c)
	done := map[uint32]bool{}
	follows := 0.0
	for j := lo; j < hi; j++ {
		to := o.model.Target[j]
		observation := o.Observation[to]
		if o.terminal.Has(int(to)) || done[observation] {
			continue
		}
		done[observation] = true
		var value []float64
		for a := range o.numActions(to) {
			x := 0.0
			for i := j; i < hi; i++ {
				if u := o.model.Target[i]; o.Observation[u] == observation {
					x += o.model.Prob(i) * o.q[o.index(int(u), a)]
				}
			}
			value = append(value, x)
		}
		follows += o.bestOf(value...)
	}
	return o.addImmediate(s, c, follows)
}

// bound returns an optimistic bound on the value of a belief.
func (o *informedBound) bound(b *belief) float64 {
	var value []float64
	for k := range o.numActions(b.states[0]) {
		x, off := b.meanFloat(func(s uint32) float64 { return o.q[o.index(int(s), k)] })
		value = append(value, o.roundOptimistic(x, off))
	}
	return o.bestOf(value...)
}
