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
	constant *constant
}

// erroneousExpr stands for an expression with an error. Its type is Invalid, which suppresses follow-up
// errors. It counts as constant if its operands are constant.
type erroneousExpr struct {
	Base
	operands []Expr
}

// invalidExpr returns an expression that stands for e, which has an error.
func invalidExpr(e syntax.Node, operands ...Expr) Expr {
	return &erroneousExpr{Base{Position: e.Pos()}, operands}
}

// resolver resolves expressions and determines their types. It reports the errors of PRISM's
// semantic and type checks.
type resolver struct {
	*diags
	model *Model
	props *Properties // nil in a model file

	// renamings apply to the text of a renamed module, after formulas have been expanded.
	renamings []*renaming
	bodies    map[*formula]*formulaBody
	// expanding says that the body of a formula is being resolved. Whether clocks are allowed in it
	// depends on where the formula is used.
	inFormula     bool
	clocksAllowed bool // clocks may be mentioned
	nesting       *nesting
	literals      map[string]Value
}

// body is a resolved formula with its errors.
type formulaBody struct {
	expr  Expr
	diags []diag
	nesting
}

// newResolver returns a resolver for a model file, or for a properties file if ps is not nil.
func newResolver(d *diags, m *Model, ps *Properties) *resolver {
	return &resolver{diags: d, model: m, props: ps, bodies: make(map[*formula]*formulaBody), clocksAllowed: ps != nil, nesting: &nesting{}, literals: make(map[string]Value)}
}

// inModule returns a resolver for the text of a module to which renamings apply.
func (r *resolver) inModule(renames []*renaming) *resolver {
	if len(renames) == 0 {
		return r
	}
	inner := newResolver(r.diags, r.model, r.props)
	inner.renamings, inner.nesting, inner.literals = renames, r.nesting, r.literals
	return inner
}

// outsideModules returns a resolver without the renamings of a module.
func (r *resolver) outsideModules() *resolver {
	outer := *r
	outer.renamings, outer.bodies = nil, make(map[*formula]*formulaBody)
	return &outer
}

// truncate converts an expression where an int is required. In Storm's dialect a quotient of ints is
// truncated towards zero there.
//
// Source: Storm's ExpressionEvaluator::asInt.
func (r *resolver) truncate(x Expr) Expr {
	if x == nil || !r.model.truncates || x.Type() != Double || !isIntQuotient(x) {
		return x
	}
	at := x.Pos()
	rounded := func(f Func) Expr { return &Call{Base{Int, at}, f, []Expr{x}} }
	positive := &Binary{Base{Bool, at}, syntax.OpGe, x, &Const{Base{Int, at}, Value{Type: Int}}}
	return &Cond{Base{Int, at}, positive, rounded(FuncFloor), rounded(FuncCeil)}
}

// isIntQuotient reports whether all parts of an expression are ints, apart from results of divisions.
func isIntQuotient(x Expr) bool {
	switch x := x.(type) {
	case *Unary:
		return isIntQuotient(x.X)
	case *Binary:
		return x.Op != syntax.OpPow && isIntQuotient(x.X) && isIntQuotient(x.Y)
	case *Cond:
		return isIntQuotient(x.Then) && isIntQuotient(x.Else)
	case *Call:
		return (x.Func == FuncMin || x.Func == FuncMax) && !slices.ContainsFunc(x.Args, func(a Expr) bool { return !isIntQuotient(a) })
	}
	return x.Type() == Int
}

// withClocks resolves an expression that may mention clocks.
func (r *resolver) withClocks(e syntax.Expr) Expr {
	r.clocksAllowed = true
	x := r.expr(e)
	r.clocksAllowed = false
	return x
}

func (r *resolver) semanticError(e syntax.Node, format string, args ...any) Expr {
	r.add(phaseSemantic, e.Pos(), format, args...)
	return invalidExpr(e)
}

func (r *resolver) typeError(e syntax.Node, format string, args ...any) {
	r.add(phaseTypes, e.Pos(), format, args...)
}

// typeMismatch returns the end of a type error message, "found ... of type ..., want ...".
func typeMismatch(found Expr, want string) string {
	return fmt.Sprintf("found %s of type %s, want %s", describe(found), found.Type(), want)
}

