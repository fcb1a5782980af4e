package jani

import (
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// sized is an expression with its size: the number of operators and operands when expanded.
type sized struct {
	x      syntax.Expr
	size   int
	chosen bool // the value depends on an index
}

// maxSize is the largest number of operators and operands of a model with functions, arrays and
// sequential assignments expanded.
const maxSize = 2_000_000

// maxDigits is the largest length of a number.
const maxDigits = 10_000

// place is the context of an expression: it gives meaning to names.
type place struct {
	*scope
	env    map[*slot]sized // values assigned earlier in the same step; nil outside steps
	prop   bool            // operators of properties may occur
	steady bool            // variables that are not transient may not occur
	plain  bool            // transient variables may not occur
	calls  int             // nesting depth of function calls
}

// in returns the same place in another scope.
func (p *place) in(s *scope) *place {
	q := *p
	q.scope = s
	return &q
}

// refused is the panic value for an error inside an expression, whose context cannot be translated
// either.
type refused struct{ err *syntax.Error }

// guard calls f and returns the error with which it panicked, if any.
func guard(f func()) (err *syntax.Error) {
	defer func() {
		if e := recover(); e != nil {
			r, ok := e.(refused)
			if !ok {
				panic(e)
			}
			err = r.err
		}
	}()
	f()
	return nil
}

// refuse panics with an error.
func (t *translator) refuse(at syntax.Pos, format string, args ...any) {
	var one syntax.ErrorList
	one.Add(t.file, at, format, args...)
	panic(refused{one[0]})
}

// expr translates an expression.
func (t *translator) expr(v *value, p *place) syntax.Expr {
	t.charge(v.Start, 1)
	switch v.kind {
	case boolean:
		return &syntax.BoolLit{Value: v.yes, Span: v.Span}
	case number:
		if len(v.text) > maxDigits {
			t.refuse(v.Start, "a number has %d characters, want at most %d", len(v.text), maxDigits)
		}
		return numeral(v)
	case text:
		return t.name(v, p)
	case object:
		return t.operation(v, p)
	}
	t.refuse(v.Start, "found %s, want an expression", v.describe())
	return nil
}

// charge adds n to the size of the model and refuses a model that is too large.
func (t *translator) charge(at syntax.Pos, n int) {
	if t.size += n; t.size > maxSize {
		t.large = true
		t.refuse(at, "the model has more than %d operators with functions and assignments written out, want fewer", maxSize)
	}
}

// sizedExpr translates an expression that may occur several times in the result.
func (t *translator) sizedExpr(v *value, p *place) sized {
	before := t.size
	x := t.expr(v, p)
	return sized{x: x, size: t.size - before}
}

// numeral translates a number and keeps its digits.
func numeral(v *value) syntax.Expr {
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

func (t *translator) name(v *value, p *place) syntax.Expr {
	s, ok := p.find(v.text)
	switch {
	case !ok:
		t.refuse(v.Start, "there is no constant or variable %q", short(v.text))
	case s.data != nil:
		t.refuse(v.Start, "%q is an array or a datatype, want one of its parts", short(v.text))
	case s.slot != nil:
		return t.slot(v, s.slot, p)
	}
	t.charge(v.Start, s.size)
	if id, ok := s.x.(*syntax.Ident); ok {
		return &syntax.Ident{Name: id.Name, Span: v.Span}
	}
	return s.x
}

// slot returns the value of a variable at a place.
func (t *translator) slot(v *value, s *slot, p *place) syntax.Expr {
	if !s.transient && p.steady {
		t.refuse(v.Start, "a reward of steps reads the variable %q, want only transient variables and constants", short(s.jani))
	}
	if x, ok := p.env[s]; ok {
		t.charge(v.Start, x.size)
		return x.x
	}
	switch {
	case !s.transient:
		return &syntax.Ident{Name: s.name, Span: v.Span}
	case p.env != nil:
		return s.initial
	case p.plain:
		t.refuse(v.Start, "a value of a transient variable reads %q, which is transient, too", short(s.jani))
	case s.ambiguous:
		t.refuse(v.Start, "locations of several automata have values of %q, want those of one", short(s.jani))
	case p.prop && s.typ.kind == boolType:
		return &syntax.Quoted{Name: t.labels[s], Span: v.Span}
	}
	if s.state == nil {
		return s.initial
	}
	t.charge(v.Start, s.stateSize)
	return s.state
}

// infix maps binary operators of JANI to those of PRISM.
var infix = map[string]syntax.Op{
	"∨": syntax.OpOr, "∧": syntax.OpAnd, "⇒": syntax.OpImplies, "=": syntax.OpEq, "≠": syntax.OpNe,
	"<": syntax.OpLt, "≤": syntax.OpLe, ">": syntax.OpGt, "≥": syntax.OpGe,
	"+": syntax.OpAdd, "-": syntax.OpSub, "*": syntax.OpMul, "/": syntax.OpDiv,
}

// calls maps functions of JANI to those of PRISM; two says that they have two operands.
var calls = map[string]struct {
	name string
	two  bool
}{
	"%": {"mod", true}, "pow": {"pow", true}, "log": {"log", true}, "min": {"min", true}, "max": {"max", true},
	"floor": {"floor", false}, "ceil": {"ceil", false},
}

func (t *translator) operation(v *value, p *place) syntax.Expr {
	op := v.get("op")
	if c := v.get("constant"); op == nil && c != nil {
		t.refuse(v.Start, "the constant %s is not a fraction, which PRISM's language has no form for", short(c.text))
	}
	if op == nil && v.get("distribution") != nil {
		t.refuse(v.Start, "sampling from continuous distributions is not supported")
	}
	if op == nil || op.kind != text {
		t.refuse(v.Start, "an expression has no \"op\", want one")
	}
	if o, ok := infix[op.text]; ok {
		t.operands(v, "left", "right")
		if x := t.threshold(v, o, p); x != nil {
			return x
		}
		x, y := t.expr(v.get("left"), p), t.expr(v.get("right"), p)
		return &syntax.Binary{Op: o, X: x, Y: y, OpPos: op.Start, Span: v.Span}
	}
	if c, ok := calls[op.text]; ok {
		if !c.two {
			t.operands(v, "exp")
			return call(v, c.name, t.expr(v.get("exp"), p))
		}
		t.operands(v, "left", "right")
		return call(v, c.name, t.expr(v.get("left"), p), t.expr(v.get("right"), p))
	}
	return t.special(v, op, p)
}

// operands checks the keys of an operation.
func (t *translator) operands(v *value, keys ...string) {
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
			t.refuse(m.at, "the operator %s has a key %q, want only %s", v.get("op").describe(), short(m.key), strings.Join(keys, ", "))
		}
	}
}

