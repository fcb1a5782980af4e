package logic

import "tilecheck/prism/sema"

// OverVariables returns expressions over variables that determine the value of a state formula: the formula itself, or the definitions of its labels and
// its other operands. It returns none if expr is nil. isSupported is false if the formula has an operator such as P, or the label "init" or "deadlock".
func OverVariables(program *sema.Program, expr sema.Expr) (exprs []sema.Expr, isSupported bool) {
	if expr == nil {
		return nil, true
	}
	isSupported = true
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if sema.NeedsOnlyVariables(operand) {
			exprs = append(exprs, operand)
			return false
		}
		switch formula := FormulaOf(operand); {
		case formula.Kind == Label && formula.Index >= 0:
			definition := program.Labels[formula.Index].Expr // has no labels
			exprs = append(exprs, definition)
			isSupported = isSupported && sema.NeedsOnlyVariables(definition)
		case formula.Kind == Expression:
			return true
		default:
			isSupported = false
		}
		return false
	})
	return exprs, isSupported
}
