package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// endless is the horizon of a formula without one. It is greater than all other horizons, and sums of it do not overflow.
const endless = 1 << 40

// Horizon returns the number of steps after which a path cannot change the value of a property in its first state. It is 10 for P=? [ F<=10
// a ], and 13 for P=? [ F<=10 P>0.5 [ F<=3 a ] ]. ok is false if there is no such number, or if it cannot be computed: for unbounded
// operators, bounds on time or rewards, long-run averages, filters and multi(...). The model must have discrete time.
func Horizon(property *Property) (steps int, ok bool) {
	steps = horizon{property.Program.Labels}.ofFormula(property.Expr)
	return steps, steps < endless
}

// horizon computes the horizons of formulas. labels are the labels that may occur in them.
type horizon struct{ labels []sema.LabelDef }

// ofFormula returns the horizon of a formula: the number of steps of a path that determine its value. Later steps cannot change it. It returns 0
// for nil.
func (h horizon) ofFormula(expr sema.Expr) int {
	if expr == nil {
		return 0
	}
	switch formula := FormulaOf(expr); formula.Kind {
	case Label:
		return h.ofLabel(formula.Index)
	case Probability, Quantified:
		return h.ofPath(formula.Path.Expr)
	case Strategy:
		return h.ofFormula(formula.Operand)
	case Reward:
		return h.ofReward(formula.Objective)
	case PathFormula:
		return h.ofPath(expr)
	case Expression:
		return h.greatestOfOperands(expr)
	}
	return endless
}

// ofLabel returns the horizon of a label, which is the number of steps of a path that determine its value. It is 1 for "deadlock", because only the
// next step shows whether a state is a deadlock.
func (h horizon) ofLabel(index int) int {
	switch {
	case index >= 0:
		return h.ofFormula(h.labels[index].Expr)
	case index == sema.LabelDeadlock:
		return 1
	}
	return 0
}

// greatestOfOperands returns the greatest horizon of the operands of an expression.
func (h horizon) greatestOfOperands(expr sema.Expr) int {
	greatest := 0
	sema.VisitOperands(expr, func(operand sema.Expr) { greatest = max(greatest, h.ofFormula(operand)) })
	return greatest
}

// ofPath returns the horizon of a path formula: the number of steps of a path that determine its value.
func (h horizon) ofPath(expr sema.Expr) int {
	switch expr := expr.(type) {
	case *sema.Temporal:
		return h.ofTemporal(expr)
	case *sema.CostBounded:
		return endless
	}
	if expr.Type() == sema.Path {
		return h.greatestOfOperands(expr)
	}
	return h.ofFormula(expr)
}

// ofTemporal returns the horizon of a temporal operator: the last step of its bound plus the greatest horizon of its operands.
func (h horizon) ofTemporal(temporal *sema.Temporal) int {
	operandSteps := max(h.ofFormula(temporal.X), h.ofFormula(temporal.Y))
	if temporal.Op == syntax.Next {
		return addSteps(operandSteps, 1)
	}
	if temporal.Bound == nil || temporal.Bound.High == nil {
		return endless
	}
	_, last, err := Steps(temporal.Bound)
	if err != nil {
		return endless
	}
	return addSteps(operandSteps, last)
}

// ofReward returns the horizon of the objective of an operator R: its number of steps, such as 5 for C<=5.
func (h horizon) ofReward(objective *Objective) int {
	hasNumber := objective.At != nil && (objective.Form == Cumulative || objective.Form == Instantaneous)
	if objective.Err != nil || objective.IsRatio || !hasNumber {
		return endless
	}
	count, err := Count(objective.At)
	if err != nil {
		return endless
	}
	return addSteps(0, count)
}

// addSteps returns a horizon plus a number of steps. The sum is endless for a negative or very large number.
func addSteps(horizon, steps int) int {
	if steps < 0 {
		return endless
	}
	return min(horizon+min(steps, endless), endless)
}
