package parametric

import (
	"context"

	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/sparse"
)

// All functions return the value of the initial state.

// One returns the constant function 1.
func (c *Chain) One() *ratfunc.Func { return c.one }

// Until returns the probability of left U right in the initial state.
func (c *Chain) Until(ctx context.Context, left, right *sparse.Set) (*ratfunc.Func, error) {
	maybe := c.graph.ExistsUntil(left, right)
	return c.expectedAtEnd(ctx, maybe, func(s int) *ratfunc.Func {
		if right.Has(s) {
			return c.one
		}
		return nil
	})
}

// expectedAtEnd returns the expected value of endValue(s) over the paths from the initial state, where s is the first state of the path
// for which endValue(s) is not nil. The value of a path is 0 if it leaves the given states earlier.
func (c *Chain) expectedAtEnd(ctx context.Context, states *sparse.Set, endValue func(s int) *ratfunc.Func) (*ratfunc.Func, error) {
	if function := endValue(c.initial); function != nil {
		return function, nil
	}
	if !states.Has(c.initial) {
		return c.evaluator.ring.Integer(0), nil
	}
	inside := func(s int) bool { return states.Has(s) && endValue(s) == nil }
	expectedEndValue := func(s int) *ratfunc.Func { // the sum over the transitions to states with an end value
		sum := c.evaluator.ring.Integer(0)
		for _, transition := range c.rows[s] {
			if function := endValue(transition.target); function != nil {
				sum = sum.Add(transition.prob.Mul(function))
			}
		}
		return sum
	}
	expected, err := c.eliminate(ctx, c.initial, inside, expectedEndValue)
	if err != nil {
		return nil, err
	}
	return expected[0], nil
}

// BoundedUntil returns the probability of left U[low,high] right in the initial state, where low and high are numbers of
// steps.
func (c *Chain) BoundedUntil(ctx context.Context, left, right *sparse.Set, low, high int) (*ratfunc.Func, error) {
	zero := c.evaluator.ring.Integer(0)
	values := make([]*ratfunc.Func, len(c.rows))
	for s := range values {
		values[s] = zero
		if right.Has(s) {
			values[s] = c.one
		}
	}
	// In the steps from low to high, a path that is in right satisfies the formula.
	untilRight := func(s int, next *ratfunc.Func) *ratfunc.Func {
		switch {
		case right.Has(s):
			return c.one
		case left.Has(s):
			return next
		}
		return zero
	}
	for range high - low {
		if err := c.stepBackwards(ctx, &values, untilRight); err != nil {
			return nil, err
		}
	}
	// In the steps before low, it only has to stay in left.
	withinLeft := func(s int, next *ratfunc.Func) *ratfunc.Func {
		if left.Has(s) {
			return next
		}
		return zero
	}
	for range low {
		if err := c.stepBackwards(ctx, &values, withinLeft); err != nil {
			return nil, err
		}
	}
	return values[c.initial], nil
}

// stepBackwards replaces the values of all states by the values one step earlier. earlier returns the earlier value of state s, given the
// expected value of its successors, next.
func (c *Chain) stepBackwards(ctx context.Context, values *[]*ratfunc.Func, earlier func(s int, next *ratfunc.Func) *ratfunc.Func) error {
	out := make([]*ratfunc.Func, len(*values))
	for s := range out {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := c.evaluator.ring.Integer(0)
		for _, transition := range c.rows[s] {
			next = next.Add(transition.prob.Mul((*values)[transition.target]))
		}
		out[s] = earlier(s, next)
		if err := checkSize(out[s]); err != nil {
			return err
		}
	}
	*values = out
	return nil
}

// Cumulative returns the expected total reward of the first steps.
func (c *Chain) Cumulative(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	values := make([]*ratfunc.Func, len(c.rows))
	for s := range values {
		values[s] = c.evaluator.ring.Integer(0)
	}
	for range steps {
		if err := c.stepBackwards(ctx, &values, func(s int, next *ratfunc.Func) *ratfunc.Func { return rewards[s].Add(next) }); err != nil {
			return nil, err
		}
	}
	return values[c.initial], nil
}

// Instantaneous returns the expected reward of the state after a number of steps.
func (c *Chain) Instantaneous(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	values := rewards
	for range steps {
		if err := c.stepBackwards(ctx, &values, func(_ int, next *ratfunc.Func) *ratfunc.Func { return next }); err != nil {
			return nil, err
		}
	}
	return values[c.initial], nil
}

// ReachReward returns the expected reward until a target is reached; nil if it is infinite, because the
// target is missed with positive probability.
func (c *Chain) ReachReward(ctx context.Context, rewards []*ratfunc.Func, target *sparse.Set) (*ratfunc.Func, error) {
	sure := c.graph.Prob1A(sparse.FullSet(len(c.rows)), target)
	if !sure.Has(c.initial) {
		return nil, nil
	}
	return c.totalUntilLeft(ctx, rewards, func(s int) bool { return !target.Has(s) })
}

// totalUntilLeft returns the expected total reward until a path leaves the states inside.
func (c *Chain) totalUntilLeft(ctx context.Context, rewards []*ratfunc.Func, inside func(s int) bool) (*ratfunc.Func, error) {
	if !inside(c.initial) {
		return c.evaluator.ring.Integer(0), nil
	}
	values, err := c.eliminate(ctx, c.initial, inside, func(s int) *ratfunc.Func { return rewards[s] })
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// Total returns the expected total reward; nil if it is infinite.
func (c *Chain) Total(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	bottom := sparse.NewSet(len(c.rows))
	components := c.graph.Components(nil, nil)
	for _, i := range components.Bottom(c.graph.Model) {
		for _, s := range components.Members(i) {
			bottom.Add(int(s))
			if !rewards[s].IsZero() {
				return nil, nil
			}
		}
	}
	return c.totalUntilLeft(ctx, rewards, func(s int) bool { return !bottom.Has(s) })
}

// LongRun returns the long-run average reward per step or, in a CTMC, per unit of time. rewards has the expected reward of
// one visit of each state.
func (c *Chain) LongRun(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	components := c.graph.Components(nil, nil)
	values := make(map[int]*ratfunc.Func)
	for _, i := range components.Bottom(c.graph.Model) {
		members := components.Members(i)
		inside := func(s int) bool { return components.ID[s] == uint32(i) }
		// By the renewal-reward theorem, the average is the expected reward of a cycle from a reference state to itself, divided by its
		// expected time.
		reference := int(members[0])
		if inside(c.initial) {
			reference = c.initial
		}
		cycle, err := c.eliminateCycle(ctx, reference, inside, func(s int) *ratfunc.Func { return rewards[s] }, c.sojournTime)
		if err != nil {
			return nil, err
		}
		for _, s := range members {
			values[int(s)] = cycle[0].Quo(cycle[1])
		}
	}
	return c.expectedAtEnd(ctx, sparse.FullSet(len(c.rows)), func(s int) *ratfunc.Func { return values[s] })
}

// Visits returns rewards whose long-run average is the long-run probability of a set of states. The reward of each state in
// the set is its sojourn time.
func (c *Chain) Visits(set *sparse.Set) []*ratfunc.Func {
	out := make([]*ratfunc.Func, len(c.rows))
	for s := range out {
		out[s] = c.evaluator.ring.Integer(0)
		if set.Has(s) {
			out[s] = c.sojournTime(s)
		}
	}
	return out
}

// sojournTime returns the expected time of a visit of a state.
func (c *Chain) sojournTime(s int) *ratfunc.Func {
	if c.sojournTimes == nil {
		return c.one
	}
	return c.sojournTimes[s]
}
