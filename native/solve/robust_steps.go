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
	} else {
		iv.v.set(right, 1)
		if err := iv.steps(left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
	}
	if bound.Low > 0 { // as in BoundedUntil
		if err := iv.steps(left, 1); err != nil {
			return nil, err
		}
		iv.v.set(left.Complement(), 0)
		if err := iv.steps(left, bound.Low-1); err != nil {
			return nil, err
		}
	}
	return iv.v, nil
}

func robustCumul(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	iv, err := newIntervalSystem(ctx, g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	return iv.v, iv.steps(sparse.FullSet(g.NumStates()), steps)
}

// steps applies the equations of the open states n times, all at once each time.
func (iv *intervalSystem) steps(open *sparse.Set, n int) error {
	if iv.v.Exact != nil {
		return iv.exactSteps(open, n)
	}
	lower, upper := slices.Clone(iv.v.Lower), slices.Clone(iv.v.Upper)
	for range n {
		changed := false
		for s := range open.All() {
			var work int
			lower[s], work = iv.optimum(uint32(s), false)
			upper[s], _ = iv.optimum(uint32(s), true)
			changed = changed || lower[s] != iv.v.Lower[s] || upper[s] != iv.v.Upper[s]
			if err := iv.meter.addWork(2 * work); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		iv.v.Lower, lower = lower, iv.v.Lower
		iv.v.Upper, upper = upper, iv.v.Upper
		iv.meter.progress.Done++
	}
	return nil
}

func (iv *intervalSystem) exactSteps(open *sparse.Set, n int) error {
	next := slices.Clone(iv.v.Exact)
	for range n {
		for s := range open.All() {
			var best *big.Rat
			iv.forEachChoice(uint32(s), func(t, c int) {
				x := iv.choiceValue(t, c, iv.distribution(c))
				if best == nil || x.Cmp(best) != 0 && (x.Cmp(best) < 0) == (iv.dir.Scheduler() == Min) {
					best = x
				}
			})
			next[s] = best
			if err := iv.meter.addWork(1000 + reductionCost(best)); err != nil {
				return err
			}
		}
		iv.v.Exact, next = next, iv.v.Exact
		iv.meter.progress.Done++
	}
	return nil
}
