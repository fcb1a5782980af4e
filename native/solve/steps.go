package solve

import (
	"context"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps is the step bound of an until formula: right holds after at least Low and at most High steps. High may be
// Unbounded.
type Steps struct{ Low, High int }

// Next returns bounds on the extremal probability that x holds after one step,
// in a CTMC after the first transition.
func Next(ctx context.Context, g *sparse.Graph, x *sparse.Set, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustNext(ctx, g, x, dir, opts)
	}
	sys, err := newStepwise(g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.prob = true
	sys.v.set(x, 1)
	err = sys.steps(ctx, opts, sparse.FullSet(g.NumStates()), 1)
	sys.v.Scheduler = sys.trace.first()
	return sys.v, err
}

// BoundedUntil returns bounds on the extremal probability of `left U right`
// with a bound on the number of steps, in a DTMC or MDP. Schedulers may count
// steps; the optimal one is in Values.Steps.
func BoundedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustBounded(ctx, g, left, right, bound, dir, opts)
	}
	if bound.Low > 0 {
		opts.Within = nil
	}
	sys, err := newStepwise(g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.prob = true
	var then []uint32 // the choices after all steps that are counted
	if bound.High == Unbounded {
		v, err := Until(ctx, g, left, right, dir, opts)
		if err != nil {
			return nil, err
		}
		sys.v, then, v.Scheduler = v, v.Scheduler, nil
	} else {
		sys.limit = sys.untilLimit(ctx, left, right, dir, opts)
	}
	err = boundedUntil(sys.v, left, right, bound, func(open *sparse.Set, n int) error {
		err := sys.steps(ctx, opts, open, n)
		sys.limit = nil // it holds until the first step in which right counts
		return err
	})
	if err != nil {
		return nil, err
	}
	sys.v.Steps = sys.trace.steps(then)
	return sys.v, nil
}

// boundedUntil computes `left U right` with a bound on the number of steps, backwards from the last step. If there is
// no upper bound, v has the values without any bound. steps applies the equations of the open states n times to v.
func boundedUntil(v *Values, left, right *sparse.Set, bound Steps, steps func(open *sparse.Set, n int) error) error {
	if bound.High != Unbounded {
		v.set(right, 1)
		if err := steps(left.Minus(right), bound.High-bound.Low); err != nil {
			return err
		}
	}
	if bound.Low == 0 {
		return nil
	}
	// After Low steps right may hold instead of left. Before that, left must hold.
	if err := steps(left, 1); err != nil {
		return err
	}
	v.set(left.Complement(), 0)
	return steps(left, bound.Low-1)
}

// CumulReward returns bounds on the extremal expected reward of the first steps
// of a DTMC or MDP.
func CumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustCumul(ctx, g, r, steps, dir, opts)
	}
	sys, err := newStepwise(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.drift = sys.newDrift(opts)
	err = sys.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
	sys.v.Steps = sys.trace.steps(nil)
	return sys.v, err
}

// InstantReward returns bounds on the extremal expected state reward after the
// given number of steps of a DTMC or MDP. Rewards of choices do not count.
func InstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	sys, err := newStepwise(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.setStateRewards(r)
	sys.drift = sys.newDrift(opts)
	err = sys.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
	sys.v.Steps = sys.trace.steps(nil)
	return sys.v, err
}

// setStateRewards makes the state rewards the values after the last step. No step earns a reward then.
func (sys *system) setStateRewards(r *sparse.Reward) {
	sys.reward = nil
	for s, x := range r.State {
		sys.v.Lower[s], sys.v.Upper[s] = sys.round.rewardBounds(x)
		if sys.exact() && r.StateRat[s] != nil {
			sys.v.Exact[s] = r.StateRat[s]
		}
	}
}

func newStepwise(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*system, error) {
	trace := newStepScheduler(g.Model, opts)
	opts.Scheduler = false
	sys, err := newSystem(g, r, dir, opts)
	if err == nil {
		sys.step, sys.trace = true, trace
	}
	return sys, err
}

