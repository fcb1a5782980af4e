package solve

import (
	"context"
	"math"
	"math/big"

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
	y := newStepwise(g, nil, dir, opts)
	y.prob = true
	y.v.set(x, 1)
	return y.v, y.steps(ctx, opts, sparse.FullSet(g.NumStates()), 1)
}

// BoundedUntil returns bounds on the extremal probability of `left U right`
// with a bound on the number of steps, in a DTMC or MDP. The schedulers may
// count steps; none is returned.
func BoundedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	y := newStepwise(g, nil, dir, opts)
	y.prob = true
	if bound.High == Unbounded {
		opts.Scheduler = false
		v, err := Until(ctx, g, left, right, dir, opts)
		if err != nil {
			return nil, err
		}
		y.v = v
	} else {
		y.v.set(right, 1)
		if err := y.steps(ctx, opts, left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
	}
	if bound.Low == 0 {
		return y.v, nil
	}
	// From here back left must hold; it need not where right may hold already.
	if err := y.steps(ctx, opts, left, 1); err != nil {
		return nil, err
	}
	y.v.set(left.Complement(), 0)
	return y.v, y.steps(ctx, opts, left, bound.Low-1)
}

// CumulReward returns bounds on the extremal expected reward of the first steps
// of a DTMC or MDP.
func CumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	y := newStepwise(g, r, dir, opts)
	y.reward = r
	return y.v, y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
}

// InstantReward returns bounds on the extremal expected state reward after the
// given number of steps of a DTMC or MDP. Rewards of choices do not count.
func InstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	y := newStepwise(g, r, dir, opts)
	for s, x := range r.State {
		y.v.Lower[s], y.v.Upper[s] = y.round.down(x, y.round.err), y.round.up(x, y.round.err)
	}
	return y.v, y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
}

func newStepwise(g *sparse.Graph, r *sparse.Reward, dir Direction, opts Options) *system {
	opts.Scheduler = false
	return &system{g: g, min: dir == Min, step: true, round: newRounding(g.Model, r), v: newValues(g.Model, opts)}
}

// steps applies the equations of the open states n times, all at once each
// time; the others keep their values. Once nothing changes nothing ever will.
func (y *system) steps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	mt := newMeter(ctx, opts, n)
	lower, upper := make([]float64, len(y.v.Lower)), make([]float64, len(y.v.Upper))
	copy(lower, y.v.Lower)
	copy(upper, y.v.Upper)
	for range n {
		changed := false
		for s := range open.All() {
			b := y.optimum(s)
			lower[s], upper[s] = b.lo, b.hi
			changed = changed || b.lo != y.v.Lower[s] || b.hi != y.v.Upper[s]
			first, end := y.g.Choices(s)
			if err := mt.did(int(y.g.Start[end] - y.g.Start[first])); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		y.v.Lower, lower = lower, y.v.Lower
		y.v.Upper, upper = upper, y.v.Upper
		mt.progress.Done++
	}
	return nil
}

// ExactNext is Next in rational arithmetic.
func ExactNext(ctx context.Context, g *sparse.Graph, x *sparse.Set, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, nil, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	y.set(x, big.NewRat(1, 1))
	return y.steps(ctx, opts, sparse.FullSet(g.NumStates()), 1)
}

// ExactBoundedUntil is BoundedUntil in rational arithmetic. The fractions grow
// with the number of steps.
func ExactBoundedUntil(ctx context.Context, g *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, nil, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	if bound.High == Unbounded {
		x, err := ExactUntil(ctx, g, left, right, dir, opts)
		if err != nil {
			return nil, err
		}
		y.value = x.Value
	} else {
		y.set(right, big.NewRat(1, 1))
		if _, err := y.steps(ctx, opts, left.Minus(right), bound.High-bound.Low); err != nil {
			return nil, err
		}
	}
	if bound.Low == 0 {
		return &Exact{Value: y.value}, nil
	}
	if _, err := y.steps(ctx, opts, left, 1); err != nil {
		return nil, err
	}
	y.set(left.Complement(), new(big.Rat))
	return y.steps(ctx, opts, left, bound.Low-1)
}

// ExactCumulReward is CumulReward in rational arithmetic.
func ExactCumulReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, r, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	return y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
}

// ExactInstantReward is InstantReward in rational arithmetic.
func ExactInstantReward(ctx context.Context, g *sparse.Graph, r *sparse.Reward, steps int, dir Direction, opts Options) (*Exact, error) {
	y, err := newExactSystem(g, r, dir == Min, opts)
	if err != nil {
		return nil, err
	}
	y.reward = nil
	for s, x := range r.StateRat {
		if x != nil {
			y.value[s] = x
		}
	}
	return y.steps(ctx, opts, sparse.FullSet(g.NumStates()), steps)
}

// steps is that of system, exactly.
func (y *exactSystem) steps(ctx context.Context, opts Options, open *sparse.Set, n int) (*Exact, error) {
	mt := newMeter(ctx, opts, n)
	var ws workspace
	ws.begin(y.g.NumStates())
	next := append([]*big.Rat(nil), y.value...)
	for range n {
		for s := range open.All() {
			next[s] = y.stepValue(s, &ws)
			if err := mt.did(1000); err != nil {
				return nil, err
			}
		}
		y.value, next = next, y.value
		mt.progress.Done++
	}
	return &Exact{Value: y.value}, nil
}

func (y *exactSystem) stepValue(s int, ws *workspace) *big.Rat {
	var best *big.Rat
	first, end := y.g.Choices(s)
	for c := first; c < end; c++ {
		r, _ := y.exactRow(s, c, math.MaxUint32-1, ws) // a home that no state has
		if best == nil || r.constant.Cmp(best) != 0 && (r.constant.Cmp(best) < 0) == y.min {
			best = r.constant
		}
	}
	return best
}
