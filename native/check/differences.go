package check

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// differences returns warnings about expressions of a property, and of the labels in it, that have another truth
// value in PRISM, which computes them in floating point.
func (c *Checker) differences(p *Property) []string {
	var out []string
	seen := map[sema.Expr]bool{}
	warn := func(what string, at syntax.Pos, x sema.Expr) {
		count, firstState, err := c.bounds.space.Differences(x, nil)
		if err == nil && count > 0 {
			warning := syntax.Error{File: p.File, Pos: at, Msg: c.bounds.space.Difference(what, count, firstState)}
			out = append(out, warning.Error())
		}
	}
	var visit func(x sema.Expr)
	visit = func(x sema.Expr) {
		label, isLabel := x.(*sema.Label)
		switch {
		case seen[x]:
		case isLabel && label.Index >= 0:
			warn(fmt.Sprintf("label %q", label.Name), label.Position, p.Program.Labels[label.Index].X)
		case sema.Stateless(x):
			warn("value", x.Pos(), x)
		default:
			sema.Operands(x, visit)
		}
		seen[x] = true
	}
	visit(p.X)
	return out
}
