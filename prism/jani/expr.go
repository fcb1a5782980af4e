package jani

import (
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// sizedExpr is a translated expression with its size: the number of operators and operands in it,
// shared ones counted at each use.
type sizedExpr struct {
	expr        syntax.Expr
	size        int
	conditional bool // the value depends on an index
}

// maxSize is the largest number of operators and operands of a model with functions, arrays and
// sequential assignments expanded.
const maxSize = 2_000_000

// maxDigits is the largest length of a number.
const maxDigits = 10_000

// exprContext is the context in which an expression is translated. It gives meaning to names and says
// what may occur.
type exprContext struct {
	*scope
	assigned         map[*slot]sizedExpr // values assigned earlier in the same step; nil outside steps
	inProperty       bool                // operators of properties may occur
	noStateVariables bool                // variables that are not transient may not occur
	noTransients     bool                // transient variables may not occur
	calls            int                 // nesting depth of function calls
}

// withScope returns the same context with another scope.
func (context *exprContext) withScope(s *scope) *exprContext {
	q := *context
	q.scope = s
	return &q
}

// refusal is the panic value for an error in an expression. It ends the translation of everything
// around the expression that cannot be translated either.
type refusal struct{ err *syntax.Error }

// catchRefusal calls f and returns the error with which refuse ended it, if any.
func catchRefusal(f func()) (err *syntax.Error) {
	defer func() {
		if e := recover(); e != nil {
			r, ok := e.(refusal)
			if !ok {
				panic(e)
			}
			err = r.err
		}
	}()
	f()
	return nil
}

// refuse ends the translation of the current construct with an error; see catchRefusal.
func (t *translator) refuse(pos syntax.Pos, format string, args ...any) {
	var list syntax.ErrorList
	list.Add(t.file, pos, format, args...)
	panic(refusal{list[0]})
}

// expr translates an expression.
func (t *translator) expr(v *jsonValue, context *exprContext) syntax.Expr {
	t.addSize(v.Start, 1)
	switch v.kind {
	case boolean:
		return &syntax.BoolLit{Value: v.isTrue, Span: v.Span}
	case number:
		if len(v.text) > maxDigits {
			t.refuse(v.Start, "a number has %d characters, want at most %d", len(v.text), maxDigits)
		}
		return numberExpr(v)
	case text:
		return t.resolveName(v, context)
	case object:
		return t.operation(v, context)
	}
	t.refuse(v.Start, "found %s, want an expression", v.describe())
	return nil
}

// addSize adds n to the size of the model, and refuses a model that is too large.
func (t *translator) addSize(pos syntax.Pos, n int) {
	if t.size += n; t.size > maxSize {
		t.tooLarge = true
		t.refuse(pos, "the model has more than %d operators after expanding functions and assignments, want fewer", maxSize)
	}
}

// sizedExpr translates an expression that may occur several times in the result, and returns its size.
func (t *translator) sizedExpr(v *jsonValue, context *exprContext) sizedExpr {
	before := t.size
	x := t.expr(v, context)
	return sizedExpr{expr: x, size: t.size - before}
}

// numberExpr translates a number exactly, with all its digits.
func numberExpr(v *jsonValue) syntax.Expr {
	digits, negative := strings.CutPrefix(v.text, "-")
	var x syntax.Expr
	if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
		x = &syntax.IntLit{Value: int32(n), Span: v.Span}
	} else {
		if !strings.ContainsAny(digits, ".eE") {
			digits += ".0" // beyond an int
		}
		x = &syntax.DoubleLit{Text: digits, Span: v.Span}
	}
	if v.text == "-2147483648" {
		one := &syntax.IntLit{Value: 1, Span: v.Span}
		least := &syntax.Unary{Op: syntax.OpNeg, X: &syntax.IntLit{Value: 2147483647, Span: v.Span}, Span: v.Span}
		return &syntax.Binary{Op: syntax.OpSub, X: least, Y: one, OpPos: v.Start, Span: v.Span}
	}
	if negative {
		return &syntax.Unary{Op: syntax.OpNeg, X: x, Span: v.Span}
	}
	return x
}

// resolveName translates a name: a constant, parameter or variable.
func (t *translator) resolveName(v *jsonValue, context *exprContext) syntax.Expr {
	s, ok := context.find(v.text)
	switch {
	case !ok:
		t.refuse(v.Start, "there is no constant or variable %q", shortened(v.text))
	case s.composite != nil:
		t.refuse(v.Start, "%q is an array or a datatype, want one of its parts", shortened(v.text))
	case s.slot != nil:
		return t.slotValue(v, s.slot, context)
	}
	t.addSize(v.Start, s.size)
	if id, ok := s.expr.(*syntax.Ident); ok {
		return &syntax.Ident{Name: id.Name, Span: v.Span}
	}
	return s.expr
}

