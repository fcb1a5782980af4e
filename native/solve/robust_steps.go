package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

func robustNext(ctx context.Context, g *sparse.Graph, x *sparse.Set, dir Direction, opts Options) (*Values, error) {
	return robustBounded(ctx, g, sparse.FullSet(g.NumStates()), x, Steps{Low: 1, High: 1}, dir, opts)
}

// robustBounded is BoundedUntil. Scheduler and nature may count steps.
func robustBounded(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	iv, err := newIntervalSystem(ctx, g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	iv.prob = true
	if bound.High == Unbounded {
		if iv.v, err = robustUntil(ctx, g, left, right, dir, opts); err != nil {
			return nil, err
		}
	}
	return iv.v, boundedUntil(iv.v, left, right, bound, iv.steps)
}

func robustCumul(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	iv, err := newIntervalSystem(ctx, g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	return iv.v, iv.steps(sparse.FullSet(g.NumStates()), steps)
}

// steps applies the equations of the open states n times, to all of them at once.
func (iv *intervalSystem) steps(open *sparse.Set, n int) error {
	if iv.v.Exact != nil {
		return iv.exactSteps(open, n)
	}
	return iv.v.applySteps(iv.meter, n, func(_ int, lower, upper []float64) (last bool, err error) {
		changed := false
		for s := range open.All() {
			var work int
			lower[s], work = iv.optimum(uint32(s), false)
			upper[s], _ = iv.optimum(uint32(s), true)
			changed = changed || lower[s] != iv.v.Lower[s] || upper[s] != iv.v.Upper[s]
			if err := iv.meter.addWork(2 * work); err != nil {
				return true, err
			}
		}
		return !changed, nil
	})
}

func (iv *intervalSystem) exactSteps(open *sparse.Set, n int) error {
	next := slices.Clone(iv.v.Exact)
	return newStepWindow(open).forEachStep(nil, iv.meter, n, func(s uint32) (uint32, int) {
		var best *big.Rat
		iv.forEachChoice(s, func(t, c int) {
			x := iv.choiceValue(t, c, iv.distribution(c))
			if best == nil || x.Cmp(best) != 0 && (x.Cmp(best) < 0) == (iv.dir.Scheduler() == Min) {
				best = x
			}
		})
		next[s] = best
		return sparse.None, 1000 + reductionCost(best)
	}, func() { iv.v.Exact, next = next, iv.v.Exact })
}
