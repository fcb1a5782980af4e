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
func (iv *intervalSystem) steps(maybe *sparse.Set, n int) error {
	if iv.values.Exact != nil {
		return iv.exactSteps(maybe, n)
	}
	return iv.values.applySteps(iv.meter, n, func(_ int, lower, upper []float64) (last bool, err error) {
		changed := false
		for s := range maybe.All() {
			var work int
			lower[s], work = iv.optimum(uint32(s), false)
			upper[s], _ = iv.optimum(uint32(s), true)
			changed = changed || lower[s] != iv.values.Lower[s] || upper[s] != iv.values.Upper[s]
			if err := iv.meter.addWork(2 * work); err != nil {
				return true, err
			}
		}
		return !changed, nil
	})
}

// exactSteps applies the equations of the maybe states n times in rational arithmetic.
func (iv *intervalSystem) exactSteps(maybe *sparse.Set, n int) error {
	next := slices.Clone(iv.values.Exact)
	visit := func(s uint32) (choice uint32, work int) {
		var best *big.Rat
		for state, c := range iv.allowedChoices(s) {
			value := iv.choiceValue(state, c, iv.distribution(c))
			if isBetterRat(value, best, iv.dir.Scheduler() == Min) {
				best = value
			}
		}
		next[s] = best
		return sparse.None, 1000 + reductionCost(best)
	}
	endStep := func() { iv.values.Exact, next = next, iv.values.Exact }
	return newStepWindow(maybe).forEachStep(nil, iv.meter, n, visit, endStep)
}
