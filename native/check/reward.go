package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// rewardOperator returns the value of an R operator.
func (e *evaluation) rewardOperator(x *sema.Reward) (*numbers, error) {
	defer e.schedule(x)()
	switch {
	case x.StructErr != nil:
		return nil, x.StructErr
	case x.StructDiv >= 0:
		return nil, e.unsupported(x, "found a ratio of rewards")
	}
	dir, err := e.extremal(x, "R", x.Threshold)
	if err != nil {
		return nil, err
	}
	if err := e.unfair(x, dir); err != nil {
		return nil, err
	}
	r, err := e.reward(x.Struct)
	if err != nil {
		return nil, err
	}
	if e.partial() {
		return e.observedReward(x, r, dir)
	}
	switch p := x.Path.(type) {
	case *sema.RewardPath:
		return e.rewardPath(x, p, r, dir)
	case *sema.Temporal:
		if p.Op == syntax.Future && state(p.Y) {
			return e.reachReward(p, r, dir)
		}
	}
	return e.coSafeReward(x.Path, r, dir)
}

func (e *evaluation) reachReward(p *sema.Temporal, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	if p.Bound != nil {
		return nil, e.refuse(result.Unsupported, p.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
	}
	target, err := e.nested(p.Y)
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

func (e *evaluation) rewardPath(x *sema.Reward, p *sema.RewardPath, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	if e.space.Model().Intervals() && (p.Kind != syntax.Cumulative || p.Bound == nil) {
		return nil, e.unsupported(x, "found %s in an R operator for a model with intervals, want F, C<=t or a co-safe path formula", rewardLetter(p))
	}
	switch {
	case p.Kind == syntax.LongRun:
		return e.solved(solve.LongRun(e.ctx, e.graph, r, dir, e.opts))
	case p.Bound == nil:
		return e.solved(solve.TotalReward(e.ctx, e.graph, r, dir, e.narrowed()))
	case e.kind() == sparse.CTMC:
		return e.timedReward(p, r)
	}
	name := rewardLetter(p)
	steps, err := e.stepCount(p.Bound, name)
	switch {
	case err != nil:
		return nil, err
	case steps < 0:
		return nil, e.refuse(result.TypeError, p.Bound.Pos(), "time bound %d of the %s operator, want a finite number of at least 0", steps, name)
	}
	if p.Kind == syntax.Instantaneous {
		return e.solved(solve.InstantReward(e.ctx, e.graph, r, steps, dir, e.stepping(steps)))
	}
	return e.solved(solve.CumulReward(e.ctx, e.graph, r, steps, dir, e.stepping(steps)))
}

func rewardLetter(p *sema.RewardPath) string {
	if p.Kind == syntax.Instantaneous {
		return "I"
	}
	return "C"
}
