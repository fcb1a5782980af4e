package parametric

import (
	"context"
	"slices"

	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/sparse"
)

// One returns the constant function 1.
func (chain *Chain) One() *ratfunc.Func { return chain.one }

// Until returns the probability that a path from the initial state satisfies left U right.
func (chain *Chain) Until(ctx context.Context, left, right *sparse.Set) (*ratfunc.Func, error) {
	endValues := make(map[int]*ratfunc.Func)
	for s := range right.All() {
		endValues[s] = chain.one
	}
	return chain.expectedEndValue(ctx, chain.graph.ExistsUntil(left, right), endValues)
}

// expectedEndValue returns the expected end value of a path from the initial state. A path ends in the first state that has an end value. If the
// path leaves the given states before it ends, its value is 0.
func (chain *Chain) expectedEndValue(ctx context.Context, states *sparse.Set, endValues map[int]*ratfunc.Func) (*ratfunc.Func, error) {
	if endValue := endValues[chain.initial]; endValue != nil {
		return endValue, nil
	}
	if !states.Has(chain.initial) {
		return chain.evaluator.ring.Integer(0), nil
	}
	isInside := func(s int) bool { return states.Has(s) && endValues[s] == nil }
	endingNext := func(s int) *ratfunc.Func { // the expected end value of the paths that end after one step from s
		sum := chain.evaluator.ring.Integer(0)
		for _, transition := range chain.rows[s] {
			if endValue := endValues[transition.target]; endValue != nil {
				sum = sum.Add(transition.probability.Mul(endValue))
			}
		}
		return sum
	}
	expected, err := chain.eliminate(ctx, chain.initial, isInside, endingNext)
	if err != nil {
		return nil, err
	}
	return expected[0], nil
}

// BoundedUntil returns the probability that a path from the initial state satisfies `left U[low,high] right`, as a function of the parameters.
// low and high are numbers of steps.
func (chain *Chain) BoundedUntil(ctx context.Context, left, right *sparse.Set, low, high int) (*ratfunc.Func, error) {
	zero := chain.evaluator.ring.Integer(0)
	valuesAtHigh := make([]*ratfunc.Func, len(chain.rows))
	for s := range valuesAtHigh {
		valuesAtHigh[s] = zero
		if right.Has(s) {
			valuesAtHigh[s] = chain.one
		}
	}
	untilRight := func(s int, next *ratfunc.Func) *ratfunc.Func { // from step low on, right satisfies the formula
		switch {
		case right.Has(s):
			return chain.one
		case left.Has(s):
			return next
		}
		return zero
	}
	withinLeft := func(s int, next *ratfunc.Func) *ratfunc.Func { // before step low, a path has to stay in left
		if left.Has(s) {
			return next
		}
		return zero
	}
	values, err := chain.stepBackwards(ctx, valuesAtHigh, high-low, untilRight)
	if err != nil {
		return nil, err
	}
	return chain.initialValue(chain.stepBackwards(ctx, values, low, withinLeft))
}

// stepBackwards computes the values of all states a number of steps earlier, by value iteration. earlier(s, next) is the value of state s one
// step earlier, where next is the expected value of its successor.
func (chain *Chain) stepBackwards(ctx context.Context, values []*ratfunc.Func, steps int, earlier func(s int, next *ratfunc.Func) *ratfunc.Func) ([]*ratfunc.Func, error) {
	for range steps {
		earlierValues := make([]*ratfunc.Func, len(values))
		for s := range earlierValues {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			earlierValues[s] = earlier(s, chain.expectedNext(values, s))
			if err := checkSize(earlierValues[s]); err != nil {
				return nil, err
			}
		}
		values = earlierValues
	}
	return values, nil
}

// expectedNext returns the expected value of the successors of state s.
func (chain *Chain) expectedNext(values []*ratfunc.Func, s int) *ratfunc.Func {
	sum := chain.evaluator.ring.Integer(0)
	for _, transition := range chain.rows[s] {
		sum = sum.Add(transition.probability.Mul(values[transition.target]))
	}
	return sum
}

// initialValue returns the value of the initial state from the values of all states, or the error.
func (chain *Chain) initialValue(values []*ratfunc.Func, err error) (*ratfunc.Func, error) {
	if err != nil {
		return nil, err
	}
	return values[chain.initial], nil
}

