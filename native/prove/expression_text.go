package prove

import (
	"strconv"
	"strings"

	"tilecheck/prism/sema"
)

// text returns an expression over the variables in PRISM's syntax, with all parentheses. It is the Text of an atomic set.
func text(p *sema.Program, e sema.Expr) string {
	switch e := e.(type) {
	case *sema.Const:
		if e.Val.Rat != nil && !e.Val.Rat.IsInt() {
			return "(" + e.Val.Rat.RatString() + ")"
		}
		return e.Val.String()
	case *sema.Var:
		return p.Vars[e.Slot].Name
	case *sema.Label:
		return strconv.Quote(e.Name)
	case *sema.Unary:
		return e.Op.String() + text(p, e.X)
	case *sema.Binary:
		return "(" + text(p, e.X) + e.Op.String() + text(p, e.Y) + ")"
	case *sema.Cond:
		return "(" + text(p, e.C) + "?" + text(p, e.A) + ":" + text(p, e.B) + ")"
	case *sema.Call:
		var args []string
		for _, a := range e.Args {
			args = append(args, text(p, a))
		}
		return e.Func.String() + "(" + strings.Join(args, ",") + ")"
	}
	return "" // unreachable: package sema has no other state expressions
}
