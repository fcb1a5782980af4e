package sema

import (
	"fmt"
	"maps"
	"slices"

	"tilecheck/prism/syntax"
)

// constRef is a constant before it has a value. It occurs in a Model and in Properties, never in a
// Program.
type constRef struct {
	Base
	c *constant
}

// bad stands for an expression with an error. Its type is Invalid, which suppresses follow-up
// errors. It is constant if its operands are.
type bad struct {
	Base
	operands []Expr
}

func invalidExpr(e syntax.Node, operands ...Expr) Expr {
	return &bad{Base{At: e.Pos()}, operands}
}

// resolver resolves expressions and determines their types. It reports the errors of PRISM's
// semantic and type checks.
type resolver struct {
	*diags
	model *Model
	props *Properties // nil in a model file

	// In a module that renames another, everything is renamed after the
	// formulas have been expanded.
	renames []*renaming
	bodies  map[*formula]*body
	// expanding says that a formula is being resolved. Whether it may mention clocks depends on
	// where it is used.
	expanding bool
	clocks    bool // clocks may be mentioned
	nesting   *nesting
	literals  map[string]Value
}

// body is a resolved formula with its errors.
type body struct {
	x     Expr
	diags []diag
	nesting
}

func newResolver(d *diags, m *Model, ps *Properties) *resolver {
	return &resolver{diags: d, model: m, props: ps, bodies: make(map[*formula]*body), clocks: ps != nil, nesting: &nesting{}, literals: make(map[string]Value)}
}

// inModule returns a resolver for the text of a module under renamings.
func (r *resolver) inModule(renames []*renaming) *resolver {
	if len(renames) == 0 {
		return r
	}
	n := newResolver(r.diags, r.model, r.props)
	n.renames, n.nesting, n.literals = renames, r.nesting, r.literals
	return n
}

// outside returns a resolver for text outside renamed modules.
func (r *resolver) outside() *resolver {
	out := *r
	out.renames, out.bodies = nil, make(map[*formula]*body)
	return &out
}

// truncated converts an expression where an int is required. In Storm's dialect a quotient of ints
// is truncated towards zero there.
//
// Source: Storm's ExpressionEvaluator::asInt.
func (r *resolver) truncated(x Expr) Expr {
	if x == nil || !r.model.truncates || x.Type() != Double || !isIntQuotient(x) {
		return x
	}
	at := x.Pos()
	part := func(f Func) Expr { return &Call{Base{Int, at}, f, []Expr{x}} }
	positive := &Binary{Base{Bool, at}, syntax.OpGe, x, &Const{Base{Int, at}, Value{Type: Int}}}
	return &Cond{Base{Int, at}, positive, part(FuncFloor), part(FuncCeil)}
}

// isIntQuotient reports whether an expression consists of ints, apart from divisions.
func isIntQuotient(x Expr) bool {
	switch x := x.(type) {
	case *Unary:
		return isIntQuotient(x.X)
	case *Binary:
		return x.Op != syntax.OpPow && isIntQuotient(x.X) && isIntQuotient(x.Y)
	case *Cond:
		return isIntQuotient(x.A) && isIntQuotient(x.B)
	case *Call:
		return (x.Func == FuncMin || x.Func == FuncMax) && !slices.ContainsFunc(x.Args, func(a Expr) bool { return !isIntQuotient(a) })
	}
	return x.Type() == Int
}

// withClocks resolves an expression that may mention clocks.
func (r *resolver) withClocks(e syntax.Expr) Expr {
	r.clocks = true
	x := r.expr(e)
	r.clocks = false
	return x
}

func (r *resolver) semantic(e syntax.Node, format string, args ...any) Expr {
	r.add(phaseSemantic, e.Pos(), format, args...)
	return invalidExpr(e)
}

func (r *resolver) typeError(e syntax.Node, format string, args ...any) {
	r.add(phaseTypes, e.Pos(), format, args...)
}

// wants returns the end of a type error: what was found in place of what was wanted.
func wants(found Expr, want string) string {
	return fmt.Sprintf("found %s of type %s, want %s", describe(found), found.Type(), want)
}