// Cumulative returns the expected total reward of the first steps from the initial state.
func (chain *Chain) Cumulative(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	zeros := slices.Repeat([]*ratfunc.Func{chain.evaluator.ring.Integer(0)}, len(chain.rows))
	addReward := func(s int, next *ratfunc.Func) *ratfunc.Func { return rewards[s].Add(next) }
	return chain.initialValue(chain.stepBackwards(ctx, zeros, steps, addReward))
}

// Instantaneous returns the expected reward of the state that a path from the initial state is in after a number of steps.
func (chain *Chain) Instantaneous(ctx context.Context, rewards []*ratfunc.Func, steps int) (*ratfunc.Func, error) {
	return chain.initialValue(chain.stepBackwards(ctx, rewards, steps, func(_ int, next *ratfunc.Func) *ratfunc.Func { return next }))
}

// ReachReward returns the expected reward until a path from the initial state reaches a target. It returns nil for an infinite reward: the
// probability of the target is less than 1.
func (chain *Chain) ReachReward(ctx context.Context, rewards []*ratfunc.Func, target *sparse.Set) (*ratfunc.Func, error) {
	almostSure := chain.graph.Prob1A(sparse.FullSet(len(chain.rows)), target)
	if !almostSure.Has(chain.initial) {
		return nil, nil
	}
	return chain.totalUntilExit(ctx, rewards, func(s int) bool { return !target.Has(s) })
}

// totalUntilExit returns the expected total reward of a path from the initial state, until it reaches a state for which isInside is false.
func (chain *Chain) totalUntilExit(ctx context.Context, rewards []*ratfunc.Func, isInside func(s int) bool) (*ratfunc.Func, error) {
	if !isInside(chain.initial) {
		return chain.evaluator.ring.Integer(0), nil
	}
	values, err := chain.eliminate(ctx, chain.initial, isInside, func(s int) *ratfunc.Func { return rewards[s] })
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// Total returns the expected total reward of a path from the initial state. It returns nil if the reward is infinite, because a state of a BSCC
// has a reward.
func (chain *Chain) Total(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	bottom := sparse.NewSet(len(chain.rows))
	components := chain.graph.Components(nil, nil)
	for _, i := range components.Bottom(chain.graph.Model) {
		for _, s := range components.Members(i) {
			bottom.Add(int(s))
			if !rewards[s].IsZero() {
				return nil, nil
			}
		}
	}
	return chain.totalUntilExit(ctx, rewards, func(s int) bool { return !bottom.Has(s) })
}

// LongRun returns the long-run average reward from the initial state: per step or, in a CTMC, per unit of time. rewards has the expected
// reward of one visit of each state.
func (chain *Chain) LongRun(ctx context.Context, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	components := chain.graph.Components(nil, nil)
	averages := make(map[int]*ratfunc.Func)
	for _, i := range components.Bottom(chain.graph.Model) {
		members := components.Members(i)
		isInside := func(s int) bool { return components.ID[s] == uint32(i) }
		reference := int(members[0])
		if isInside(chain.initial) {
			reference = chain.initial
		}
		average, err := chain.cycleAverage(ctx, reference, isInside, rewards)
		if err != nil {
			return nil, err
		}
		for _, s := range members {
			averages[int(s)] = average
		}
	}
	return chain.expectedEndValue(ctx, sparse.FullSet(len(chain.rows)), averages)
}

// cycleAverage returns E[reward of a cycle] / E[time of a cycle]; a cycle is a path from the state reference until its next visit. By the
// renewal-reward theorem, this is the long-run average reward of the BSCC of reference.
func (chain *Chain) cycleAverage(ctx context.Context, reference int, isInside func(s int) bool, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	cycleSums, err := chain.eliminateCycle(ctx, reference, isInside, func(s int) *ratfunc.Func { return rewards[s] }, chain.sojournTime)
	if err != nil {
		return nil, err
	}
	reward, time := cycleSums[0], cycleSums[1]
	return reward.Quo(time), nil
}

// Visits returns rewards whose long-run average is the long-run probability of a set of states. A state in the set has its sojourn time as
// its reward.
func (chain *Chain) Visits(set *sparse.Set) []*ratfunc.Func {
	rewards := make([]*ratfunc.Func, len(chain.rows))
	for s := range rewards {
		rewards[s] = chain.evaluator.ring.Integer(0)
		if set.Has(s) {
			rewards[s] = chain.sojournTime(s)
		}
	}
	return rewards
}

// sojournTime returns the expected time of a visit of a state.
func (chain *Chain) sojournTime(s int) *ratfunc.Func {
	if chain.sojournTimes == nil {
		return chain.one
	}
	return chain.sojournTimes[s]
}
