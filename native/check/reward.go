package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// rewardOperator returns the value of an R operator in each state. The rewards may be negative.
func (e *evaluation) rewardOperator(formula *logic.Formula) (*numbers, error) {
	objective := formula.Objective
	switch {
	case objective.Err != nil:
		return nil, objective.Err
	case objective.IsRatio:
		return nil, e.unsupportedError(formula.Expr, "found a ratio of rewards")
	}
	direction, err := e.optimisationDirection(formula)
	if err != nil {
		return nil, err
	}
	if err := e.checkFairSupported(formula, direction); err != nil {
		return nil, err
	}
	reward, err := e.reward(objective.Struct)
	if err != nil {
		if rewards, isSigned := e.signedStructure(objective.Struct); isSigned {
			return e.signedReward(formula, rewards, direction)
		}
		return nil, err
	}
	return e.nonnegativeReward(formula, reward, direction)
}

// nonnegativeReward returns the value of an R operator. The reward structure must have no negative rewards.
func (e *evaluation) nonnegativeReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if e.partiallyObservable() {
		return e.observedReward(formula, reward, direction)
	}
	isGameObjective := objective.Form == logic.UntilReached || objective.Form == logic.ZeroUnlessReached // Fc or F0
	if e.coalition != nil || isGameObjective {
		return e.gameReward(formula, reward, direction)
	}
	switch objective.Form {
	case logic.ReachReward:
		return e.reachReward(objective, reward, direction)
	case logic.BoundedReachReward:
		return nil, e.failure(result.Unsupported, objective.Path.Bound.Pos, "found F with a bound in an R operator, where PRISM ignores the bound; want F without a bound, C<=t or I=t")
	case logic.ConditionalReward:
		return e.conditionalReward(formula, reward, direction)
	case logic.Discounted:
		return e.discountedReward(formula, reward, direction)
	case logic.CoSafe:
		return e.coSafeReward(objective.Expr, reward, direction)
	}
	return e.rewardWithoutTarget(formula, reward, direction)
}

// rewardWithoutTarget returns the value of an R operator whose objective is C, C<=t, I=t or S.
func (e *evaluation) rewardWithoutTarget(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	if e.space.Model().Intervals() && objective.Form != logic.Cumulative {
		return nil, e.unsupportedError(formula.Expr, "found %s in an R operator for a model with intervals, want F, C<=t or a co-safe path formula", objective.Letter())
	}
	switch objective.Form {
	case logic.LongRun:
		return e.longRunReward(formula, reward, direction)
	case logic.TimedCumulative, logic.TimedInstantaneous:
		return e.automatonReward(objective, reward, direction)
	case logic.CostBoundedReward:
		return e.costBoundedReward(formula, reward, direction)
	case logic.TotalReward:
		return e.toNumbers(solve.TotalReward(e.ctx, e.graph, reward, direction, e.optionsForScope()))
	}
	if e.modelKind() == sparse.CTMC {
		return e.timedReward(objective, reward)
	}
	return e.steppedReward(objective, reward, direction)
}

// longRunReward returns the minimal or maximal long-run average reward, R[S]: per step in discrete time, per unit of time in continuous time.
func (e *evaluation) longRunReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	if e.property.Program.Model().IsMarkovAutomaton() {
		return e.longRunPerTime(formula, func(time *sparse.Reward) (*solve.Values, error) {
			return solve.LongRunPerTime(e.ctx, e.graph, reward, time, direction, e.opts)
		})
	}
	return e.toNumbers(solve.LongRun(e.ctx, e.graph, reward, direction, e.opts))
}

// reachReward returns the minimal or maximal expected reward until the target is reached (F).
func (e *evaluation) reachReward(objective *logic.Objective, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	target, err := e.satisfyingStates(objective.Target)
	if err != nil {
		return nil, err
	}
	if e.solver != nil {
		values, err := e.solver.ReachReward(e.ctx, reward, target, direction)
		if values != nil || err != nil {
			return e.toNumbers(values, err)
		}
	}
	return e.toNumbers(solve.ReachReward(e.ctx, e.graph, reward, target, direction, e.optionsForScope()))
}

// steppedReward returns the minimal or maximal expected reward of C<=k or I=k, where k is a number of steps.
func (e *evaluation) steppedReward(objective *logic.Objective, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	steps, err := e.rewardSteps(objective)
	if err != nil {
		return nil, err
	}
	if objective.Form == logic.Instantaneous {
		return e.toNumbers(solve.InstantReward(e.ctx, e.graph, reward, steps, direction, e.stepOptions(steps)))
	}
	if err := e.checkWeights(steps); err != nil {
		return nil, err
	}
	return e.toNumbers(solve.CumulReward(e.ctx, e.graph, reward, steps, direction, e.stepOptions(steps)))
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