func describe(e Expr) string {
	switch e := e.(type) {
	case *Const:
		return "the value " + e.Val.String()
	case *Var:
		return "a variable"
	case *constRef:
		return fmt.Sprintf("the constant %q", e.c.name)
	}
	return "an expression"
}

// expr resolves an expression of either kind of file.
func (r *resolver) expr(e syntax.Expr) Expr {
	if !r.nesting.enter() {
		return r.tooDeep(e)
	}
	x := r.node(e)
	r.nesting.leave()
	return x
}

func (r *resolver) node(e syntax.Expr) Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return r.ident(e)
	case *syntax.IntLit:
		return &Const{Base{Int, e.Pos()}, IntValue(e.Value)}
	case *syntax.DoubleLit:
		v, known := r.literals[e.Text]
		if !known {
			v = literalValue(e.Text)
			r.literals[e.Text] = v
		}
		if v.Rat == nil {
			return r.semantic(e, "number with too many digits, or an exponent beyond %d", maxExponent)
		}
		return &Const{Base{Double, e.Pos()}, v}
	case *syntax.BoolLit:
		return &Const{Base{Bool, e.Pos()}, BoolValue(e.Value)}
	case *syntax.Paren:
		return r.expr(e.X)
	case *syntax.Unary:
		return r.unary(e)
	case *syntax.Binary:
		return r.binary(e)
	case *syntax.Cond:
		return r.cond(e)
	case *syntax.Call:
		return r.call(e)
	}
	if r.props == nil {
		return r.semantic(e, "found a property operator, want an expression of the model language")
	}
	return r.operator(e)
}

// optional resolves an expression that may be missing.
func (r *resolver) optional(e syntax.Expr) Expr {
	if e == nil {
		return nil
	}
	return r.expr(e)
}

func (r *resolver) ident(e *syntax.Ident) Expr {
	name := rename(r.renames, e.Name)
	if s, ok := r.model.names[e.Name]; ok && s.formula != nil {
		if name == e.Name {
			return r.formula(e, s.formula)
		}
		if s, ok := r.model.names[name]; ok && s.formula != nil { // Storm's dialect: the other formula, not renamed
			return r.outside().formula(e, s.formula)
		}
	}
	s, ok := r.model.names[name]
	if !ok && r.props != nil {
		s, ok = r.props.names[name]
	}
	switch {
	case !ok || s.formula != nil: // formulas are expanded before renaming
		if from := r.renamedFrom(e.Name); from != "" {
			return r.semantic(e, "undeclared identifier %q%s", name, from)
		}
		return r.semantic(e, "undeclared identifier %q%s", name, r.suggestName(name))
	case s.constant != nil:
		return &constRef{Base{s.constant.typ, e.Pos()}, s.constant}
	}
	v := &Var{Base{r.model.vars[s.index].typ, r.at(e)}, s.index}
	if v.T == Clock && (r.expanding || !r.clocks) {
		r.add(phaseSemantic, e.Pos(), "reference to clock %q cannot appear here, only in a guard, invariant or observable", name)
		r.list[len(r.list)-1].kind = clockUse
	}
	return v
}

// suggestName returns a hint for an undeclared identifier: a label of that name, or the nearest
// name.
func (r *resolver) suggestName(name string) string {
	if r.props != nil {
		if s, ok := r.props.quoted.lookup(r.model.quoted, name); ok {
			return fmt.Sprintf("; there is %s %s %q, want it in quotes", article(s.use), s.use, name)
		}
	}
	tables := []table{r.model.names}
	if r.props != nil {
		tables = append(tables, r.props.names)
	}
	return nearest(name, "", tables...)
}

// suggestLabel returns a hint for an undeclared label: a variable, constant or formula of that
// name, or the nearest label.
func (r *resolver) suggestLabel(name string) string {
	if s, ok := r.props.names.lookup(r.model.names, name); ok {
		return fmt.Sprintf("; there is %s %s %s, want it without quotes", article(s.use), s.use, name)
	}
	return nearest(name, `"`, r.model.quoted, r.props.quoted)
}

// nearest returns a hint with the most similar name, if one is similar enough.
func nearest(name, quotes string, tables ...table) string {
	var names []string
	for _, t := range tables {
		names = slices.AppendSeq(names, maps.Keys(t))
	}
	slices.Sort(names)
	if near := syntax.Nearest(name, slices.Values(names)); near != "" {
		return "; did you mean " + quotes + near + quotes + "?"
	}
	return ""
}

