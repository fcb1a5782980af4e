package prove

import (
	"strconv"
	"strings"

	"tilecheck/prism/sema"
)

// expressionText returns a state expression as text in PRISM's syntax. It writes all parentheses, so that equal expressions have equal texts.
func expressionText(program *sema.Program, expr sema.Expr) string {
	text := func(operand sema.Expr) string { return expressionText(program, operand) }
	switch typed := expr.(type) {
	case *sema.Const:
		if typed.Val.Rat != nil && !typed.Val.Rat.IsInt() {
			return "(" + typed.Val.Rat.RatString() + ")"
		}
		return typed.Val.String()
	case *sema.Var:
		return program.Vars[typed.Slot].Name
	case *sema.Label:
		return strconv.Quote(typed.Name)
	case *sema.Unary:
		return typed.Op.String() + text(typed.X)
	case *sema.Binary:
		return "(" + text(typed.X) + typed.Op.String() + text(typed.Y) + ")"
	case *sema.Cond:
		return "(" + text(typed.Condition) + "?" + text(typed.Then) + ":" + text(typed.Else) + ")"
	case *sema.Call:
		var args []string
		for _, argument := range typed.Args {
			args = append(args, text(argument))
		}
		return typed.Func.String() + "(" + strings.Join(args, ",") + ")"
	}
	return "" // unreachable: package sema has no other state expressions
}
