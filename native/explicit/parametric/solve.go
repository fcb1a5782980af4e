package parametric

import (
	"context"

	"tilecheck/native/explicit/ratfunc"
	"tilecheck/native/explicit/sparse"
)

// All values are those of the initial state.

// One returns the function that is 1.
func (c *Chain) One() *ratfunc.Func { return c.one }

// Until returns the probability of left U right.
func (c *Chain) Until(ctx context.Context, left, right *sparse.Set) (*ratfunc.Func, error) {
	maybe := c.graph.ExistsUntil(left, right)
	return c.reach(ctx, maybe, func(s int) *ratfunc.Func {
		if right.Has(s) {
			return c.one
		}
		return nil
	})
}

// reach returns the expected value of what end gives to the states at which paths stop, where
// it is not nil; nothing is got by paths that leave the set.
func (c *Chain) reach(ctx context.Context, within *sparse.Set, end func(s int) *ratfunc.Func) (*ratfunc.Func, error) {
	if f := end(c.init); f != nil {
		return f, nil
	}
	if !within.Has(c.init) {
		return c.eval.ring.Integer(0), nil
	}
	in := func(s int) bool { return within.Has(s) && end(s) == nil }
	gain := func(s int) *ratfunc.Func {
		sum := c.eval.ring.Integer(0)
		for _, e := range c.rows[s] {
			if f := end(e.to); f != nil {
				sum = sum.Add(e.prob.Mul(f))
			}
		}
		return sum
	}
	x, err := c.eliminate(ctx, c.init, in, gain)
	if err != nil {
		return nil, err
	}
	return x[0], nil
}

// BoundedUntil returns the probability that right holds after at least low and at most high
// steps, and left before.
func (c *Chain) BoundedUntil(ctx context.Context, left, right *sparse.Set, low, high int) (*ratfunc.Func, error) {
	zero := c.eval.ring.Integer(0)
	x := make([]*ratfunc.Func, len(c.rows))
	for s := range x {
		x[s] = zero
		if right.Has(s) {
			x[s] = c.one
		}
	}
	step := func(stopped *sparse.Set) error {
		return c.backwards(ctx, &x, func(s int, next *ratfunc.Func) *ratfunc.Func {
			switch {
			case stopped != nil && stopped.Has(s):
				return c.one
			case left.Has(s):
				return next
			}
			return zero
		})
	}
	for range high - low {
		if err := step(right); err != nil {
			return nil, err
		}
	}
	for range low {
		if err := step(nil); err != nil {
			return nil, err
		}
	}
	return x[c.init], nil
}

// backwards replaces values by those one step earlier, from what is expected after the step.
func (c *Chain) backwards(ctx context.Context, x *[]*ratfunc.Func, earlier func(s int, next *ratfunc.Func) *ratfunc.Func) error {
	out := make([]*ratfunc.Func, len(*x))
	for s := range out {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := c.eval.ring.Integer(0)
		for _, e := range c.rows[s] {
			next = next.Add(e.prob.Mul((*x)[e.to]))
		}
		out[s] = earlier(s, next)
		if err := small(out[s]); err != nil {
			return err
		}
	}
	*x = out
	return nil
}

// Cumulative returns the reward of so many steps.
func (c *Chain) Cumulative(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	x := make([]*ratfunc.Func, len(c.rows))
	for s := range x {
		x[s] = c.eval.ring.Integer(0)
	}
	for range steps {
		if err := c.backwards(ctx, &x, func(s int, next *ratfunc.Func) *ratfunc.Func { return rewards[s].Add(next) }); err != nil {
			return nil, err
		}
	}
	return x[c.init], nil
}

// Instantaneous returns the expected reward of the state after so many steps.
func (c *Chain) Instantaneous(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	x := rewards
	for range steps {
		if err := c.backwards(ctx, &x, func(_ int, next *ratfunc.Func) *ratfunc.Func { return next }); err != nil {
			return nil, err
		}
	}
	return x[c.init], nil
}

// ReachReward returns the reward that is expected until a target is met; nil if the target is
// missed with positive probability, where it is infinite.
func (c *Chain) ReachReward(ctx context.Context, rewards []*ratfunc.Func, target *sparse.Set) (*ratfunc.Func, error) {
	sure := c.graph.Prob1A(sparse.FullSet(len(c.rows)), target)
	if !sure.Has(c.init) {
		return nil, nil
	}
	return c.earn(ctx, rewards, func(s int) bool { return !target.Has(s) })
}

// earn returns what is earned before a set of states is left.
func (c *Chain) earn(ctx context.Context, rewards []*ratfunc.Func, in func(s int) bool) (*ratfunc.Func, error) {
	if !in(c.init) {
		return c.eval.ring.Integer(0), nil
	}
	x, err := c.eliminate(ctx, c.init, in, func(s int) *ratfunc.Func { return rewards[s] })
	if err != nil {
		return nil, err
	}
	return x[0], nil
}

// Total returns the reward of whole paths; nil if it is infinite.
func (c *Chain) Total(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	bottom := sparse.NewSet(len(c.rows))
	scc := c.graph.Components(nil, nil)
	for _, i := range scc.Bottom(c.graph.Model) {
		for _, s := range scc.Members(i) {
			bottom.Add(int(s))
			if !rewards[s].IsZero() {
				return nil, nil
			}
		}
	}
	return c.earn(ctx, rewards, func(s int) bool { return !bottom.Has(s) })
}

// LongRun returns the reward per step, or per unit of time, in the long run, where rewards are
// those of a visit of each state.
func (c *Chain) LongRun(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	scc := c.graph.Components(nil, nil)
	values := make(map[int]*ratfunc.Func)
	for _, i := range scc.Bottom(c.graph.Model) {
		members := scc.Members(i)
		inside := func(s int) bool { return scc.ID[s] == uint32(i) }
		// From one visit of a state to the next one, reward and time.
		first := int(members[0])
		if inside(c.init) {
			first = c.init
		}
		cycle, err := c.eliminateCycle(ctx, first, inside, func(s int) *ratfunc.Func { return rewards[s] }, c.time)
		if err != nil {
			return nil, err
		}
		for _, s := range members {
			values[int(s)] = cycle[0].Quo(cycle[1])
		}
	}
	return c.reach(ctx, sparse.FullSet(len(c.rows)), func(s int) *ratfunc.Func { return values[s] })
}

// Visits returns the rewards with which the long run is the share of time in a set.
func (c *Chain) Visits(set *sparse.Set) []*ratfunc.Func {
	out := make([]*ratfunc.Func, len(c.rows))
	for s := range out {
		out[s] = c.eval.ring.Integer(0)
		if set.Has(s) {
			out[s] = c.time(s)
		}
	}
	return out
}

// time is how long a visit of a state is expected to be.
func (c *Chain) time(s int) *ratfunc.Func {
	if c.times == nil {
		return c.one
	}
	return c.times[s]
}