// slotValue translates the use of a variable. Inside a step it is the value that earlier assignments
// gave it. A transient variable is replaced by its value in the state.
func (t *translator) slotValue(v *jsonValue, variable *slot, context *exprContext) syntax.Expr {
	if !variable.transient && context.noStateVariables {
		t.refuse(v.Start, "a step reward reads the variable %q, want only transient variables and constants", shortened(variable.janiName))
	}
	if x, ok := context.assigned[variable]; ok {
		t.addSize(v.Start, x.size)
		return x.expr
	}
	switch {
	case !variable.transient:
		return &syntax.Ident{Name: variable.name, Span: v.Span}
	case context.assigned != nil:
		return variable.initial
	case context.noTransients:
		t.refuse(v.Start, "the value of a transient variable reads %q, which is also transient; this is not supported", shortened(variable.janiName))
	case variable.ambiguous:
		t.refuse(v.Start, "locations of several automata give %q a value, want locations of one automaton", shortened(variable.janiName))
	case context.inProperty && variable.typ.kind == boolType:
		return &syntax.Quoted{Name: t.labels[variable], Span: v.Span}
	}
	if variable.stateValue == nil {
		return variable.initial
	}
	t.addSize(v.Start, variable.stateSize)
	return variable.stateValue
}

// infix maps binary operators of JANI to those of PRISM.
var operators = map[string]syntax.Op{
	"∨": syntax.OpOr, "∧": syntax.OpAnd, "⇒": syntax.OpImplies, "=": syntax.OpEq, "≠": syntax.OpNe,
	"<": syntax.OpLt, "≤": syntax.OpLe, ">": syntax.OpGt, "≥": syntax.OpGe,
	"+": syntax.OpAdd, "-": syntax.OpSub, "*": syntax.OpMul, "/": syntax.OpDiv,
}

// calls maps functions of JANI to those of PRISM; two says that they have two operands.
var functionNames = map[string]struct {
	name string
	two  bool
}{
	"%": {"mod", true}, "pow": {"pow", true}, "log": {"log", true}, "min": {"min", true}, "max": {"max", true},
	"floor": {"floor", false}, "ceil": {"ceil", false},
}

// operation translates an operator with its operands.
func (t *translator) operation(v *jsonValue, context *exprContext) syntax.Expr {
	op := v.get("op")
	if c := v.get("constant"); op == nil && c != nil {
		t.refuse(v.Start, "the constant %s is not a fraction, so PRISM's language cannot express it", shortened(c.text))
	}
	if op == nil && v.get("distribution") != nil {
		t.refuse(v.Start, "sampling from continuous distributions is not supported")
	}
	if op == nil || op.kind != text {
		t.refuse(v.Start, "an expression has no \"op\", want one")
	}
	if binary, ok := operators[op.text]; ok {
		t.requireKeys(v, "left", "right")
		if x := t.boundedOperator(v, binary, context); x != nil {
			return x
		}
		x, y := t.expr(v.get("left"), context), t.expr(v.get("right"), context)
		return &syntax.Binary{Op: binary, X: x, Y: y, OpPos: op.Start, Span: v.Span}
	}
	if c, ok := functionNames[op.text]; ok {
		if !c.two {
			t.requireKeys(v, "exp")
			return functionCall(v, c.name, t.expr(v.get("exp"), context))
		}
		t.requireKeys(v, "left", "right")
		return functionCall(v, c.name, t.expr(v.get("left"), context), t.expr(v.get("right"), context))
	}
	return t.otherOperator(v, op, context)
}

// requireKeys checks that an operator has exactly the given keys.
func (t *translator) requireKeys(v *jsonValue, keys ...string) {
	for _, key := range keys {
		if v.get(key) == nil {
			t.refuse(v.Start, "the operator %s has no %q, want one", v.get("op").describe(), key)
		}
	}
	for _, m := range v.members {
		known := m.key == "op" || m.key == "comment" || strings.HasPrefix(m.key, "x-")
		for _, key := range keys {
			known = known || key == m.key
		}
		if !known {
			t.refuse(m.pos, "the operator %s has a key %q, want only %s", v.get("op").describe(), shortened(m.key), strings.Join(keys, ", "))
		}
	}
}

// functionCall returns a call of a function of PRISM's language at the position of v.
func functionCall(v *jsonValue, name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Func: &syntax.Ident{Name: name, Span: v.Span}, Args: args, Span: v.Span}
}

