package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// rewardOperator returns the value of an R operator in each state.
func (e *evaluation) rewardOperator(formula *logic.Formula) (*numbers, error) {
	objective := formula.Objective
	switch {
	case objective.Err != nil:
		return nil, objective.Err
	case objective.Ratio:
		return nil, e.unsupported(formula.X, "found a ratio of rewards")
	}
	dir, err := e.optimisationDirection(formula)
	if err != nil {
		return nil, err
	}
	if err := e.checkFairSupported(formula, dir); err != nil {
		return nil, err
	}
	reward, err := e.reward(objective.Struct)
	if err != nil {
		if rewards, ok := e.signedStructure(objective.Struct); ok {
			return e.signedReward(formula, rewards, dir)
		}
		return nil, err
	}
	return e.rewardValue(formula, reward, dir)
}

// rewardValue returns the value of an R operator over a reward structure without negative rewards.
func (e *evaluation) rewardValue(formula *logic.Formula, reward *sparse.Reward, dir solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if e.partiallyObservable() {
		return e.observedReward(formula, reward, dir)
	}
	if e.coalition != nil || objective.Form == logic.UntilReached || objective.Form == logic.ZeroUnlessReached {
		return e.gameReward(formula, reward, dir)
	}
	switch objective.Form {
	case logic.ReachReward:
		return e.reachReward(objective, reward, dir)
	case logic.BoundedReachReward:
		return nil, e.failure(result.Unsupported, objective.Path.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
	case logic.ConditionalReward:
		return e.conditionalReward(formula)
	case logic.Discounted:
		return e.discountedReward(formula, reward, dir)
	case logic.CoSafe:
		return e.coSafeReward(objective.X, reward, dir)
	}
	if e.space.Model().Intervals() && objective.Form != logic.Cumulative {
		return nil, e.unsupported(formula.X, "found %s in an R operator for a model with intervals, want F, C<=t or a co-safe path formula", objective.Letter())
	}
	switch {
	case objective.Form == logic.LongRun && e.property.Program.Model().IsMarkovAutomaton():
		return e.longRunPerTime(formula, func(time *sparse.Reward) (*solve.Values, error) {
			return solve.LongRunPerTime(e.ctx, e.graph, reward, time, dir, e.opts)
		})
	case objective.Form == logic.LongRun:
		return e.toNumbers(solve.LongRun(e.ctx, e.graph, reward, dir, e.opts))
	case objective.Form == logic.CostBoundedReward:
		return e.costBoundedReward(formula, reward, dir)
	case objective.Form == logic.TotalReward:
		return e.toNumbers(solve.TotalReward(e.ctx, e.graph, reward, dir, e.scopeOptions()))
	case e.kind() == sparse.CTMC:
		return e.timedReward(objective, reward)
	}
	return e.steppedReward(objective, reward, dir)
}

// reachReward returns the minimal or maximal expected reward until the target is reached (F).
func (e *evaluation) reachReward(objective *logic.Objective, reward *sparse.Reward, dir solve.Direction) (*numbers, error) {
	target, err := e.satisfyingStates(objective.Target)
	if err != nil {
		return nil, err
	}
	if e.solver != nil {
		values, err := e.solver.ReachReward(e.ctx, reward, target, dir)
		if values != nil || err != nil {
			return e.toNumbers(values, err)
		}
	}
	return e.toNumbers(solve.ReachReward(e.ctx, e.graph, reward, target, dir, e.scopeOptions()))
}

// steppedReward returns the minimal or maximal expected reward of C<=k or I=k, where k is a number of steps.
func (e *evaluation) steppedReward(objective *logic.Objective, reward *sparse.Reward, dir solve.Direction) (*numbers, error) {
	steps, err := e.rewardSteps(objective)
	if err != nil {
		return nil, err
	}
	if objective.Form == logic.Instantaneous {
		return e.toNumbers(solve.InstantReward(e.ctx, e.graph, reward, steps, dir, e.stepOptions(steps)))
	}
	return e.toNumbers(solve.CumulReward(e.ctx, e.graph, reward, steps, dir, e.stepOptions(steps)))
}

// rewardSteps evaluates the number of steps of C<=k or I=k.
func (e *evaluation) rewardSteps(objective *logic.Objective) (int, error) {
	steps, err := e.stepCount(objective.At, objective.Letter())
	if err != nil {
		return 0, err
	}
	if steps < 0 {
		return 0, e.failure(result.TypeError, objective.At.Pos(), "time bound %d of the %s operator, want a finite number of at least 0", steps, objective.Letter())
	}
	return steps, nil
}
