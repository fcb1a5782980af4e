package solve

import (
	"context"
	"sync/atomic"

	"tilecheck/native/explicit/sparse"
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
	y, err := newStepwise(g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	y.prob = true
	y.v.set(x, 1)
	err = y.steps(ctx, opts, sparse.FullSet(g.NumStates()), 1)
	y.v.Scheduler = y.trace.first()
	return y.v, err
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
	y, err := newStepwise(g, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	y.prob = true
	var then []uint32 // the choices after all steps that are counted
	if bound.High == Unbounded {
		v, err := Until(ctx, g, left, right, dir, opts)
		if err != nil {
			return nil, err
		}
		y.v, then, v.Scheduler = v, v.Scheduler, nil
	} else {
		y.v.set(right, 1)
		if err := y.steps(ctx, opts, left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
	}
	if bound.Low > 0 {
		// From here back left must hold; it need not where right may hold already.
		if err := y.steps(ctx, opts, left, 1); err != nil {
			return nil, err
		}
		y.v.set(left.Complement(), 0)
		if err := y.steps(ctx, opts, left, bound.Low-1); err != nil {
			return nil, err
		}
	}
	y.v.Steps = y.trace.steps(then)
	return y.v, nil
}

// CumulReward returns bounds on the extremal expected reward of the first steps
// of a DTMC or MDP.
func CumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	if g.Intervals() {
		return robustCumul(ctx, g, r, steps, dir, opts)
	}
	y, err := newStepwise(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	err = y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
	y.v.Steps = y.trace.steps(nil)
	return y.v, err
}

// InstantReward returns bounds on the extremal expected state reward after the
// given number of steps of a DTMC or MDP. Rewards of choices do not count.
func InstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	y, err := newStepwise(g, r, dir, opts)
	if err != nil {
		return nil, err
	}
	y.reward = nil
	for s, x := range r.State {
		y.v.Lower[s], y.v.Upper[s] = y.round.given(x)
		if y.exact() && r.StateRat[s] != nil {
			y.v.Exact[s] = r.StateRat[s]
		}
	}
	err = y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
	y.v.Steps = y.trace.steps(nil)
	return y.v, err
}

func newStepwise(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) (*system, error) {
	trace := newTrace(g.Model, opts)
	opts.Scheduler = false
	y, err := newSystem(g, r, dir, opts)
	if err == nil {
		y.step, y.trace = true, trace
	}
	return y, err
}

// steps applies the equations of the open states n times, all at once each
// time; the others keep their values. Once nothing changes nothing ever will. What
// takes long in a small chain is done by squaring.
func (y *system) steps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	if y.exact() {
		return y.exactSteps(ctx, opts, open, n)
	}
	mt := newMeter(ctx, opts, n)
	lower, upper := make([]float64, len(y.v.Lower)), make([]float64, len(y.v.Upper))
	copy(lower, y.v.Lower)
	copy(upper, y.v.Upper)
	states := make([]uint32, 0, open.Count())
	for s := range open.All() {
		states = append(states, uint32(s))
	}
	after, leaps := y.leaps(states, n)
	var first *leap
	if leaps {
		first, leaps = y.newLeap(states, lower, upper)
	}
	for i := range n {
		if leaps && i == after {
			finite, err := first.steps(mt, n)
			if err != nil {
				return err
			}
			if finite {
				first.write(y.v)
				return nil
			}
		}
		y.trace.begin()
		changed, err := y.stepAll(states, lower, upper, mt)
		if err != nil {
			return err
		}
		if !changed {
			y.trace.end(n - i)
			return nil
		}
		y.trace.end(1)
		y.v.Lower, lower = lower, y.v.Lower
		y.v.Upper, upper = upper, y.v.Upper
		mt.progress.Done++
	}
	return nil
}

// stepAll writes what states are worth after one step. It reports whether anything changed.
func (y *system) stepAll(states []uint32, lower, upper []float64, mt *meter) (changed bool, err error) {
	const block = 1 << 16
	for from := 0; from < len(states); from += block {
		part := states[from:min(from+block, len(states))]
		var other atomic.Bool
		var work atomic.Int64
		inParts(len(part), 1<<11, func(from, to int) {
			changed, did := y.stepOf(part[from:to], lower, upper)
			work.Add(int64(did))
			if changed {
				other.Store(true)
			}
		})
		changed = changed || other.Load()
		if err := mt.did(int(work.Load())); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// stepOf is stepAll for some of the states, with the number of transitions looked at.
func (y *system) stepOf(states []uint32, lower, upper []float64) (changed bool, work int) {
	for _, s := range states {
		b := y.after(int(s))
		lower[s], upper[s] = b.lo, b.hi
		y.trace.note(int(s), b.choice)
		changed = changed || b.lo != y.v.Lower[s] || b.hi != y.v.Upper[s]
		first, end := y.g.Choices(int(s))
		work += int(y.g.Start[end] - y.g.Start[first])
	}
	return changed, work
}

// after is optimum for one step. A choice with one target, as most have in many models, is
// worth what that is.
func (y *system) after(s int) best {
	g, lower, upper := y.g, y.v.Lower, y.v.Upper
	b := none(y.min)
	first, end := g.Choices(s)
	for c := first; c < end; c++ {
		i := g.Start[c]
		if g.Start[c+1] != i+1 || y.reward != nil && y.reward.Gain(s, c) != 0 {
			b.take(y.eval(s, c), uint32(c), y.min)
			continue
		}
		// As in take, written out.
		lo, hi := lower[g.Target[i]], upper[g.Target[i]]
		if y.min {
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
	if y.prob {
		b.hi = min(b.hi, 1)
	}
	b.lo = min(b.lo, b.hi)
	return b
}
