package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// robustDirection returns what P or R asks for in an interval model: the minimum or the maximum over schedulers, and the minimum or the maximum
// over all probabilities in the intervals. A bound, such as P>=0.5, must hold for all schedulers and for all probabilities.
//
// Source: PRISM, which also requires that lower ends of intervals are above zero.
func (e *evaluation) robustDirection(formula *logic.Formula) (solve.Direction, error) {
	letter, threshold := formula.Letter(), formula.Threshold
	hasScheduler := e.modelKind() == sparse.MDP
	switch {
	case !threshold.IsQuery():
		direction, _ := directionOf(threshold, e.forSomeScheduler)
		return direction, nil
	case threshold.Extremum == syntax.Min, hasScheduler && threshold.Extremum == syntax.MinMin:
		return solve.Min, nil
	case threshold.Extremum == syntax.Max, hasScheduler && threshold.Extremum == syntax.MaxMax:
		return solve.Max, nil
	case hasScheduler && threshold.Extremum == syntax.MinMax:
		return solve.MinMax, nil
	case hasScheduler && threshold.Extremum == syntax.MaxMin:
		return solve.MaxMin, nil
	case threshold.Extremum == syntax.NoExtremum:
		return 0, e.failure(result.TypeError, formula.Expr.Pos(), "found %s=? for a model with intervals, want %smin=? or %smax=?", letter, letter, letter)
	}
	return 0, e.failure(result.TypeError, formula.Expr.Pos(), "found %s%s=? for an interval Markov chain, which has no scheduler, want %smin=? or %smax=?", letter, threshold.Extremum, letter, letter)
}

// hasPositiveLowerEnds reports whether the lower ends of all intervals are above zero.
func (e *evaluation) hasPositiveLowerEnds() bool {
	model := e.space.Model()
	for i := range model.NumTransitions() {
		if model.Fraction(i).Sign() == 0 {
			return false
		}
	}
	return true
}
