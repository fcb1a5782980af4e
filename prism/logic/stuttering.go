package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// IgnoresStuttering reports whether the value of a property of a Markov automaton stays the same if immediate steps between states that
// the property does not distinguish are left out. It is true for P with F, G, U, W and the temporal R, without bounds or with bounds on the
// time, for S, and for the time until a target. It is false for operators that count steps, states or other rewards, and for
// the labels "init" and "deadlock".
func IgnoresStuttering(property *Property) bool {
	return stuttering{property.Program}.isIgnored(property.Expr)
}

// stuttering decides IgnoresStuttering.
type stuttering struct{ program *sema.Program }

// isIgnored reports whether stuttering cannot change the value of a formula or number. It is true for nil.
func (s stuttering) isIgnored(expr sema.Expr) bool {
	if expr == nil {
		return true
	}
	switch formula := FormulaOf(expr); formula.Kind {
	case Label:
		return formula.Index >= 0 && s.isIgnored(s.program.Labels[formula.Index].Expr)
	case Probability:
		return s.isPathIgnored(formula.Path)
	case SteadyState:
		return s.isIgnored(formula.Operand)
	case Reward:
		return s.isTime(expr.(*sema.Reward)) && formula.Objective.Form == ReachReward && s.isPathIgnored(formula.Objective.Path)
	case Expression:
		isIgnored := true
		sema.VisitOperands(expr, func(operand sema.Expr) { isIgnored = isIgnored && s.isIgnored(operand) })
		return isIgnored
	}
	return false
}

// isPathIgnored reports whether stuttering of a path cannot change the value of a path formula.
func (s stuttering) isPathIgnored(path *Path) bool {
	switch path.Form {
	case Until:
		if path.Bound != nil { // a bound on steps counts stuttering steps, too
			return false
		}
	case CostBounded:
		for _, cost := range path.Costs {
			if !cost.IsTime {
				return false
			}
		}
	default:
		return false
	}
	return s.isIgnored(path.Left) && s.isIgnored(path.Right)
}

// isTime reports whether the reward of an operator is the time.
func (s stuttering) isTime(reward *sema.Reward) bool {
	return reward.Struct >= 0 && reward.DivisorStruct < 0 && s.program.Rewards[reward.Struct].Name == syntax.TimeRewards
}
