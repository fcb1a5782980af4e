package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// robustNext returns bounds on the probability that the next state is one of the given states, in an interval model.
func robustNext(ctx context.Context, graph *sparse.Graph, states *sparse.Set, dir Direction, opts Options) (*Values, error) {
	return robustBounded(ctx, graph, sparse.FullSet(graph.NumStates()), states, Steps{Low: 1, High: 1}, dir, opts)
}

// robustBounded returns bounds on the probability of `left U right` with a step bound in an interval model.
func robustBounded(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	sys, err := newIntervalSystem(ctx, graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.isProbability = true
	if bound.High == Unbounded {
		if sys.values, err = robustUntil(ctx, graph, left, right, dir, opts); err != nil {
			return nil, err
		}
	}
	return sys.values, boundedUntil(sys.values, left, right, bound, sys.steps)
}

// robustCumul returns bounds on the expected reward of the first steps in an interval model.
func robustCumul(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	sys, err := newIntervalSystem(ctx, graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	return sys.values, sys.steps(sparse.FullSet(graph.NumStates()), steps)
}

// steps applies the equations of all maybe states n times.
func (sys *intervalSystem) steps(maybe *sparse.Set, n int) error {
	if sys.values.Exact != nil {
		return sys.exactSteps(maybe, n)
	}
	return sys.values.applySteps(sys.meter, n, func(_ int, lower, upper []float64) (last bool, err error) {
		changed := false
		for s := range maybe.All() {
			var work int
			lower[s], work = sys.optimum(uint32(s), false)
			upper[s], _ = sys.optimum(uint32(s), true)
			changed = changed || lower[s] != sys.values.Lower[s] || upper[s] != sys.values.Upper[s]
			if err := sys.meter.addWork(2 * work); err != nil {
				return true, err
			}
		}
		return !changed, nil
	})
}

// exactSteps applies the equations of the maybe states n times in rational arithmetic.
func (sys *intervalSystem) exactSteps(maybe *sparse.Set, n int) error {
	next := slices.Clone(sys.values.Exact)
	visit := func(s uint32) (choice uint32, work int) {
		var best *big.Rat
		for state, c := range sys.allowedChoices(s) {
			value := sys.choiceValue(state, c, sys.distribution(c))
			if isBetterRat(value, best, sys.dir.Scheduler() == Min) {
				best = value
			}
		}
		next[s] = best
		return sparse.None, 1000 + reductionCost(best)
	}
	endStep := func() { sys.values.Exact, next = next, sys.values.Exact }
	return newStepWindow(maybe).forEachStep(nil, sys.meter, n, visit, endStep)
}
