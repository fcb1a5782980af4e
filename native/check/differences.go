package check

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// differences returns a warning for each state formula or label of a property whose truth value in some state differs from PRISM's:
// tilecheck compares fractions, and PRISM compares floating-point numbers.
func (c *Checker) differences(property *Property) []string {
	var out []string
	seen := map[sema.Expr]bool{}
	warn := func(kind string, pos syntax.Pos, expr sema.Expr) {
		count, firstState, err := c.bounds.space.Differences(expr, nil)
		if err == nil && count > 0 {
			warning := syntax.Error{File: property.File, Pos: pos, Msg: c.bounds.space.Difference(kind, count, firstState)}
			out = append(out, warning.Error())
		}
	}
	var visit func(expr sema.Expr)
	visit = func(expr sema.Expr) {
		label, isLabel := expr.(*sema.Label)
		switch {
		case seen[expr]:
		case isLabel && label.Index >= 0:
			warn(fmt.Sprintf("label %q", label.Name), label.Position, property.Program.Labels[label.Index].X)
		case sema.Stateless(expr):
			warn("value", expr.Pos(), expr)
		default:
			sema.Operands(expr, visit)
		}
		seen[expr] = true
	}
	visit(property.X)
	return out
}
