package belief

import (
	"context"
	"math"

	"tilecheck/native/explicit/solve"
)

// optimist bounds what beliefs are worth from the player's good side: by what they
// are worth to somebody who sees more.
type optimist struct {
	*game
	// q bounds, for the k-th action of a state, at its first choice + k, what it is worth
	// to a player who is shown the state now and then.
	q []float64
}

// informedRounds is how often the fast informed bound is improved.
const informedRounds = 64

// newOptimist computes the fast informed bound, beginning with the values of the MDP:
// one round is QMDP.
//
// Source: Hauskrecht, Value-function approximations for partially observable Markov
// decision processes, JAIR 13 (2000), section 4.
func newOptimist(ctx context.Context, g *game, opts solve.Options) (*optimist, error) {
	v, err := g.solve(ctx, g.Graph, opts, g.Reward)
	if err != nil {
		return nil, err
	}
	o := &optimist{g, make([]float64, g.m.NumChoices())}
	seen := v.Upper
	if g.Direction == solve.Min {
		seen = v.Lower
	}
	for s := range g.m.NumStates() {
		for k := range g.actions(uint32(s)) {
			o.q[o.slot(s, k)] = o.after(s, k, func(to uint32) float64 { return seen[to] })
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

func (o *optimist) slot(s, k int) int {
	first, _ := o.m.Choices(s)
	return first + k
}

// after returns what an action is worth if its targets are worth so much, rounded to
// the good side.
func (o *optimist) after(s, k int, value func(uint32) float64) float64 {
	c := o.at(uint32(s), k)
	lo, hi := o.m.Row(c)
	x := 0.0
	for j := lo; j < hi; j++ {
		if to := o.m.Target[j]; !o.over.Has(int(to)) {
			x += o.m.Prob(j) * value(to)
		}
	}
	return o.with(s, c, x)
}

// with adds what an action earns at once to what follows.
func (o *optimist) with(s, c int, follows float64) float64 {
	lo, hi := o.m.Row(c)
	x := follows
	if o.Reward != nil {
		r, _ := o.earned(uint32(s), c).Float64()
		x += r
	} else {
		for j := lo; j < hi; j++ {
			if o.Target.Has(int(o.m.Target[j])) {
				x += o.m.Prob(j)
			}
		}
	}
	return o.round(x, float64(hi-lo+8)*0x1p-53)
}

// round moves a value to the good side by a relative error.
func (g *game) round(x, off float64) float64 {
	if g.Direction == solve.Min {
		return math.Max(0, x*(1-2*off))
	}
	x *= 1 + 2*off
	if g.Reward == nil {
		return min(x, 1)
	}
	return x
}

// improve does a round, and reports whether anything has changed much.
func (o *optimist) improve() bool {
	changed := false
	next := make([]float64, len(o.q))
	for s := range o.m.NumStates() {
		for k := range o.actions(uint32(s)) {
			i := o.slot(s, k)
			next[i] = o.q[i]
			if o.over.Has(s) {
				continue
			}
			if x := o.informed(s, k); o.better(o.q[i], x) {
				changed = changed || math.Abs(x-o.q[i]) > 1e-9*math.Abs(x)
				next[i] = x
			}
		}
	}
	o.q = next
	return changed
}

// informed is after where the player chooses again knowing what is shown next, and
// the state it came from.
func (o *optimist) informed(s, k int) float64 {
	c := o.at(uint32(s), k)
	lo, hi := o.m.Row(c)
	done := map[uint32]bool{}
	follows := 0.0
	for j := lo; j < hi; j++ {
		to := o.m.Target[j]
		shown := o.Observation[to]
		if o.over.Has(int(to)) || done[shown] {
			continue
		}
		done[shown] = true
		var worth []float64
		for a := range o.actions(to) {
			x := 0.0
			for i := j; i < hi; i++ {
				if u := o.m.Target[i]; o.Observation[u] == shown {
					x += o.m.Prob(i) * o.q[o.slot(int(u), a)]
				}
			}
			worth = append(worth, x)
		}
		follows += o.best(worth...)
	}
	return o.with(s, c, follows)
}

// bound is the cut-off of a belief: no player is worth more under it.
func (o *optimist) bound(b *belief) float64 {
	var worth []float64
	for k := range o.actions(b.states[0]) {
		x, off := b.estimate(func(s uint32) float64 { return o.q[o.slot(int(s), k)] })
		worth = append(worth, o.round(x, off))
	}
	return o.best(worth...)
}
