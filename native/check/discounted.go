package check

import (
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// discountedReward returns the minimal or maximal expected discounted reward. If the objective has a step bound, only the first steps count.
func (e *evaluation) discountedReward(formula *logic.Formula, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	switch model := e.space.Model(); {
	case model.Intervals():
		return nil, e.unsupportedError(objective.Expr, "found %s for a model with intervals", logic.Describe(objective.Expr))
	case e.modelKind() == sparse.CTMC || e.isGame():
		return nil, e.unsupportedError(objective.Expr, "found %s for %s, want a DTMC or an MDP", logic.Describe(objective.Expr), noun.WithArticle(e.space.Program().Type.String()))
	}
	factor, err := e.discountFactor(objective.Discount)
	if err != nil {
		return nil, err
	}
	steps := solve.Unbounded
	if objective.At != nil {
		steps, err = e.rewardSteps(objective)
		if err != nil {
			return nil, err
		}
	}
	return e.toNumbers(solve.Discounted(e.ctx, e.graph, reward, factor, steps, direction, e.optionsForScope()))
}

// discountFactor evaluates a discount factor, which must be a fraction between 0 and 1.
func (e *evaluation) discountFactor(expr sema.Expr) (*big.Rat, error) {
	value, err := e.constantValue(expr)
	switch {
	case err != nil:
		return nil, err
	case value.Exact == nil:
		return nil, e.unsupportedError(expr, "found a discount factor that is not a fraction")
	case value.Exact.Sign() <= 0 || value.Exact.Cmp(big.NewRat(1, 1)) >= 0:
		return nil, e.failure(result.TypeError, expr.Pos(), "discount factor %s, want a number above 0 and below 1", value.Exact.RatString())
	}
	return value.Exact, nil
}
