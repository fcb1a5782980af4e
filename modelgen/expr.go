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

// is is `name=n`, isNot is `name!=n`.
func is(name string, n int) syntax.Expr { return eq(ident(name), intLit(n)) }

func isNot(name string, n int) syntax.Expr { return ne(ident(name), intLit(n)) }

// chain joins xs from left to right; empty is the value of no operand.
func chain(op syntax.Op, empty syntax.Expr, xs []syntax.Expr) syntax.Expr {
	if len(xs) == 0 {
		return empty
	}
	x := xs[0]
	for _, y := range xs[1:] {
		x = binary(op, x, y)
	}
	return x
}

func and(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpAnd, boolLit(true), xs) }

func or(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpOr, boolLit(false), xs) }

func sum(xs ...syntax.Expr) syntax.Expr { return chain(syntax.OpAdd, intLit(0), xs) }

func call(name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Func: ident(name), Args: args}
}

// paren keeps parentheses that precedence does not demand where they help a reader.
func paren(x syntax.Expr) syntax.Expr { return &syntax.Paren{X: x} }

// each maps names to expressions.
func each(names []string, f func(name string) syntax.Expr) []syntax.Expr {
	xs := make([]syntax.Expr, len(names))
	for i, name := range names {
		xs[i] = f(name)
	}
	return xs
}

// assign is `(name'=value)`, with a conditional value in parentheses of its own.
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

// documented puts a comment above a command.
func documented(c *syntax.Command, lines ...string) *syntax.Command {
	c.Doc = lines
	return c
}

func formula(name string, x syntax.Expr, doc ...string) *syntax.FormulaDecl {
	return &syntax.FormulaDecl{Doc: doc, Name: ident(name), X: x}
}

func label(name string, x syntax.Expr) *syntax.LabelDecl {
	return &syntax.LabelDecl{Name: ident(name), X: x}
}

// rangeVar is `name : [0..high] init n;` with high as an expression.
func rangeVar(name string, high syntax.Expr, init int, doc ...string) *syntax.VarDecl {
	return &syntax.VarDecl{
		Doc: doc, Name: ident(name), Type: syntax.RangeVar,
		Low: intLit(0), High: high, Init: intLit(init),
	}
}
