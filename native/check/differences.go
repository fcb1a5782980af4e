package check

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// floatWarnings returns a warning for each label and each expression over variables in a property whose value in some state differs
// from the value in PRISM: tilecheck compares fractions, and PRISM compares floating-point numbers.
func (c *Checker) floatWarnings(property *Property) []string {
	var warnings []string
	seen := map[sema.Expr]bool{}
	var visit func(expr sema.Expr)
	visit = func(expr sema.Expr) {
		if seen[expr] {
			return
		}
		seen[expr] = true
		label, isLabel := expr.(*sema.Label)
		switch {
		case isLabel && label.Index >= 0:
			definition := property.Program.Labels[label.Index].X
			warnings = append(warnings, c.floatDifference(property, fmt.Sprintf("label %q", label.Name), label.Position, definition)...)
		case sema.NeedsOnlyVariables(expr):
			warnings = append(warnings, c.floatDifference(property, "value", expr.Pos(), expr)...)
		default:
			sema.Operands(expr, visit)
		}
	}
	visit(property.X)
	return warnings
}

// floatDifference returns a warning if the value of an expression over variables differs from PRISM's value in some state, and
// otherwise nothing. The warning begins with the position and with kind, such as "value".
func (c *Checker) floatDifference(property *Property, kind string, pos syntax.Pos, expr sema.Expr) []string {
	count, firstState, err := c.bounds.space.Differences(expr, nil)
	if err != nil || count == 0 {
		return nil
	}
	warning := syntax.Error{File: property.File, Pos: pos, Msg: c.bounds.space.Difference(kind, count, firstState)}
	return []string{warning.Error()}
}