// describe returns what kind of expression e is, for an error message.
func describe(e Expr) string {
	switch e := e.(type) {
	case *Const:
		return "the value " + e.Val.String()
	case *Var:
		return "a variable"
	case *constRef:
		return fmt.Sprintf("the constant %q", e.constant.name)
	}
	return "an expression"
}

// expr resolves an expression of either kind of file.
func (r *resolver) expr(e syntax.Expr) Expr {
	if !r.nesting.enter() {
		return r.tooDeep(e)
	}
	x := r.resolveNode(e)
	r.nesting.leave()
	return x
}

// resolveNode resolves the outermost operator of an expression, and its operands.
func (r *resolver) resolveNode(e syntax.Expr) Expr {
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
			return r.semanticError(e, "number with too many digits, or an exponent beyond %d", maxExponent)
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
		return r.semanticError(e, "found a property operator, want an expression of the model language")
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

// ident resolves a name: a formula, which is replaced by its body, a constant or a variable.
func (r *resolver) ident(e *syntax.Ident) Expr {
	name := applyRenamings(r.renamings, e.Name)
	if meaning, ok := r.model.names[e.Name]; ok && meaning.formula != nil {
		if name == e.Name {
			return r.formula(e, meaning.formula)
		}
		if meaning, ok := r.model.names[name]; ok && meaning.formula != nil { // in Storm's dialect a formula can be renamed to another one
			return r.outsideModules().formula(e, meaning.formula)
		}
	}
	meaning, ok := r.model.names[name]
	if !ok && r.props != nil {
		meaning, ok = r.props.names[name]
	}
	switch {
	case !ok || meaning.formula != nil: // formulas are expanded before renaming
		if from := r.renamedFrom(e.Name); from != "" {
			return r.semanticError(e, "undeclared identifier %q%s", name, from)
		}
		return r.semanticError(e, "undeclared identifier %q%s", name, r.suggestName(name))
	case meaning.constant != nil:
		return &constRef{Base{meaning.constant.typ, e.Pos()}, meaning.constant}
	}
	variable := &Var{Base{r.model.vars[meaning.index].typ, r.position(e)}, meaning.index}
	if variable.ValueType == Clock && (r.inFormula || !r.clocksAllowed) {
		r.add(phaseSemantic, e.Pos(), "reference to clock %q cannot appear here, only in a guard, invariant or observable", name)
		r.entries[len(r.entries)-1].kind = clockUse
	}
	return variable
}

// suggestName returns a hint for an undeclared identifier: a label of that name, or the most similar
// identifier.
func (r *resolver) suggestName(name string) string {
	if r.props != nil {
		if s, ok := r.props.quoted.lookup(r.model.quoted, name); ok {
			return fmt.Sprintf("; there is %s %s %q, want it in quotes", article(s.kind), s.kind, name)
		}
	}
	tables := []table{r.model.names}
	if r.props != nil {
		tables = append(tables, r.props.names)
	}
	return nearest(name, "", tables...)
}

// suggestLabel returns a hint for an undeclared label: a variable, constant or formula of that
// name, or the most similar label.
func (r *resolver) suggestLabel(name string) string {
	if s, ok := r.props.names.lookup(r.model.names, name); ok {
		return fmt.Sprintf("; there is %s %s %s, want it without quotes", article(s.kind), s.kind, name)
	}
	return nearest(name, `"`, r.model.quoted, r.props.quoted)
}

// nearest returns the hint "did you mean ...?" with the most similar name in the tables, if one is
// similar enough.
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

// renamedFrom returns, for an error message, the name from which module renaming made an identifier;
// "" if it is not renamed.
func (r *resolver) renamedFrom(name string) string {
	if applyRenamings(r.renamings, name) == name {
		return ""
	}
	return fmt.Sprintf(", which is %q renamed in module %q", name, r.renamings[len(r.renamings)-1].decl.Name.Name)
}

// formula returns the resolved body of a formula, and repeats the errors in the body at this use.
func (r *resolver) formula(e *syntax.Ident, f *formula) Expr {
	body := r.formulaBody(f)
	r.errorCount += len(body.diags)
	if !r.nesting.add(body.nesting) {
		return r.tooDeep(e)
	}
	for _, entry := range body.diags {
		if entry.kind == clockUse && r.clocksAllowed && !r.inFormula {
			continue
		}
		entry.unit = r.unit
		if !slices.ContainsFunc(r.entries, func(x diag) bool { return x.err == entry.err && x.phase == entry.phase && x.unit == entry.unit }) {
			r.entries = append(r.entries, entry)
		}
	}
	return body.expr
}

// formulaBody resolves the body of a formula, once, and records its errors apart from the others.
func (r *resolver) formulaBody(f *formula) *formulaBody {
	if resolved, ok := r.bodies[f]; ok {
		return resolved
	}
	outerEntries, outerExpanding, outerNesting := r.entries, r.inFormula, *r.nesting
	r.entries, r.inFormula = nil, true
	*r.nesting = nesting{totalDepth: outerNesting.totalDepth}
	resolved := &formulaBody{expr: r.expr(f.decl.X)}
	resolved.diags, resolved.nesting = r.entries, *r.nesting
	r.entries, r.inFormula, *r.nesting = outerEntries, outerExpanding, outerNesting
	r.bodies[f] = resolved
	return resolved
}

// position returns the position of an expression, marked if it is in a formula of the model that a
// property uses.
func (r *resolver) position(e syntax.Expr) syntax.Pos {
	p := e.Pos()
	p.Formula = r.props != nil && r.inFormula
	return p
}

func numeric(t Type) bool { return t == Int || t == Double }

func boolean(t Type) bool { return t == Bool || t == Path }

// unary resolves ! or - and checks the type of its operand.
func (r *resolver) unary(e *syntax.Unary) Expr {
	x := r.expr(e.X)
	t := x.Type()
	switch {
	case t == Invalid:
	case e.Op == syntax.OpNot && !boolean(t):
		r.typeError(e.X, "! applied to a non-Boolean expression: %s", typeMismatch(x, "bool"))
		return invalidExpr(e, x)
	case e.Op == syntax.OpNeg && !numeric(t):
		r.typeError(e.X, "- can only be applied to ints or doubles: %s", typeMismatch(x, "a number"))
		return invalidExpr(e, x)
	}
	return &Unary{Base{t, r.position(e)}, e.Op, x}
}

// binary resolves an infix operator and checks the types of its operands.
func (r *resolver) binary(e *syntax.Binary) Expr {
	x, y := r.expr(e.X), r.expr(e.Y)
	switch e.Op {
	case syntax.OpImplies, syntax.OpIff, syntax.OpOr, syntax.OpAnd:
		if !r.checkOperands(e, x, y, boolean, "applied to a non-Boolean expression", "bool") {
			return invalidExpr(e, x, y)
		}
		t := Bool
		if x.Type() == Path || y.Type() == Path {
			t = Path
		}
		return &Binary{Base{t, r.position(e)}, e.Op, x, y}
	case syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe:
		return r.comparison(e, x, y)
	}
	if !r.checkOperands(e, x, y, numeric, "can only be applied to ints or doubles", "a number") {
		return invalidExpr(e, x, y)
	}
	t := Int
	if e.Op == syntax.OpDiv || x.Type() == Double || y.Type() == Double {
		t = Double
	}
	return &Binary{Base{t, r.position(e)}, e.Op, x, y}
}

// checkOperands checks the types of both operands with the function ok and reports the first wrong
// one.
func (r *resolver) checkOperands(e *syntax.Binary, x, y Expr, ok func(Type) bool, problem, want string) bool {
	for i, o := range []Expr{x, y} {
		if t := o.Type(); t != Invalid && !ok(t) {
			r.typeError([]syntax.Expr{e.X, e.Y}[i], "%s %s: %s", e.Op, problem, typeMismatch(o, want))
			return false
		}
	}
	return x.Type() != Invalid && y.Type() != Invalid
}

// comparison checks the types of compared operands. Numbers, ints and clocks, and, for equality,
// Booleans can be compared.
func (r *resolver) comparison(e *syntax.Binary, x, y Expr) Expr {
	xType, yType := x.Type(), y.Type()
	equality := e.Op == syntax.OpEq || e.Op == syntax.OpNe
	discrete := func(yType Type) bool { return yType == Int || yType == Clock }
	switch {
	case xType == Invalid || yType == Invalid:
	case numeric(xType) && numeric(yType), discrete(xType) && discrete(yType), equality && xType == Bool && yType == Bool:
		return &Binary{Base{Bool, r.position(e)}, e.Op, x, y}
	case xType == yType:
		r.typeError(e, "%s cannot compare %ss", e.Op, xType)
	default:
		r.typeError(e, "%s cannot compare %s and %s", e.Op, xType, yType)
	}
	return invalidExpr(e, x, y)
}

// cond resolves ?: and checks that the types of its branches match.
func (r *resolver) cond(e *syntax.Cond) Expr {
	condition, thenBranch, elseBranch := r.expr(e.C), r.expr(e.T), r.expr(e.E)
	thenType, elseType := thenBranch.Type(), elseBranch.Type()
	switch {
	case condition.Type() != Bool && condition.Type() != Invalid:
		r.typeError(e.C, "condition of ? operator is not Boolean: %s", typeMismatch(condition, "bool"))
	case condition.Type() == Invalid || thenType == Invalid || elseType == Invalid:
	case !castable(thenType, elseType) && !castable(elseType, thenType):
		r.typeError(e, "types for then/else operands of ? operator must match, found %s and %s", thenType, elseType)
	case max(thenType, elseType) > Clock:
		r.typeError(e, "operands of ? operator cannot have type %s", max(thenType, elseType))
	default:
		if thenType != elseType || thenType == Clock {
			thenType = Double
		}
		return &Cond{Base{thenType, r.position(e)}, condition, thenBranch, elseBranch}
	}
	return invalidExpr(e, condition, thenBranch, elseBranch)
}

// funcMulti is multi(…), which is an operator of properties.
const funcMulti = FuncLog + 1

// lookupFunction returns the built-in function of a name, with the smallest and largest number of its
// arguments; -1 means no limit. ok is false if there is no such function.
func lookupFunction(name string) (f Func, minArgs, maxArgs int, ok bool) {
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

// call resolves a function call and checks the number of its arguments.
func (r *resolver) call(e *syntax.Call) Expr {
	args := make([]Expr, len(e.Args))
	valid := true
	for i, a := range e.Args {
		args[i] = r.expr(a)
		valid = valid && args[i].Type() != Invalid
	}
	name := applyRenamings(r.renamings, e.Func.Name)
	function, minArgs, maxArgs, ok := lookupFunction(name)
	switch {
	case !ok:
		return r.semanticError(e, "unknown function %q%s", name, r.renamedFrom(e.Func.Name))
	case len(args) < minArgs:
		r.arityError(e, "not enough", name, minArgs)
		return invalidExpr(e, args...)
	case maxArgs >= 0 && len(args) > maxArgs:
		r.arityError(e, "too many", name, maxArgs)
		return invalidExpr(e, args...)
	case function == funcMulti && r.props == nil:
		return r.semanticError(e, "function %q is for properties only", name)
	case !valid:
		return invalidExpr(e, args...)
	case function == funcMulti:
		return r.multiObjective(e, args)
	}
	return r.builtinCall(e, function, args)
}

// arityError reports a wrong number of arguments.
func (r *resolver) arityError(e *syntax.Call, problem, name string, want int) {
	r.semanticError(e, "%s arguments to %q function: found %d, want %d", problem, name, len(e.Args), want)
	r.entries[len(r.entries)-1].kind = wrongArity
}

// builtinCall checks the argument types of a built-in function and determines the type of its result.
func (r *resolver) builtinCall(e *syntax.Call, f Func, args []Expr) Expr {
	resultType := Int
	for i, a := range args {
		switch argType := a.Type(); {
		case f == FuncMod && argType != Int:
			r.typeError(e.Args[i], "non-integer argument to function %q: %s", f, typeMismatch(a, "int"))
			return invalidExpr(e, args...)
		case argType == Bool:
			r.typeError(e.Args[i], "Boolean argument not allowed as argument to function %q, want a number", f)
			return invalidExpr(e, args...)
		case !numeric(argType) && argType != Clock:
			r.typeError(e.Args[i], "argument of type %s not allowed for function %q, want a number", argType, f)
			return invalidExpr(e, args...)
		case argType == Double:
			resultType = Double
		}
	}
	switch f {
	case FuncFloor, FuncCeil, FuncRound:
		resultType = Int
	case FuncLog:
		resultType = Double
	}
	return &Call{Base{resultType, r.position(e)}, f, args}
}
