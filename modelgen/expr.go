package modelgen

import "tilecheck/prism/syntax"

func ident(name string) *syntax.Ident { return &syntax.Ident{Name: name} }

func intLit(n int) *syntax.IntLit { return &syntax.IntLit{Value: int32(n)} }

func boolLit(v bool) *syntax.BoolLit { return &syntax.BoolLit{Value: v} }

func not(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNot, X: x} }

func binary(op syntax.Op, x, y syntax.Expr) syntax.Expr {
	return &syntax.Binary{Op: op, X: x, Y: y}
}

func eq(x, y syntax.Expr) syntax.Expr { return binary(syntax.OpEq, x, y) }

func ne(x, y syntax.Expr) syntax.Expr { return binary(syntax.OpNe, x, y) }

// is returns the expression name=n.
func is(name string, n int) syntax.Expr { return eq(ident(name), intLit(n)) }

// isNot returns the expression name!=n.
func isNot(name string, n int) syntax.Expr { return ne(ident(name), intLit(n)) }

// chain joins operands by an operator, from left to right. Without operands it returns the expression empty.
func chain(operator syntax.Op, empty syntax.Expr, operands []syntax.Expr) syntax.Expr {
	if len(operands) == 0 {
		return empty
	}
	chained := operands[0]
	for _, operand := range operands[1:] {
		chained = binary(operator, chained, operand)
	}
	return chained
}

func and(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpAnd, boolLit(true), xs) }

func or(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpOr, boolLit(false), xs) }

func sum(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpAdd, intLit(0), xs) }

func call(name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Func: ident(name), Args: args}
}

// paren returns an expression in parentheses that make the model easier to read, even if precedence does not require them.
func paren(x syntax.Expr) syntax.Expr { return &syntax.Paren{X: x} }

// each returns the expressions that a function makes of names, in the same order.
func each(names []string, exprFor func(name string) syntax.Expr) []syntax.Expr {
	exprs := make([]syntax.Expr, len(names))
	for i, name := range names {
		exprs[i] = exprFor(name)
	}
	return exprs
}

// assign returns the assignment (name'=value). It adds parentheses around a conditional value.
func assign(name string, value syntax.Expr) *syntax.Assign {
	if _, ok := value.(*syntax.Cond); ok {
		value = paren(value)
	}
	return &syntax.Assign{Name: ident(name), Value: value}
}

func update(prob syntax.Expr, assigns ...*syntax.Assign) *syntax.Update {
	return &syntax.Update{Prob: prob, Assigns: assigns}
}

func command(action string, guard syntax.Expr, updates ...*syntax.Update) *syntax.Command {
	return &syntax.Command{Action: ident(action), Guard: guard, Updates: updates}
}

// documented adds a comment above a command and returns the command.
func documented(command *syntax.Command, lines ...string) *syntax.Command {
	command.Doc = lines
	return command
}

func formula(name string, x syntax.Expr, doc ...string) *syntax.FormulaDecl {
	return &syntax.FormulaDecl{Doc: doc, Name: ident(name), X: x}
}

func label(name string, x syntax.Expr) *syntax.LabelDecl {
	return &syntax.LabelDecl{Name: ident(name), X: x}
}

// rangeVar returns the declaration name : [0..high] init n; high may be any expression.
func rangeVar(name string, high syntax.Expr, init int, doc ...string) *syntax.VarDecl {
	return &syntax.VarDecl{
		Doc: doc, Name: ident(name), Type: syntax.RangeVar,
		Low: intLit(0), High: high, Init: intLit(init),
	}
}
