package orbits

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// terms numbers expressions: expressions with equal numbers have equal values in every state. The numbers of operands are sorted where their order does not
// matter.
type terms struct {
	numbers map[string]int
}

// term is the number of an expression or of a part of a program.
type term int

// number returns the number of a key. Parts of a key are names, operators and numbers of operands.
func (terms *terms) number(parts ...any) term {
	key := fmt.Sprintf("%v", parts)
	number, ok := terms.numbers[key]
	if !ok {
		number = len(terms.numbers)
		terms.numbers[key] = number
	}
	return term(number)
}

// multiset returns the number of a multiset of terms.
func (terms *terms) multiset(kind string, members []term) term {
	slices.Sort(members)
	return terms.number(kind, members)
}

// reader numbers expressions after a permutation.
type reader struct {
	*terms
	permutation *permutation
	known       map[sema.Expr]term
}

// expr returns the number of an expression after the permutation. nil, a missing expression, has a number, too.
func (reader *reader) expr(expr sema.Expr) term {
	if expr == nil {
		return reader.number("none")
	}
	number, ok := reader.known[expr]
	if !ok {
		number = reader.newExpr(expr)
		reader.known[expr] = number
	}
	return number
}

// newExpr computes the number of an expression from those of its operands. An expression of an unknown kind gets a number of its own for each permutation, so
// it is equal to nothing.
func (reader *reader) newExpr(expr sema.Expr) term {
	switch expr := expr.(type) {
	case *sema.Const:
		if expr.Val.Type == sema.Double && expr.Val.Rat == nil { // its float64 does not identify it
			return reader.number("constant at", fmt.Sprintf("%p", expr))
		}
		return reader.number("constant", expr.Val.Type, expr.Val.String(), expr.Val.Rat)
	case *sema.Var:
		return reader.number("variable", reader.permutation.variable(expr.Slot))
	case *sema.Unary:
		return reader.number("unary", expr.Op, reader.expr(expr.X))
	case *sema.Binary:
		if !commutes(expr) {
			return reader.number("binary", expr.Op, expr.Type(), reader.expr(expr.X), reader.expr(expr.Y))
		}
		return reader.multiset(fmt.Sprint("operands of ", expr.Op, expr.Type()), reader.operands(expr, expr, nil))
	case *sema.Cond:
		return reader.number("if", reader.expr(expr.Condition), reader.expr(expr.Then), reader.expr(expr.Else))
	case *sema.Call:
		operands := make([]term, len(expr.Args))
		for i, operand := range expr.Args {
			operands[i] = reader.expr(operand)
		}
		if expr.Func == sema.FuncMin || expr.Func == sema.FuncMax {
			return reader.multiset(fmt.Sprint("extremum ", expr.Func, expr.Type()), operands)
		}
		return reader.number("call", expr.Func, expr.Type(), operands)
	}
	return reader.number("unknown", fmt.Sprintf("%p under %p", expr, reader.permutation))
}

// operands appends the numbers of the operands of a commutative operator. The operands of an associative operator are those of the whole chain,
// such as a+b+c.
func (reader *reader) operands(chain *sema.Binary, expr sema.Expr, numbers []term) []term {
	inner, ok := expr.(*sema.Binary)
	isPart := ok && inner.Op == chain.Op && inner.Type() == chain.Type() && commutes(inner)
	if isPart && (inner == chain || isAssociative(chain)) {
		return reader.operands(chain, inner.Y, reader.operands(chain, inner.X, numbers))
	}
	return append(numbers, reader.expr(expr))
}

// commutes reports whether the operands of an operation can be exchanged. Those of & and | can if none of them can fail, because the
// second one is evaluated only if the first one does not decide.
func commutes(expr *sema.Binary) bool {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr:
		return sema.Every(expr, cannotFail)
	case syntax.OpAdd, syntax.OpMul, syntax.OpEq, syntax.OpNe, syntax.OpIff:
		return true
	}
	return false
}

// isAssociative reports whether the operands of a chain of a commutative operator can be combined in any order. Those of real numbers cannot, because the
// explorer may round.
func isAssociative(expr *sema.Binary) bool {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr:
		return true
	case syntax.OpAdd, syntax.OpMul:
		return expr.Type() == sema.Int
	}
	return false
}

// cannotFail reports whether an operator has a value for all operands.
func cannotFail(expr sema.Expr) bool {
	switch expr := expr.(type) {
	case *sema.Const, *sema.Var, *sema.Unary, *sema.Cond:
		return true
	case *sema.Call:
		return expr.Func == sema.FuncMin || expr.Func == sema.FuncMax
	case *sema.Binary:
		return expr.Op != syntax.OpPow
	}
	return false
}