func call(v *value, name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Func: &syntax.Ident{Name: name, Span: v.Span}, Args: args, Span: v.Span}
}

func (t *translator) special(v, op *value, p *place) syntax.Expr {
	switch op.text {
	case "¬":
		t.operands(v, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.expr(v.get("exp"), p), Span: v.Span}
	case "ite":
		t.operands(v, "if", "then", "else")
		return &syntax.Cond{C: t.expr(v.get("if"), p), T: t.expr(v.get("then"), p), E: t.expr(v.get("else"), p), Span: v.Span}
	case "abs", "sgn", "trc":
		t.operands(v, "exp")
		return t.signed(v, op.text, p)
	case "call":
		t.operands(v, "function", "args")
		return t.call(v, p)
	case "aa", "da":
		s := t.part(v, p)
		if s.data != nil {
			t.refuse(v.Start, "an array or a datatype stands where one of its parts is wanted")
		}
		return s.x
	case "av", "ac":
		t.refuse(v.Start, "a whole array stands where a number or a truth value is wanted")
	}
	if p.prop {
		if x := t.propertyOperator(v, op, p); x != nil {
			return x
		}
	}
	t.refuse(op.Start, "the operator %q is not supported here", short(op.text))
	return nil
}

// signed translates abs, sgn and trc.
func (t *translator) signed(v *value, op string, p *place) syntax.Expr {
	s := t.sizedExpr(v.get("exp"), p)
	t.charge(v.Start, 2*s.size+8)
	number := func(n int32) syntax.Expr { return &syntax.IntLit{Value: n, Span: v.Span} }
	neg := func(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNeg, X: x, Span: v.Span} }
	compared := func(o syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: o, X: s.x, Y: number(0), OpPos: v.Start, Span: v.Span}
	}
	choose := func(c, a, b syntax.Expr) syntax.Expr { return &syntax.Cond{C: c, T: a, E: b, Span: v.Span} }
	switch op {
	case "abs":
		return choose(compared(syntax.OpGe), s.x, neg(s.x))
	case "trc":
		return choose(compared(syntax.OpGe), call(v, "floor", s.x), call(v, "ceil", s.x))
	}
	return choose(compared(syntax.OpGt), number(1), choose(compared(syntax.OpLt), neg(number(1)), number(0)))
}

// call expands a function call.
func (t *translator) call(v *value, p *place) syntax.Expr {
	const deepest = 1000
	name, args := v.get("function"), v.get("args")
	f, home := p.function(name.text)
	switch {
	case f == nil:
		t.refuse(name.Start, "there is no function %q", short(name.text))
	case args.kind != array || len(args.elems) != len(f.params):
		t.refuse(args.Start, "the function %q has %d parameters, want as many arguments in an array", short(f.name), len(f.params))
	case p.calls >= deepest:
		t.refuse(v.Start, "the function %q calls itself, or functions call each other more than %d deep, which is not supported", short(f.name), deepest)
	}
	s := newScope(home)
	for i, param := range f.params {
		arg := args.elems[i]
		if param.typ.kind == arrayType || param.typ.kind == dataType {
			s.names[param.name] = t.symbol(arg, p)
			continue
		}
		x := t.sizedExpr(arg, p)
		s.names[param.name] = symbol{x: x.x, size: x.size, isBool: param.typ.kind == boolType}
	}
	q := p.in(s)
	q.calls++
	return t.expr(f.body, q)
}

// isBool reports whether an expression is Boolean, judging by its operator.
func (t *translator) isBool(v *value, p *place) bool {
	switch v.kind {
	case boolean:
		return true
	case text:
		s, _ := p.find(v.text)
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
			return v.get("then") != nil && t.isBool(v.get("then"), p)
		}
	}
	return false
}

// constant returns the value of an expression over numbers and constants of the document; nil if
// it depends on anything else.
func (t *translator) constant(v *value, p *place, depth int) *big.Rat {
	const deepest = 100
	if v == nil || depth > deepest {
		return nil
	}
	switch v.kind {
	case number:
		if len(v.text) > 20 || strings.ContainsAny(v.text, "eE") {
			return nil
		}
		r, _ := new(big.Rat).SetString(v.text)
		return r
	case text:
		s, _ := p.find(v.text)
		return t.constant(s.raw, p, depth+1)
	case object:
		op, x, y := v.get("op"), t.constant(v.get("left"), p, depth+1), t.constant(v.get("right"), p, depth+1)
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
