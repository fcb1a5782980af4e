package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// robust returns the direction of P or R for an interval model, in which nature picks the probabilities
// from the intervals. A bound must hold for all schedulers and all choices of nature.
//
// Source: PRISM, whose interval models have lower ends above zero, too.
func (e *evaluation) robust(formula *logic.Formula) (solve.Direction, error) {
	letter, threshold := formula.Letter(), formula.Threshold
	if !e.positive() {
		return 0, e.unsupported(formula.X, "found an interval of probabilities whose lower end is 0")
	}
	mdp := e.kind() == sparse.MDP
	switch {
	case !threshold.Query():
		dir, _ := direction(threshold, e.some)
		return dir, nil
	case threshold.Extremum == syntax.Min, mdp && threshold.Extremum == syntax.MinMin:
		return solve.Min, nil
	case threshold.Extremum == syntax.Max, mdp && threshold.Extremum == syntax.MaxMax:
		return solve.Max, nil
	case mdp && threshold.Extremum == syntax.MinMax:
		return solve.MinMax, nil
	case mdp && threshold.Extremum == syntax.MaxMin:
		return solve.MaxMin, nil
	case threshold.Extremum == syntax.NoExtremum:
		return 0, e.refuse(result.TypeError, formula.X.Pos(), "found %s=? for a model with intervals, want %smin=? or %smax=?", letter, letter, letter)
	}
	return 0, e.refuse(result.TypeError, formula.X.Pos(), "found %s%s=? for an interval Markov chain, which has no scheduler, want %smin=? or %smax=?", letter, threshold.Extremum, letter, letter)
}

// positive reports whether all lower ends of intervals are above zero.
func (e *evaluation) positive() bool {
	m := e.space.Model()
	for i := range m.NumTransitions() {
		if m.Rat(i).Sign() == 0 {
			return false
		}
	}
	return true
}