// otherOperator translates the operators that have no counterpart in PRISM's language, by expressions
// with the same meaning, and the operators of properties.
func (t *translator) otherOperator(v, op *jsonValue, context *exprContext) syntax.Expr {
	switch op.text {
	case "¬":
		t.requireKeys(v, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.expr(v.get("exp"), context), Span: v.Span}
	case "ite":
		t.requireKeys(v, "if", "then", "else")
		return &syntax.Cond{C: t.expr(v.get("if"), context), T: t.expr(v.get("then"), context), E: t.expr(v.get("else"), context), Span: v.Span}
	case "abs", "sgn", "trc":
		t.requireKeys(v, "exp")
		return t.signed(v, op.text, context)
	case "call":
		t.requireKeys(v, "function", "args")
		return t.expandCall(v, context)
	case "aa", "da":
		s := t.partOf(v, context)
		if s.composite != nil {
			t.refuse(v.Start, "found an array or a datatype, want a number or a Boolean")
		}
		return s.expr
	case "av", "ac":
		t.refuse(v.Start, "found an array, want a number or a Boolean")
	}
	if context.inProperty {
		if x := t.propertyOperator(v, op, context); x != nil {
			return x
		}
	}
	t.refuse(op.Start, "the operator %q is not supported here", shortened(op.text))
	return nil
}

// signed translates abs, sgn and trc (truncation), which PRISM's language lacks, by conditions on the
// sign.
func (t *translator) signed(v *jsonValue, op string, context *exprContext) syntax.Expr {
	s := t.sizedExpr(v.get("exp"), context)
	t.addSize(v.Start, 2*s.size+8)
	number := func(n int32) syntax.Expr { return &syntax.IntLit{Value: n, Span: v.Span} }
	neg := func(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNeg, X: x, Span: v.Span} }
	compared := func(op syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: op, X: s.expr, Y: number(0), OpPos: v.Start, Span: v.Span}
	}
	choose := func(c, a, b syntax.Expr) syntax.Expr { return &syntax.Cond{C: c, T: a, E: b, Span: v.Span} }
	switch op {
	case "abs":
		return choose(compared(syntax.OpGe), s.expr, neg(s.expr))
	case "trc":
		return choose(compared(syntax.OpGe), functionCall(v, "floor", s.expr), functionCall(v, "ceil", s.expr))
	}
	return choose(compared(syntax.OpGt), number(1), choose(compared(syntax.OpLt), neg(number(1)), number(0)))
}

// expandCall translates a function call by translating the body of the function, with the arguments in
// place of the parameters.
func (t *translator) expandCall(v *jsonValue, context *exprContext) syntax.Expr {
	const maxCalls = 1000
	name, args := v.get("function"), v.get("args")
	function, functionScope := context.function(name.text)
	switch {
	case function == nil:
		t.refuse(name.Start, "there is no function %q", shortened(name.text))
	case args.kind != array || len(args.elements) != len(function.params):
		t.refuse(args.Start, "the function %q has %d parameters, want as many arguments in an array", shortened(function.name), len(function.params))
	case context.calls >= maxCalls:
		t.refuse(v.Start, "the function %q calls itself, or functions call each other more than %d deep, which is not supported", shortened(function.name), maxCalls)
	}
	s := newScope(functionScope)
	for i, param := range function.params {
		arg := args.elements[i]
		if param.typ.kind == arrayType || param.typ.kind == dataType {
			s.names[param.name] = t.symbolOf(arg, context)
			continue
		}
		x := t.sizedExpr(arg, context)
		s.names[param.name] = symbol{expr: x.expr, size: x.size, isBool: param.typ.kind == boolType}
	}
	q := context.withScope(s)
	q.calls++
	return t.expr(function.body, q)
}

// isBool reports whether an expression is Boolean, which its outermost operator decides.
func (t *translator) isBool(v *jsonValue, context *exprContext) bool {
	switch v.kind {
	case boolean:
		return true
	case text:
		s, _ := context.find(v.text)
		return s.isBool || s.slot != nil && s.slot.typ.kind == boolType
	case object:
		op := v.get("op")
		if op == nil {
			return false
		}
		switch op.text {
		case "∨", "∧", "⇒", "=", "≠", "<", "≤", ">", "≥", "¬", "initial", "deadlock", "∀", "∃":
			return true
		case "ite":
			return v.get("then") != nil && t.isBool(v.get("then"), context)
		}
	}
	return false
}

// constant returns the value of an expression over numbers and constants of the document; nil if
// it depends on anything else. depth is the nesting depth so far.
func (t *translator) constant(v *jsonValue, context *exprContext, depth int) *big.Rat {
	const maxConstantDepth = 100
	if v == nil || depth > maxConstantDepth {
		return nil
	}
	switch v.kind {
	case number:
		if len(v.text) > 20 || strings.ContainsAny(v.text, "eE") {
			return nil
		}
		fraction, _ := new(big.Rat).SetString(v.text)
		return fraction
	case text:
		s, _ := context.find(v.text)
		return t.constant(s.definition, context, depth+1)
	case object:
		op, x, y := v.get("op"), t.constant(v.get("left"), context, depth+1), t.constant(v.get("right"), context, depth+1)
		if op == nil || x == nil || y == nil || x.Num().BitLen()+y.Num().BitLen() > 64 {
			return nil
		}
		switch op.text {
		case "+":
			return x.Add(x, y)
		case "-":
			return x.Sub(x, y)
		case "*":
			return x.Mul(x, y)
		}
	}
	return nil
}
