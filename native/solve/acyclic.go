package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// solveAcyclic computes the values of the maybe states in one pass, successors first. It returns false, and
// computes nothing, if a cycle leads through several of them. Values 0 and 1 come out exactly, since the
// value of a choice never leaves the range of its targets.
func (sys *system) solveAcyclic(ctx context.Context, opts Options, maybe *sparse.Set) (bool, error) {
	order, ok := sys.graph.Topological(maybe)
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

// solveIndependent solves states that are not successors of one another, in parallel.
func (sys *system) solveIndependent(states []uint32) {
	inParallelParts(len(states), 1000, func(from, to int) { sys.solveEach(states[from:to]) })
}

func (sys *system) solveEach(states []uint32) {
	for _, s := range states {
		if bounds := sys.optimumOfSolved(int(s)); bounds.choice != sparse.None { // otherwise it has no choice that leaves it
			sys.values.Lower[s], sys.values.Upper[s] = bounds.lower, bounds.upper
		}
	}
}

// optimumOfSolved returns the optimum over the choices of state s, when all successors except s itself are
// solved. A choice that only loops has value 0.
func (sys *system) optimumOfSolved(s int) bestBounds {
	model := sys.graph.Model
	optimum := emptyBestBounds(sys.minimize)
	first, end := model.Choices(s)
	for c := first; c < end; c++ {
		row, rowEnd := model.Row(c)
		switch target := model.Target[row]; {
		case rowEnd > row+1:
			optimum.include(sys.evaluateChoice(s, c), uint32(c), sys.minimize)
		case int(target) != s:
			optimum.include(choiceBounds{sys.values.Lower[target], sys.values.Upper[target], true}, uint32(c), sys.minimize)
		case sys.minimize:
			return emptyBestBounds(true)
		}
	}
	optimum.upper = min(optimum.upper, 1)
	optimum.lower = min(optimum.lower, optimum.upper)
	return optimum
}
