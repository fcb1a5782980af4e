package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxHorizon limits horizons, so that their sums cannot overflow.
const maxHorizon = 1 << 40

// Horizon returns the number of steps after which a path no longer matters to the value of a property in its first state, such as
// 10 for P=? [ F<=10 a ] and 13 for P=? [ F<=10 P>0.5 [ F<=3 a ] ]. It reports false if there is no such number or if it cannot compute
// the number: for operators without an upper bound, bounds on time or on rewards, long-run averages, filters and multi(...). The model
// must have discrete time.
func Horizon(property *Property) (steps int, ok bool) {
	h := horizon{labels: property.Program.Labels}
	steps = h.of(property.X)
	return steps, !h.endless
}

// horizon computes the horizon of a formula.
type horizon struct {
	labels  []sema.LabelDef
	endless bool // an operator without a horizon was found
}

// of returns the horizon of a state formula, a path formula or a number.
func (h *horizon) of(expr sema.Expr) int {
	if expr == nil || h.endless {
		return 0
	}
	formula := Of(expr)
	switch formula.Kind {
	case Label:
		return h.label(formula.Index)
	case Probability, Quantified:
		return h.path(formula.Path.X)
	case Strategy:
		return h.of(formula.Operand)
	case Reward:
		return h.reward(formula.Objective)
	case PathFormula:
		return h.path(expr)
	case Expression:
		return h.greatestOfOperands(expr)
	}
	h.endless = true
	return 0
}

// label returns the horizon of a label. The label "deadlock" has the horizon 1, because only a step shows whether a state is a deadlock.
func (h *horizon) label(index int) int {
	switch {
	case index >= 0:
		return h.of(h.labels[index].X)
	case index == sema.LabelDeadlock:
		return 1
	}
	return 0
}

// greatestOfOperands returns the greatest horizon of the operands of an expression.
func (h *horizon) greatestOfOperands(expr sema.Expr) int {
	greatest := 0
	sema.Operands(expr, func(operand sema.Expr) { greatest = max(greatest, h.of(operand)) })
	return greatest
}

// path returns the horizon of a path formula.
func (h *horizon) path(expr sema.Expr) int {
	switch expr := expr.(type) {
	case *sema.Temporal:
		return h.temporal(expr)
	case *sema.CostBounded:
		h.endless = true
		return 0
	}
	if expr.Type() == sema.Path {
		return h.greatestOfOperands(expr)
	}
	return h.of(expr)
}

// temporal returns the horizon of a temporal operator: the horizon of its operands plus the last step of its bound.
func (h *horizon) temporal(temporal *sema.Temporal) int {
	operands := max(h.of(temporal.X), h.of(temporal.Y))
	if temporal.Op == syntax.Next {
		return operands + 1
	}
	if temporal.Bound == nil || temporal.Bound.High == nil {
		h.endless = true
		return 0
	}
	_, last, err := Steps(temporal.Bound)
	return h.add(operands, last, err)
}

// reward returns the horizon of the objective of R.
func (h *horizon) reward(objective *Objective) int {
	if objective.Err != nil || objective.Ratio || objective.At == nil || objective.Form != Cumulative && objective.Form != Instantaneous {
		h.endless = true
		return 0
	}
	count, err := Count(objective.At)
	return h.add(0, count, err)
}

// add returns a horizon plus a number of steps. There is no horizon if the evaluation of the number failed with err.
func (h *horizon) add(horizon, steps int, err error) int {
	if err != nil || steps < 0 || horizon+steps > maxHorizon {
		h.endless = true
		return 0
	}
	return horizon + steps
}
