package solve

import (
	"context"

	"tilecheck/native/explicit/sparse"
)

// acyclic gives the states of a part their probabilities if no cycle leads
// through several of them. One pass, successors first, then suffices, and what
// is zero or one comes out as such: the value of a choice is never outside the
// values of its targets. It reports whether there was no cycle.
func (y *system) acyclic(ctx context.Context, opts Options, part *sparse.Set) (bool, error) {
	order, ok := y.g.Topological(part)
	if !ok {
		return false, nil
	}
	mt := newMeter(ctx, opts, len(order.Order))
	for i, first := range order.Start[:len(order.Start)-1] {
		states := order.Order[first:order.Start[i+1]]
		y.independent(states)
		mt.progress.Done += len(states)
		if err := mt.did(4 * len(states)); err != nil {
			return true, err
		}
	}
	return true, nil
}

// independent gives values to states none of which is a successor of another.
func (y *system) independent(states []uint32) {
	inParts(len(states), 1000, func(from, to int) { y.each(states[from:to]) })
}

func (y *system) each(states []uint32) {
	for _, s := range states {
		if b := y.settled(int(s)); b.choice != sparse.None { // otherwise nothing is ever reached
			y.v.Lower[s], y.v.Upper[s] = b.lo, b.hi
		}
	}
}

// settled is optimum for a state all of whose other successors have their
// values. A choice that never leaves the state never reaches anything.
func (y *system) settled(s int) best {
	m := y.g.Model
	b := none(y.min)
	first, end := m.Choices(s)
	for c := first; c < end; c++ {
		i, j := m.Row(c)
		switch t := m.Target[i]; {
		case j > i+1:
			b.take(y.eval(s, c), uint32(c), y.min)
		case int(t) != s:
			b.take(row{y.v.Lower[t], y.v.Upper[t], true}, uint32(c), y.min)
		case y.min:
			return none(true)
		}
	}
	b.hi = min(b.hi, 1)
	b.lo = min(b.lo, b.hi)
	return b
}
