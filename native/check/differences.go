package check

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// differences warns of expressions of a property, its labels included, whose
// truth is not what PRISM computes with doubles.
func (c *Checker) differences(p *Property) []string {
	var out []string
	seen := map[sema.Expr]bool{}
	warn := func(what string, at syntax.Pos, x sema.Expr) {
		if n, first, err := c.bounds.space.Differences(x, nil); err == nil && n > 0 {
			w := syntax.Error{File: p.File, Pos: at, Msg: c.bounds.space.Difference(what, n, first)}
			out = append(out, w.Error())
		}
	}
	var visit func(x sema.Expr)
	visit = func(x sema.Expr) {
		l, ok := x.(*sema.Label)
		switch {
		case seen[x]:
		case ok && l.Index >= 0:
			warn(fmt.Sprintf("label %q", l.Name), l.At, p.Program.Labels[l.Index].X)
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
