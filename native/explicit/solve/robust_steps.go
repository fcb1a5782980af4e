package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

func robustNext(ctx context.Context, g *sparse.Graph, x *sparse.Set, dir Direction, opts Options) (*Values, error) {
	return robustBounded(ctx, g, sparse.FullSet(g.NumStates()), x, Steps{Low: 1, High: 1}, dir, opts)
}

// robustBounded is BoundedUntil. Scheduler and nature may count steps.
func robustBounded(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	y, err := newRobust(ctx, g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	y.prob = true
	if bound.High == Unbounded {
		if y.v, err = robustUntil(ctx, g, left, right, dir, opts); err != nil {
			return nil, err
		}
	} else {
		y.v.set(right, 1)
		if err := y.steps(left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
	}
	if bound.Low > 0 { // as in BoundedUntil
		if err := y.steps(left, 1); err != nil {
			return nil, err
		}
		y.v.set(left.Complement(), 0)
		if err := y.steps(left, bound.Low-1); err != nil {
			return nil, err
		}
	}
	return y.v, nil
}

func robustCumul(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	y, err := newRobust(ctx, g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	return y.v, y.steps(sparse.FullSet(g.NumStates()), steps)
}

// steps applies the equations of the open states n times, all at once each time.
func (y *robust) steps(open *sparse.Set, n int) error {
	if y.v.Exact != nil {
		return y.exactSteps(open, n)
	}
	lower, upper := slices.Clone(y.v.Lower), slices.Clone(y.v.Upper)
	for range n {
		changed := false
		for s := range open.All() {
			var work int
			lower[s], work = y.optimum(uint32(s), false)
			upper[s], _ = y.optimum(uint32(s), true)
			changed = changed || lower[s] != y.v.Lower[s] || upper[s] != y.v.Upper[s]
			if err := y.mt.did(2 * work); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		y.v.Lower, lower = lower, y.v.Lower
		y.v.Upper, upper = upper, y.v.Upper
		y.mt.progress.Done++
	}
	return nil
}

func (y *robust) exactSteps(open *sparse.Set, n int) error {
	next := slices.Clone(y.v.Exact)
	for range n {
		for s := range open.All() {
			var best *big.Rat
			y.each(uint32(s), func(t, c int) {
				x := y.worth(t, c, y.distribution(c))
				if best == nil || x.Cmp(best) != 0 && (x.Cmp(best) < 0) == (y.dir.Scheduler() == Min) {
					best = x
				}
			})
			next[s] = best
			if err := y.mt.did(1000 + effort(best)); err != nil {
				return err
			}
		}
		y.v.Exact, next = next, y.v.Exact
		y.mt.progress.Done++
	}
	return nil
}