// renamedFrom returns an explanation for a name that comes from a renaming, otherwise "".
func (r *resolver) renamedFrom(name string) string {
	if rename(r.renames, name) == name {
		return ""
	}
	return fmt.Sprintf(", which is %q renamed in module %q", name, r.renames[len(r.renames)-1].decl.Name.Name)
}

// formula returns the expansion of a formula and repeats the errors in it.
func (r *resolver) formula(e *syntax.Ident, f *formula) Expr {
	b := r.body(f)
	r.errorCount += len(b.diags)
	if !r.nesting.add(b.nesting) {
		return r.tooDeep(e)
	}
	for _, d := range b.diags {
		if d.kind == clockUse && r.clocks && !r.expanding {
			continue
		}
		d.unit = r.unit
		if !slices.ContainsFunc(r.list, func(x diag) bool { return x.err == d.err && x.phase == d.phase && x.unit == d.unit }) {
			r.list = append(r.list, d)
		}
	}
	return b.x
}

// body resolves a formula once.
func (r *resolver) body(f *formula) *body {
	b, ok := r.bodies[f]
	if !ok {
		list, expanding, outer := r.list, r.expanding, *r.nesting
		r.list, r.expanding = nil, true
		*r.nesting = nesting{stack: outer.stack}
		b = &body{x: r.expr(f.decl.X)}
		b.diags, b.nesting = r.list, *r.nesting
		r.list, r.expanding, *r.nesting = list, expanding, outer
		r.bodies[f] = b
	}
	return b
}

// at returns the position of an expression.
func (r *resolver) at(e syntax.Expr) syntax.Pos {
	p := e.Pos()
	p.Formula = r.props != nil && r.expanding
	return p
}

func numeric(t Type) bool { return t == Int || t == Double }

func boolean(t Type) bool { return t == Bool || t == Path }

func (r *resolver) unary(e *syntax.Unary) Expr {
	x := r.expr(e.X)
	t := x.Type()
	switch {
	case t == Invalid:
	case e.Op == syntax.OpNot && !boolean(t):
		r.typeError(e.X, "! applied to a non-Boolean expression: %s", wants(x, "bool"))
		return invalidExpr(e, x)
	case e.Op == syntax.OpNeg && !numeric(t):
		r.typeError(e.X, "- can only be applied to ints or doubles: %s", wants(x, "a number"))
		return invalidExpr(e, x)
	}
	return &Unary{Base{t, r.at(e)}, e.Op, x}
}

func (r *resolver) binary(e *syntax.Binary) Expr {
	x, y := r.expr(e.X), r.expr(e.Y)
	switch e.Op {
	case syntax.OpImplies, syntax.OpIff, syntax.OpOr, syntax.OpAnd:
		if !r.operands(e, x, y, boolean, "applied to a non-Boolean expression", "bool") {
			return invalidExpr(e, x, y)
		}
		t := Bool
		if x.Type() == Path || y.Type() == Path {
			t = Path
		}
		return &Binary{Base{t, r.at(e)}, e.Op, x, y}
	case syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe:
		return r.comparison(e, x, y)
	}
	if !r.operands(e, x, y, numeric, "can only be applied to ints or doubles", "a number") {
		return invalidExpr(e, x, y)
	}
	t := Int
	if e.Op == syntax.OpDiv || x.Type() == Double || y.Type() == Double {
		t = Double
	}
	return &Binary{Base{t, r.at(e)}, e.Op, x, y}
}

// operands checks the types of both operands and reports the first wrong one.
func (r *resolver) operands(e *syntax.Binary, x, y Expr, ok func(Type) bool, problem, want string) bool {
	for i, o := range []Expr{x, y} {
		if t := o.Type(); t != Invalid && !ok(t) {
			r.typeError([]syntax.Expr{e.X, e.Y}[i], "%s %s: %s", e.Op, problem, wants(o, want))
			return false
		}
	}
	return x.Type() != Invalid && y.Type() != Invalid
}

