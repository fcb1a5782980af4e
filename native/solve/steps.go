package solve

import (
	"context"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps is the bound of an until formula: right holds after at least Low and
// at most High steps; High may be Unbounded.
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
// with a bound on the number of steps, in a DTMC or MDP. The schedulers may
// count steps; the one chosen is in Values.Steps.
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
		sys.v.set(right, 1)
		sys.limit = sys.untilLimit(ctx, left, right, dir, opts)
		if err := sys.steps(ctx, opts, left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
		sys.limit = nil
	}
	if bound.Low > 0 {
		// From here back left must hold; it need not where right may hold already.
		if err := sys.steps(ctx, opts, left, 1); err != nil {
			return nil, err
		}
		sys.v.set(left.Complement(), 0)
		if err := sys.steps(ctx, opts, left, bound.Low-1); err != nil {
			return nil, err
		}
	}
	sys.v.Steps = sys.trace.steps(then)
	return sys.v, nil
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
	sys.reward = nil
	for s, x := range r.State {
		sys.v.Lower[s], sys.v.Upper[s] = sys.round.rewardBounds(x)
		if sys.exact() && r.StateRat[s] != nil {
			sys.v.Exact[s] = r.StateRat[s]
		}
	}
	sys.drift = sys.newDrift(opts)
	err = sys.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
	sys.v.Steps = sys.trace.steps(nil)
	return sys.v, err
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

// steps applies the equations of the open states n times, all at once each
// time; the others keep their values. Once nothing changes nothing ever will. What
// takes long in a small chain is done by squaring.
func (sys *system) steps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	if sys.exact() {
		return sys.exactSteps(ctx, opts, open, n)
	}
	meter := newMeter(ctx, opts, n)
	lower, upper := make([]float64, len(sys.v.Lower)), make([]float64, len(sys.v.Upper))
	copy(lower, sys.v.Lower)
	copy(upper, sys.v.Upper)
	states := make([]uint32, 0, open.Count())
	for s := range open.All() {
		states = append(states, uint32(s))
	}
	after, leaps := sys.leaps(states, n)
	var first *leap
	if leaps {
		first, leaps = sys.newLeap(states, lower, upper)
	}
	for i := range n {
		if leaps && i == after {
			finite, err := first.steps(meter, n)
			if err != nil {
				return err
			}
			if finite {
				first.write(sys.v)
				return nil
			}
		}
		sys.trace.beginStep()
		changed, err := sys.stepAll(states, lower, upper, meter)
		if err != nil {
			return err
		}
		if !changed {
			sys.trace.endStep(n - i)
			return nil
		}
		sys.trace.endStep(1)
		sys.v.Lower, lower = lower, sys.v.Lower
		sys.v.Upper, upper = upper, sys.v.Upper
		meter.progress.Done++
		if sys.drift != nil && sys.trace == nil && sys.round.grid == 0 && sys.drift.skip(sys.v, i+1, n-i-1) {
			return nil
		}
		if sys.tries(i+1, n-i-1) {
			if enough, err := sys.limit(lower, upper, n-i-1); enough || err != nil {
				return err
			}
		}
	}
	return nil
}

// stepAll writes what states are worth after one step. It reports whether anything changed.
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

// stepOf is stepAll for some of the states, with the number of transitions looked at.
func (sys *system) stepOf(states []uint32, lower, upper []float64) (changed bool, work int) {
	for _, s := range states {
		b := sys.after(int(s))
		lower[s], upper[s] = b.lo, b.hi
		sys.trace.setChoice(int(s), b.choice)
		changed = changed || b.lo != sys.v.Lower[s] || b.hi != sys.v.Upper[s]
		first, end := sys.g.Choices(int(s))
		work += int(sys.g.Start[end] - sys.g.Start[first])
	}
	return changed, work
}

// after is optimum for one step. A choice with one target, as most have in many models, is
// worth what that is.
func (sys *system) after(s int) best {
	g, lower, upper := sys.g, sys.v.Lower, sys.v.Upper
	b := none(sys.min)
	first, end := g.Choices(s)
	for c := first; c < end; c++ {
		i := g.Start[c]
		if g.Start[c+1] != i+1 || sys.reward != nil && sys.reward.Gain(s, c) != 0 {
			b.take(sys.eval(s, c), uint32(c), sys.min)
			continue
		}
		// As in take, written out.
		lo, hi := lower[g.Target[i]], upper[g.Target[i]]
		if sys.min {
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
