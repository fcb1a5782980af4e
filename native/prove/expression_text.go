package prove

import (
	"strconv"
	"strings"

	"tilecheck/prism/sema"
)

// expressionText returns a state expression in PRISM's syntax, with all parentheses.
func expressionText(program *sema.Program, expr sema.Expr) string {
	text := func(operand sema.Expr) string { return expressionText(program, operand) }
	switch e := expr.(type) {
	case *sema.Const:
		if e.Val.Rat != nil && !e.Val.Rat.IsInt() {
			return "(" + e.Val.Rat.RatString() + ")"
		}
		return e.Val.String()
	case *sema.Var:
		return program.Vars[e.Slot].Name
	case *sema.Label:
		return strconv.Quote(e.Name)
	case *sema.Unary:
		return e.Op.String() + text(e.X)
	case *sema.Binary:
		return "(" + text(e.X) + e.Op.String() + text(e.Y) + ")"
	case *sema.Cond:
		return "(" + text(e.Condition) + "?" + text(e.Then) + ":" + text(e.Else) + ")"
	case *sema.Call:
		var args []string
		for _, argument := range e.Args {
			args = append(args, text(argument))
		}
		return e.Func.String() + "(" + strings.Join(args, ",") + ")"
	}
	return "" // unreachable: package sema has no other state expressions
}
