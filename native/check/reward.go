package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// rewardOperator returns the value of an R operator.
func (e *evaluation) rewardOperator(f *logic.Formula) (*numbers, error) {
	o := f.Objective
	switch {
	case o.Err != nil:
		return nil, o.Err
	case o.Ratio:
		return nil, e.unsupported(f.X, "found a ratio of rewards")
	}
	dir, err := e.extremal(f)
	if err != nil {
		return nil, err
	}
	if err := e.unfair(f, dir); err != nil {
		return nil, err
	}
	r, err := e.reward(o.Struct)
	if err != nil {
		return nil, err
	}
	if e.partiallyObservable() {
		return e.observedReward(f, r, dir)
	}
	if e.coalition != nil || o.Form == logic.UntilReached || o.Form == logic.ZeroUnlessReached {
		return e.gameReward(f, r, dir)
	}
	switch o.Form {
	case logic.ReachReward:
		return e.reachReward(o, r, dir)
	case logic.BoundedReachReward:
		return nil, e.refuse(result.Unsupported, o.Path.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
	case logic.CoSafe:
		return e.coSafeReward(o.X, r, dir)
	}
	if e.space.Model().Intervals() && o.Form != logic.Cumulative {
		return nil, e.unsupported(f.X, "found %s in an R operator for a model with intervals, want F, C<=t or a co-safe path formula", o.Letter())
	}
	switch {
	case o.Form == logic.LongRun:
		return e.solved(solve.LongRun(e.ctx, e.graph, r, dir, e.opts))
	case o.Form == logic.CostBoundedReward:
		return e.costBoundedReward(f, r, dir)
	case o.Form == logic.TotalReward:
		return e.solved(solve.TotalReward(e.ctx, e.graph, r, dir, e.narrowed()))
	case e.kind() == sparse.CTMC:
		return e.timedReward(o, r)
	}
	return e.steppedReward(o, r, dir)
}

func (e *evaluation) reachReward(o *logic.Objective, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	target, err := e.nested(o.Target)
	if err != nil {
		return nil, err
	}
	if e.solver != nil {
		if v, err := e.solver.ReachReward(e.ctx, r, target, dir); v != nil || err != nil {
			return e.solved(v, err)
		}
	}
	return e.solved(solve.ReachReward(e.ctx, e.graph, r, target, dir, e.narrowed()))
}

// steppedReward returns the value of C<=k or I=k.
func (e *evaluation) steppedReward(o *logic.Objective, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	steps, err := e.rewardSteps(o)
	if err != nil {
		return nil, err
	}
	if o.Form == logic.Instantaneous {
		return e.solved(solve.InstantReward(e.ctx, e.graph, r, steps, dir, e.stepping(steps)))
	}
	return e.solved(solve.CumulReward(e.ctx, e.graph, r, steps, dir, e.stepping(steps)))
}

// rewardSteps evaluates the number of steps of C<=k or I=k.
func (e *evaluation) rewardSteps(o *logic.Objective) (int, error) {
	steps, err := e.stepCount(o.At, o.Letter())
	if err == nil && steps < 0 {
		err = e.refuse(result.TypeError, o.At.Pos(), "time bound %d of the %s operator, want a finite number of at least 0", steps, o.Letter())
	}
	return steps, err
}