func (r *resolver) comparison(e *syntax.Binary, x, y Expr) Expr {
	s, t := x.Type(), y.Type()
	equality := e.Op == syntax.OpEq || e.Op == syntax.OpNe
	discrete := func(t Type) bool { return t == Int || t == Clock }
	switch {
	case s == Invalid || t == Invalid:
	case numeric(s) && numeric(t), discrete(s) && discrete(t), equality && s == Bool && t == Bool:
		return &Binary{Base{Bool, r.at(e)}, e.Op, x, y}
	case s == t:
		r.typeError(e, "%s cannot compare %ss", e.Op, s)
	default:
		r.typeError(e, "%s cannot compare %s and %s", e.Op, s, t)
	}
	return invalidExpr(e, x, y)
}

func (r *resolver) cond(e *syntax.Cond) Expr {
	c, a, b := r.expr(e.C), r.expr(e.T), r.expr(e.E)
	s, t := a.Type(), b.Type()
	switch {
	case c.Type() != Bool && c.Type() != Invalid:
		r.typeError(e.C, "condition of ? operator is not Boolean: %s", wants(c, "bool"))
	case c.Type() == Invalid || s == Invalid || t == Invalid:
	case !castable(s, t) && !castable(t, s):
		r.typeError(e, "types for then/else operands of ? operator must match, found %s and %s", s, t)
	case max(s, t) > Clock:
		r.typeError(e, "operands of ? operator cannot have type %s", max(s, t))
	default:
		if s != t || s == Clock {
			s = Double
		}
		return &Cond{Base{s, r.at(e)}, c, a, b}
	}
	return invalidExpr(e, c, a, b)
}

// funcMulti is multi(…), which is an operator of properties.
const funcMulti = FuncLog + 1

// function returns a built-in function by name, with the smallest and largest number of arguments;
// -1 means no limit.
func function(name string) (f Func, least, most int, ok bool) {
	for f := FuncMin; f <= FuncLog; f++ {
		if f.String() != name {
			continue
		}
		switch f {
		case FuncMin, FuncMax:
			return f, 1, -1, true
		case FuncPow, FuncMod, FuncLog:
			return f, 2, 2, true
		}
		return f, 1, 1, true
	}
	return funcMulti, 1, -1, name == "multi"
}

func (r *resolver) call(e *syntax.Call) Expr {
	args := make([]Expr, len(e.Args))
	valid := true
	for i, a := range e.Args {
		args[i] = r.expr(a)
		valid = valid && args[i].Type() != Invalid
	}
	name := rename(r.renames, e.Func.Name)
	f, least, most, ok := function(name)
	switch {
	case !ok:
		return r.semantic(e, "unknown function %q%s", name, r.renamedFrom(e.Func.Name))
	case len(args) < least:
		r.arity(e, "not enough", name, least)
		return invalidExpr(e, args...)
	case most >= 0 && len(args) > most:
		r.arity(e, "too many", name, most)
		return invalidExpr(e, args...)
	case f == funcMulti && r.props == nil:
		return r.semantic(e, "function %q is for properties only", name)
	case !valid:
		return invalidExpr(e, args...)
	case f == funcMulti:
		return r.multi(e, args)
	}
	return r.builtin(e, f, args)
}

func (r *resolver) arity(e *syntax.Call, problem, name string, want int) {
	r.semantic(e, "%s arguments to %q function: found %d, want %d", problem, name, len(e.Args), want)
	r.list[len(r.list)-1].kind = wrongArity
}

func (r *resolver) builtin(e *syntax.Call, f Func, args []Expr) Expr {
	t := Int
	for i, a := range args {
		switch s := a.Type(); {
		case f == FuncMod && s != Int:
			r.typeError(e.Args[i], "non-integer argument to function %q: %s", f, wants(a, "int"))
			return invalidExpr(e, args...)
		case s == Bool:
			r.typeError(e.Args[i], "Boolean argument not allowed as argument to function %q, want a number", f)
			return invalidExpr(e, args...)
		case !numeric(s) && s != Clock:
			r.typeError(e.Args[i], "argument of type %s not allowed for function %q, want a number", s, f)
			return invalidExpr(e, args...)
		case s == Double:
			t = Double
		}
	}
	switch f {
	case FuncFloor, FuncCeil, FuncRound:
		t = Int
	case FuncLog:
		t = Double
	}
	return &Call{Base{t, r.at(e)}, f, args}
}
