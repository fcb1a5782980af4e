package elimination

import (
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
)

// observed is what a property distinguishes: formulas over variables, and reward structures.
type observed struct {
	program  *sema.Program
	formulas []sema.Expr
	rewards  []int // indices into Program.Rewards
}

// observe returns the formulas over variables and the reward structures on which a property depends. It returns nil if the property may count steps, or has
// nested operators.
func observe(property *logic.Property) *observed {
	o := &observed{program: property.Program}
	formula := logic.FormulaOf(property.Expr)
	if formula.Kind == logic.Probability && o.addPath(formula.Path) || formula.Kind == logic.Reward && o.addObjective(formula.Objective) {
		return o
	}
	return nil
}

// addObjective adds the target and the rewards of a reward objective to those on which the property depends. It returns false if the objective is not
// supported.
func (o *observed) addObjective(objective *logic.Objective) bool {
	if objective.Err != nil || objective.IsRatio {
		return false
	}
	o.addReward(objective.Struct)
	return objective.Form == logic.TotalReward || objective.Form == logic.ReachReward && o.addPath(objective.Path)
}

// addPath adds the state formulas and the bounded rewards of a path formula to those on which the property depends. It returns false if the formula is not
// supported.
func (o *observed) addPath(path *logic.Path) bool {
	switch path.Form {
	case logic.Until:
		if path.Bound != nil {
			return false
		}
	case logic.CostBounded:
		for _, cost := range path.Costs {
			// A state of the target need not be the first one with enough reward.
			if cost.Struct < 0 || cost.IsTime || cost.Bound.Low != nil {
				return false
			}
			o.addReward(cost.Struct)
		}
	default:
		return false
	}
	return o.addState(path.Left) && o.addState(path.Right)
}

// addReward adds a reward structure.
func (o *observed) addReward(structure int) {
	if !slices.Contains(o.rewards, structure) {
		o.rewards = append(o.rewards, structure)
	}
}

// addState adds a state formula, or nothing if expr is nil. It returns false if the formula is not supported.
func (o *observed) addState(expr sema.Expr) bool {
	formulas, isSupported := logic.OverVariables(o.program, expr)
	o.formulas = append(o.formulas, formulas...)
	return isSupported
}
