package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// acyclic computes the values of the open states in one pass, successors first, if no cycle leads
// through several of them. Otherwise it reports false. Values 0 and 1 come out exactly, since the value
// of a choice never leaves the range of its targets.
func (sys *system) acyclic(ctx context.Context, opts Options, part *sparse.Set) (bool, error) {
	order, ok := sys.g.Topological(part)
	if !ok {
		return false, nil
	}
	meter := newMeter(ctx, opts, len(order.Order))
	for i, first := range order.Start[:len(order.Start)-1] {
		states := order.Order[first:order.Start[i+1]]
		sys.solveIndependent(states)
		meter.progress.Done += len(states)
		if err := meter.addWork(4 * len(states)); err != nil {
			return true, err
		}
	}
	return true, nil
}

// solveIndependent solves states of which none is a successor of another.
func (sys *system) solveIndependent(states []uint32) {
	inParts(len(states), 1000, func(from, to int) { sys.solveEach(states[from:to]) })
}

func (sys *system) solveEach(states []uint32) {
	for _, s := range states {
		if b := sys.optimumOfSolved(int(s)); b.choice != sparse.None { // otherwise it has no choice that leaves it
			sys.v.Lower[s], sys.v.Upper[s] = b.lo, b.hi
		}
	}
}

// optimumOfSolved is optimum for a state whose other successors are all solved. A choice that only
// loops has value 0.
func (sys *system) optimumOfSolved(s int) best {
	m := sys.g.Model
	b := noBest(sys.min)
	first, end := m.Choices(s)
	for c := first; c < end; c++ {
		i, j := m.Row(c)
		switch t := m.Target[i]; {
		case j > i+1:
			b.take(sys.eval(s, c), uint32(c), sys.min)
		case int(t) != s:
			b.take(choiceBounds{sys.v.Lower[t], sys.v.Upper[t], true}, uint32(c), sys.min)
		case sys.min:
			return noBest(true)
		}
	}
	b.hi = min(b.hi, 1)
	b.lo = min(b.lo, b.hi)
	return b
}
