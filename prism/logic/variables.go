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

// WithoutLabels returns a state formula in which definitions replace the labels. ok is false if the formula has anything but variables and labels, as for
// OverVariables.
func WithoutLabels(program *sema.Program, expr sema.Expr) (formula sema.Expr, ok bool) {
	if _, isSupported := OverVariables(program, expr); !isSupported {
		return nil, false
	}
	rewriter := &sema.Rewriter{RewriteOther: func(other sema.Expr) (sema.Expr, error) {
		if label := FormulaOf(other); label.Kind == Label {
			return program.Labels[label.Index].Expr, nil
		}
		return other, nil // a parameter
	}}
	formula, err := rewriter.Rewrite(expr)
	return formula, err == nil
}
