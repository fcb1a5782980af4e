package check

import (
	"math"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// InfiniteRewardWarnings returns a warning that says why the value of an R operator is Infinity: the target is not reached with probability 1,
// or rewards are earned forever. It returns nil for other values and operators. All schedulers count, not only fair ones.
//
// Source: Baier and Katoen, Principles of Model Checking (2008), section 10.6.1; for total rewards, de Alfaro, Formal Verification of Probabilistic
// Systems (1997).
func InfiniteRewardWarnings(expr sema.Expr, verdict *result.Verdict) []string {
	formula := logic.WithoutFilters(expr)
	isInfinite := verdict.Value.Kind == result.Number && math.IsInf(verdict.Value.Num, 1)
	if !isInfinite || formula.Kind != logic.Reward {
		return nil
	}
	objective := formula.Objective
	switch objective.Form {
	case logic.ReachReward:
		return []string{reasonOfInfinity(verdict.Resolution, "the target is reached with probability 1", "the target is not reached with probability 1")}
	case logic.CoSafe:
		warning := reasonOfInfinity(verdict.Resolution, "the formula is satisfied with probability 1", "the formula is not satisfied with probability 1")
		if objective.Expr.Type() != sema.Path {
			warning += "; a formula without F is decided in the first state, so perhaps F is missing"
		}
		return []string{warning}
	case logic.TotalReward:
		return []string{reasonOfInfinity(verdict.Resolution, "the total reward is finite", "rewards are earned again and again forever with positive probability")}
	}
	return nil
}

// reasonOfInfinity returns the reason why an expected reward is infinite. finite is the condition on a scheduler for a finite reward, and infinite is
// its negation.
func reasonOfInfinity(resolution result.Resolution, finite, infinite string) string {
	switch resolution {
	case result.Minimum:
		return "Infinity, because under no scheduler " + finite
	case result.Maximum:
		return "Infinity, because under some scheduler " + infinite
	}
	return "Infinity, because " + infinite
}