// steps applies the equations of the open states n times, to all of them at once. The other states keep their values.
// In a small chain it takes many steps by squaring a matrix.
func (sys *system) steps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	if sys.exact() {
		return sys.exactSteps(ctx, opts, open, n)
	}
	meter := newMeter(ctx, opts, n)
	states := make([]uint32, 0, open.Count())
	for s := range open.All() {
		states = append(states, uint32(s))
	}
	var dense *denseSteps
	denseAfter, ok := sys.denseAfter(states, n)
	if ok {
		dense, ok = sys.newDenseSteps(states)
	}
	return sys.v.applySteps(meter, n, func(done int, lower, upper []float64) (last bool, err error) {
		if sys.drift != nil && sys.trace == nil && sys.round.grid == 0 && sys.drift.skip(sys.v, done, n-done) {
			return true, nil
		}
		if sys.triesLimit(done, n-done) {
			if enough, err := sys.limit(lower, upper, n-done); enough || err != nil {
				return true, err
			}
		}
		if ok && done == denseAfter {
			finite, err := dense.steps(meter, n)
			if finite {
				dense.write(sys.v)
			}
			if finite || err != nil {
				return true, err
			}
		}
		sys.trace.beginStep()
		changed, err := sys.stepAll(states, lower, upper, meter)
		switch {
		case err != nil:
			return true, err
		case !changed: // so no later step changes anything
			sys.trace.endStep(n - done)
			return true, nil
		}
		sys.trace.endStep(1)
		return false, nil
	})
}

// applySteps replaces the bounds n times by those after one more step. step gets the number of steps done, and writes
// new bounds to lower and upper, which have the bounds before the last step. It returns true if the bounds are final
// as they are.
func (v *Values) applySteps(meter *meter, n int, step func(done int, lower, upper []float64) (last bool, err error)) error {
	lower, upper := slices.Clone(v.Lower), slices.Clone(v.Upper)
	for i := range n {
		if last, err := step(i, lower, upper); last || err != nil {
			return err
		}
		v.Lower, lower = lower, v.Lower
		v.Upper, upper = upper, v.Upper
		meter.progress.Done++
	}
	return nil
}

// stepAll writes the bounds of the states after one step. It reports whether anything changed.
func (sys *system) stepAll(states []uint32, lower, upper []float64, meter *meter) (changed bool, err error) {
	const block = 1 << 16
	for from := 0; from < len(states); from += block {
		part := states[from:min(from+block, len(states))]
		var other atomic.Bool
		var work atomic.Int64
		inParts(len(part), 1<<11, func(from, to int) {
			changed, did := sys.stepOf(part[from:to], lower, upper)
			work.Add(int64(did))
			if changed {
				other.Store(true)
			}
		})
		changed = changed || other.Load()
		if err := meter.addWork(int(work.Load())); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// stepOf is stepAll for some of the states. work is the number of their transitions.
func (sys *system) stepOf(states []uint32, lower, upper []float64) (changed bool, work int) {
	for _, s := range states {
		b := sys.stepOptimum(int(s))
		lower[s], upper[s] = b.lo, b.hi
		sys.trace.setChoice(int(s), b.choice)
		changed = changed || b.lo != sys.v.Lower[s] || b.hi != sys.v.Upper[s]
		first, end := sys.g.Choices(int(s))
		work += int(sys.g.Start[end] - sys.g.Start[first])
	}
	return changed, work
}

// stepOptimum is optimum for one step. A choice without reward and with one target has the bounds of the target.
func (sys *system) stepOptimum(s int) best {
	g, lower, upper := sys.g, sys.v.Lower, sys.v.Upper
	least := sys.minimizes(s)
	b := noBest(least)
	first, end := g.Choices(s)
	for c := first; c < end; c++ {
		i := g.Start[c]
		if g.Start[c+1] != i+1 || sys.reward != nil && sys.reward.OfChoice(s, c) != 0 {
			b.take(sys.eval(s, c), uint32(c), least)
			continue
		}
		// As in best.take, inlined.
		lo, hi := lower[g.Target[i]], upper[g.Target[i]]
		if least {
			if hi < b.hi || b.choice == sparse.None {
				b.hi, b.choice = hi, uint32(c)
			}
			b.lo = min(b.lo, lo)
			continue
		}
		if lo > b.lo {
			b.lo, b.choice = lo, uint32(c)
		}
		b.hi = max(b.hi, hi)
	}
	if sys.prob {
		b.hi = min(b.hi, 1)
	}
	b.lo = min(b.lo, b.hi)
	return b
}
