package sema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// constRef is a constant before it has a value. It occurs in a Model and in Properties, never in a
// Program.
type constRef struct {
	Base
	constant *constant
}

// erroneousExpr stands for an expression with an error. Its type is Invalid, which suppresses further errors. It is constant if its operands
// are.
type erroneousExpr struct {
	Base
	operands []Expr
}

// invalidExpr returns an expression that stands for node, which has an error.
func invalidExpr(node syntax.Node, operands ...Expr) Expr {
	return &erroneousExpr{Base{Position: node.Pos()}, operands}
}

// resolver resolves expressions and determines their types. It reports the errors of PRISM's
// semantic and type checks.
type resolver struct {
	*diags
	model *Model
	props *Properties // nil in a model file

	// renamings apply to the text of a renamed module, after formulas have been expanded.
	renamings []*renaming
	bodies    map[*formula]*resolvedBody
	// expanding says that the body of a formula is being resolved. Whether clocks are allowed in it
	// depends on where the formula is used.
	inFormula      bool
	clocksAllowed  bool // clocks may be mentioned
	nesting        *nesting
	literals       map[string]Value
	boundVariables []*QuantileBound // of the quantile(...) that is being resolved
}

// resolvedBody is a resolved formula with its errors.
type resolvedBody struct {
	expr  Expr
	diags []diag
	nesting
}

// newResolver returns a resolver for a model file, or for a properties file if props is not nil.
func newResolver(diags *diags, model *Model, props *Properties) *resolver {
	return &resolver{diags: diags, model: model, props: props, bodies: make(map[*formula]*resolvedBody), clocksAllowed: props != nil, nesting: &nesting{}, literals: make(map[string]Value)}
}

// inModule returns a resolver that applies the renamings of a module.
func (r *resolver) inModule(renamings []*renaming) *resolver {
	if len(renamings) == 0 {
		return r
	}
	inner := newResolver(r.diags, r.model, r.props)
	inner.renamings, inner.nesting, inner.literals = renamings, r.nesting, r.literals
	return inner
}

// outsideModules returns a resolver without renamings.
func (r *resolver) outsideModules() *resolver {
	outer := *r
	outer.renamings, outer.bodies = nil, make(map[*formula]*resolvedBody)
	return &outer
}

// truncate converts a quotient of ints to an int, where the language requires an int. In Storm's dialect it rounds towards zero; in PRISM's
// dialect it returns the expression unchanged.
//
// Source: Storm's ExpressionEvaluator::asInt.
func (r *resolver) truncate(expr Expr) Expr {
	if expr == nil || !r.model.truncates || !isTruncatable(expr) {
		return expr
	}
	pos := expr.Pos()
	roundedBy := func(function Func) Expr { return &Call{Base: Base{Int, pos}, Func: function, Args: []Expr{expr}} }
	zero := &Const{Base{Int, pos}, Value{Type: Int}}
	isNotNegative := &Binary{Base{Bool, pos}, syntax.OpGe, expr, zero}
	return &Cond{Base{Int, pos}, isNotNegative, roundedBy(FuncFloor), roundedBy(FuncCeil)}
}

// isTruncatable reports whether Storm's dialect converts an expression to an int where the language requires an int.
func isTruncatable(expr Expr) bool { return expr.Type() == Double && isIntQuotient(expr) }

// isIntQuotient reports whether an expression consists of ints, + - * /, min, max and ?: only.
func isIntQuotient(expr Expr) bool {
	switch expr := expr.(type) {
	case *Unary:
		return isIntQuotient(expr.X)
	case *Binary:
		return expr.Op != syntax.OpPow && isIntQuotient(expr.X) && isIntQuotient(expr.Y)
	case *Cond:
		return isIntQuotient(expr.Then) && isIntQuotient(expr.Else)
	case *Call:
		isOther := func(arg Expr) bool { return !isIntQuotient(arg) }
		return (expr.Func == FuncMin || expr.Func == FuncMax) && !slices.ContainsFunc(expr.Args, isOther)
	}
	return expr.Type() == Int
}

// resolveWithClocks resolves an expression that may mention clocks.
func (r *resolver) resolveWithClocks(expr syntax.Expr) Expr {
	r.clocksAllowed = true
	resolved := r.resolveExpr(expr)
	r.clocksAllowed = false
	return resolved
}

// semanticError reports an error of PRISM's semantic checks, and returns an erroneous expression in place of the node.
func (r *resolver) semanticError(node syntax.Node, format string, args ...any) Expr {
	r.addError(phaseSemantic, node.Pos(), format, args...)
	return invalidExpr(node)
}

// typeError reports an error of PRISM's type checks.
func (r *resolver) typeError(node syntax.Node, format string, args ...any) {
	r.addError(phaseTypes, node.Pos(), format, args...)
}

// typeMismatch returns the end of a type error message, "found ... of type ..., want ...".
func typeMismatch(found Expr, want string) string {
	return fmt.Sprintf("found %s of type %s, want %s", describe(found), found.Type(), want)
}

// valueMismatch returns the end of a type error message about an expression that resolver.truncate was given. It says whether Storm's dialect accepts the expression.
func (r *resolver) valueMismatch(found Expr, want Type) string {
	mismatch := typeMismatch(found, want.String())
	if want == Int && r.model.dialect == syntax.PRISM && isTruncatable(found) {
		return mismatch + syntax.StormAccepts
	}
	return mismatch
}

// describe returns a description of an expression for error messages.
func describe(expr Expr) string {
	switch expr := expr.(type) {
	case *Const:
		return "the value " + expr.Val.String()
	case *Var:
		return "a variable"
	case *constRef:
		return fmt.Sprintf("the constant %q", expr.constant.name)
	}
	return "an expression"
}

// resolveExpr resolves an expression and counts its nesting depth.
func (r *resolver) resolveExpr(source syntax.Expr) Expr {
	if !r.nesting.enterLevel() {
		return r.tooDeep(source)
	}
	resolved := r.resolveNode(source)
	r.nesting.leave()
	return resolved
}

// resolveNode resolves the outermost operator of an expression, and its operands.
func (r *resolver) resolveNode(expr syntax.Expr) Expr {
	switch expr := expr.(type) {
	case *syntax.Ident:
		return r.resolveIdent(expr)
	case *syntax.IntLit:
		return &Const{Base{Int, expr.Pos()}, IntValue(expr.Value)}
	case *syntax.DoubleLit:
		return r.resolveDouble(expr)
	case *syntax.BoolLit:
		return &Const{Base{Bool, expr.Pos()}, BoolValue(expr.Value)}
	case *syntax.Paren:
		return r.resolveExpr(expr.X)
	case *syntax.Unary:
		return r.resolveUnary(expr)
	case *syntax.Binary:
		return r.resolveBinary(expr)
	case *syntax.Cond:
		return r.resolveCond(expr)
	case *syntax.Call:
		return r.resolveCall(expr)
	}
	if r.props == nil {
		return r.semanticError(expr, "found a property operator, want an expression of the model language")
	}
	return r.resolveOperator(expr)
}

// resolveDouble resolves a literal of type double. Its value is exact. The values of earlier literals are taken from a cache.
func (r *resolver) resolveDouble(expr *syntax.DoubleLit) Expr {
	value, isCached := r.literals[expr.Text]
	if !isCached {
		value = literalValue(expr.Text)
		r.literals[expr.Text] = value
	}
	if value.Rat == nil {
		return r.semanticError(expr, "number with too many digits, or an exponent beyond %d", maxExponent)
	}
	return &Const{Base{Double, expr.Pos()}, value}
}

// resolveOptional resolves an expression; nil for nil.
func (r *resolver) resolveOptional(expr syntax.Expr) Expr {
	if expr == nil {
		return nil
	}
	return r.resolveExpr(expr)
}

// resolveIdent resolves an identifier. It replaces a formula by its body.
func (r *resolver) resolveIdent(expr *syntax.Ident) Expr {
	if body := r.formulaNamed(expr); body != nil {
		return body
	}
	for _, bound := range r.boundVariables {
		if bound.Name == expr.Name {
			return bound
		}
	}
	name := applyRenamings(r.renamings, expr.Name)
	meaning, ok := r.model.names[name]
	if !ok && r.props != nil {
		meaning, ok = r.props.names[name]
	}
	switch {
	case !ok || meaning.formula != nil: // formulas are expanded before renaming
		hint := cmp.Or(r.renamedFrom(expr.Name), r.hintOfStorm(name), r.suggestName(name), unreadHint(r.model.unread.Variables))
		return r.semanticError(expr, "undeclared identifier %q%s", name, hint)
	case meaning.constant != nil:
		return &constRef{Base{meaning.constant.valueType, expr.Pos()}, meaning.constant}
	}
	variable := &Var{Base{r.model.vars[meaning.index].valueType, r.position(expr)}, meaning.index}
	if variable.ValueType == Clock && (r.inFormula || !r.clocksAllowed) {
		r.addError(phaseSemantic, expr.Pos(), "reference to clock %q cannot appear here, only in a guard, invariant or observable", name)
		r.entries[len(r.entries)-1].kind = clockUse
	}
	return variable
}

// formulaNamed returns the resolved body of the formula that an identifier names, after the renamings of the module. It returns nil if there is
// no such formula.
func (r *resolver) formulaNamed(expr *syntax.Ident) Expr {
	original := r.model.names[expr.Name].formula
	if original == nil {
		return nil
	}
	// A renamed module may replace the name of the formula. Only in Storm's dialect the new name can be a formula again.
	newName := applyRenamings(r.renamings, expr.Name)
	if newName == expr.Name {
		return r.resolveFormula(expr, original)
	}
	if renamedFormula := r.model.names[newName].formula; renamedFormula != nil {
		return r.outsideModules().resolveFormula(expr, renamedFormula)
	}
	return nil
}

// hintOfStorm returns a hint for an unknown name in a property that Storm's dialect knows, or "".
func (r *resolver) hintOfStorm(name string) string {
	if r.props == nil || r.model.dialect != syntax.PRISM {
		return ""
	}
	switch name {
	case "Cdiscount", "multilex", "quantile", "AtLeastOneOf", "AtMostOneOf", "ExactlyOneOf":
		return syntax.StormAccepts
	}
	return ""
}

// suggestName returns a hint for an undeclared identifier: a quoted name with the same text, or the most similar identifier.
func (r *resolver) suggestName(name string) string {
	if r.props != nil {
		if meaning, ok := r.props.quoted.lookup(r.model.quoted, name); ok {
			return fmt.Sprintf("; there is %s %s %q, want it in quotes", article(meaning.kind), meaning.kind, name)
		}
	}
	tables := []table{r.model.names}
	if r.props != nil {
		tables = append(tables, r.props.names)
	}
	return nearest(name, tables...)
}

// suggestLabel returns a hint for an undeclared label: an identifier with the same text, or the most similar label.
func (r *resolver) suggestLabel(name string) string {
	if meaning, ok := r.props.names.lookup(r.model.names, name); ok {
		return fmt.Sprintf("; there is %s %s %s, want it without quotes", article(meaning.kind), meaning.kind, name)
	}
	labels := slices.Collect(maps.Keys(r.model.quoted))
	return cmp.Or(unreadHint(r.model.unread.Labels), nearestOrAll(name, slices.AppendSeq(labels, maps.Keys(r.props.quoted))))
}

// unreadHint returns the hint that a file of states was not read; "" for no sentence.
func unreadHint(sentence string) string {
	if sentence == "" {
		return ""
	}
	return "; " + sentence
}

// maxNamesInHint is the number of names that nearestOrAll lists.
const maxNamesInHint = 6

// nearestOrAll returns a hint for an undeclared quoted name: the most similar declared name, or all declared names if they are few.
func nearestOrAll(name string, declared []string) string {
	declared = slices.DeleteFunc(declared, func(declaredName string) bool { return declaredName == "" })
	slices.Sort(declared)
	declared = slices.Compact(declared)
	if nearestName := syntax.Nearest(name, slices.Values(declared)); nearestName != "" {
		return fmt.Sprintf("; did you mean %q?", nearestName)
	}
	if len(declared) == 0 || len(declared) > maxNamesInHint {
		return ""
	}
	return "; declared: " + strings.Join(namesOf(declared, strconv.Quote), ", ")
}

// nearest returns the hint "did you mean ...?" for an undeclared name, with the most similar name in the tables. It returns "" if no name is
// similar.
func nearest(name string, tables ...table) string {
	var names []string
	for _, table := range tables {
		names = slices.AppendSeq(names, maps.Keys(table))
	}
	slices.Sort(names)
	if nearestName := syntax.Nearest(name, slices.Values(names)); nearestName != "" {
		return "; did you mean " + nearestName + "?"
	}
	return ""
}

// renamedFrom returns the part of an error message about a renamed identifier; "" if it is not renamed.
func (r *resolver) renamedFrom(name string) string {
	if applyRenamings(r.renamings, name) == name {
		return ""
	}
	return fmt.Sprintf(", which is %q renamed in module %q", name, r.renamings[len(r.renamings)-1].declaration.Name.Name)
}

// resolveFormula returns the resolved body of a formula, which the identifier expr names. Errors in the body are reported at each use of the formula, but only
// once in the model and once in each property.
func (r *resolver) resolveFormula(expr *syntax.Ident, namedFormula *formula) Expr {
	body := r.resolvedBody(namedFormula)
	r.errorCount += len(body.diags)
	if !r.nesting.add(body.nesting) {
		return r.tooDeep(expr)
	}
	for _, entry := range body.diags {
		if entry.kind == clockUse && r.clocksAllowed && !r.inFormula {
			continue
		}
		entry.unit = r.unit // the model, or the property that uses the formula: each reports the error once
		isSame := func(other diag) bool {
			return other.err == entry.err && other.phase == entry.phase && other.unit == entry.unit
		}
		if !slices.ContainsFunc(r.entries, isSame) {
			r.entries = append(r.entries, entry)
		}
	}
	return body.expr
}

// resolvedBody returns the resolved body of a formula and the errors in it. The body is resolved at the first call.
func (r *resolver) resolvedBody(formula *formula) *resolvedBody {
	if resolved, ok := r.bodies[formula]; ok {
		return resolved
	}
	outerEntries, outerInFormula, outerNesting := r.entries, r.inFormula, *r.nesting
	r.entries, r.inFormula = nil, true
	*r.nesting = nesting{totalDepth: outerNesting.totalDepth}
	resolved := &resolvedBody{expr: r.resolveExpr(formula.declaration.X)}
	resolved.diags, resolved.nesting = r.entries, *r.nesting
	r.entries, r.inFormula, *r.nesting = outerEntries, outerInFormula, outerNesting
	r.bodies[formula] = resolved
	return resolved
}

// position returns the position of an expression. It marks the positions in a formula of the model that a property uses.
func (r *resolver) position(expr syntax.Expr) syntax.Pos {
	pos := expr.Pos()
	pos.Formula = r.props != nil && r.inFormula
	return pos
}

// isNumeric reports whether values of a type are numbers.
func isNumeric(valueType Type) bool { return valueType == Int || valueType == Double }

// isBoolOrPath reports whether a type is Bool or the type of path formulas.
func isBoolOrPath(valueType Type) bool { return valueType == Bool || valueType == Path }

// resolveUnary resolves ! or - and checks the type of its operand.
func (r *resolver) resolveUnary(expr *syntax.Unary) Expr {
	resolved := r.resolveExpr(expr.X)
	valueType := resolved.Type()
	switch {
	case valueType == Invalid:
	case expr.Op == syntax.OpNot && !isBoolOrPath(valueType):
		r.typeError(expr.X, "! applied to a non-Boolean expression: %s", typeMismatch(resolved, "bool"))
		return invalidExpr(expr, resolved)
	case expr.Op == syntax.OpNeg && !isNumeric(valueType):
		r.typeError(expr.X, "- can only be applied to ints or doubles: %s", typeMismatch(resolved, "a number"))
		return invalidExpr(expr, resolved)
	}
	return &Unary{Base{valueType, r.position(expr)}, expr.Op, resolved}
}

// resolveBinary resolves an infix operator and checks the types of its operands.
func (r *resolver) resolveBinary(expr *syntax.Binary) Expr {
	left, right := r.resolveExpr(expr.X), r.resolveExpr(expr.Y)
	switch expr.Op {
	case syntax.OpImplies, syntax.OpIff, syntax.OpOr, syntax.OpAnd:
		if !r.checkOperands(expr, left, right, isBoolOrPath, "applied to a non-Boolean expression", "bool") {
			return invalidExpr(expr, left, right)
		}
		valueType := Bool
		if left.Type() == Path || right.Type() == Path {
			valueType = Path
		}
		return &Binary{Base{valueType, r.position(expr)}, expr.Op, left, right}
	case syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe:
		return r.newComparison(expr, left, right)
	}
	if !r.checkOperands(expr, left, right, isNumeric, "can only be applied to ints or doubles", "a number") {
		return invalidExpr(expr, left, right)
	}
	valueType := Int
	if expr.Op == syntax.OpDiv || left.Type() == Double || right.Type() == Double {
		valueType = Double
	}
	return &Binary{Base{valueType, r.position(expr)}, expr.Op, left, right}
}

// checkOperands returns whether isAccepted is true for the types of both operands. If not, it reports an error for the first wrong operand. The message
// is "<operator> <problem>", and says that wantedType was wanted.
func (r *resolver) checkOperands(expr *syntax.Binary, left, right Expr, isAccepted func(Type) bool, problem, wantedType string) bool {
	leftType, rightType := left.Type(), right.Type() // Invalid after an error in the operand
	switch {
	case leftType != Invalid && !isAccepted(leftType):
		r.typeError(expr.X, "%s %s: %s", expr.Op, problem, typeMismatch(left, wantedType))
		return false
	case rightType != Invalid && !isAccepted(rightType):
		r.typeError(expr.Y, "%s %s: %s", expr.Op, problem, typeMismatch(right, wantedType))
		return false
	}
	return leftType != Invalid && rightType != Invalid
}

// newComparison returns a comparison if the types of its operands fit: two numbers, ints and clocks, or Booleans for = and !=.
func (r *resolver) newComparison(expr *syntax.Binary, left, right Expr) Expr {
	leftType, rightType := left.Type(), right.Type()
	isEquality := expr.Op == syntax.OpEq || expr.Op == syntax.OpNe
	isDiscrete := func(valueType Type) bool { return valueType == Int || valueType == Clock }
	areComparable := isNumeric(leftType) && isNumeric(rightType) ||
		isDiscrete(leftType) && isDiscrete(rightType) ||
		isEquality && leftType == Bool && rightType == Bool
	switch {
	case leftType == Invalid || rightType == Invalid:
	case areComparable:
		return &Binary{Base{Bool, r.position(expr)}, expr.Op, left, right}
	case leftType == rightType:
		r.typeError(expr, "%s cannot compare %ss", expr.Op, leftType)
	default:
		r.typeError(expr, "%s cannot compare %s and %s", expr.Op, leftType, rightType)
	}
	return invalidExpr(expr, left, right)
}

// resolveCond resolves ?: and checks that the types of its branches match.
func (r *resolver) resolveCond(expr *syntax.Cond) Expr {
	condition, thenBranch, elseBranch := r.resolveExpr(expr.Condition), r.resolveExpr(expr.Then), r.resolveExpr(expr.Else)
	thenType, elseType := thenBranch.Type(), elseBranch.Type()
	switch {
	case condition.Type() != Bool && condition.Type() != Invalid:
		r.typeError(expr.Condition, "condition of ? operator is not Boolean: %s", typeMismatch(condition, "bool"))
	case condition.Type() == Invalid || thenType == Invalid || elseType == Invalid:
	case !isCastable(thenType, elseType) && !isCastable(elseType, thenType):
		r.typeError(expr, "types for then/else operands of ? operator must match, found %s and %s", thenType, elseType)
	case max(thenType, elseType) > Clock:
		r.typeError(expr, "operands of ? operator cannot have type %s", max(thenType, elseType))
	default:
		if thenType != elseType || thenType == Clock {
			thenType = Double
		}
		return &Cond{Base{thenType, r.position(expr)}, condition, thenBranch, elseBranch}
	}
	return invalidExpr(expr, condition, thenBranch, elseBranch)
}

// funcMulti is multi(…), which is an operator of properties.
const funcMulti = FuncLog + 1

// lookupFunction returns a built-in function by name, with the least and the greatest number of its arguments. A maxArgs of -1 means no
// limit.
func lookupFunction(name string) (function Func, minArgs, maxArgs int, ok bool) {
	for function := FuncMin; function <= FuncLog; function++ {
		if function.String() != name {
			continue
		}
		switch function {
		case FuncMin, FuncMax:
			return function, 1, -1, true
		case FuncPow, FuncMod, FuncLog:
			return function, 2, 2, true
		}
		return function, 1, 1, true
	}
	return funcMulti, 1, -1, name == "multi"
}

// resolveCall resolves a function call and checks the number of its arguments.
func (r *resolver) resolveCall(expr *syntax.Call) Expr {
	if expr.Bounds != nil {
		return r.resolveQuantile(expr)
	}
	name := applyRenamings(r.renamings, expr.Func.Name)
	if hint := r.hintOfStorm(name); hint != "" && !expr.IsLexicographic { // IsLexicographic: the property was read in Storm's dialect
		return r.semanticError(expr, "unknown function %q%s", name, hint)
	}
	args := make([]Expr, len(expr.Args))
	areValid := true
	for i, arg := range expr.Args {
		args[i] = r.resolveExpr(arg)
		areValid = areValid && args[i].Type() != Invalid
	}
	function, minArgs, maxArgs, ok := lookupFunction(name)
	if expr.IsLexicographic {
		function, minArgs, maxArgs, ok = funcMulti, 1, -1, true
	}
	switch {
	case !ok:
		return r.semanticError(expr, "unknown function %q%s", name, r.renamedFrom(expr.Func.Name))
	case len(args) < minArgs:
		r.arityError(expr, "not enough", name, minArgs)
		return invalidExpr(expr, args...)
	case maxArgs >= 0 && len(args) > maxArgs:
		r.arityError(expr, "too many", name, maxArgs)
		return invalidExpr(expr, args...)
	case function == funcMulti && r.props == nil:
		return r.semanticError(expr, "function %q is for properties only", name)
	case !areValid:
		return invalidExpr(expr, args...)
	case function == funcMulti:
		return r.resolveMulti(expr, args)
	}
	return r.newBuiltinCall(expr, function, args)
}

// arityError reports a wrong number of arguments.
func (r *resolver) arityError(expr *syntax.Call, problem, name string, want int) {
	r.semanticError(expr, "%s arguments to %q function: found %d, want %d", problem, name, len(expr.Args), want)
	r.entries[len(r.entries)-1].kind = wrongArity
}

// newBuiltinCall returns the call of a built-in function, and checks the types of its arguments. The result is Int if all arguments are Ints,
// and for functions that round; log is always Double.
func (r *resolver) newBuiltinCall(expr *syntax.Call, function Func, args []Expr) Expr {
	resultType := Int
	for i, arg := range args {
		switch argType := arg.Type(); {
		case function == FuncMod && argType != Int:
			r.typeError(expr.Args[i], "non-integer argument to function %q: %s", function, typeMismatch(arg, "int"))
			return invalidExpr(expr, args...)
		case argType == Bool:
			r.typeError(expr.Args[i], "Boolean argument not allowed as argument to function %q, want a number", function)
			return invalidExpr(expr, args...)
		case !isNumeric(argType) && argType != Clock:
			r.typeError(expr.Args[i], "argument of type %s not allowed for function %q, want a number", argType, function)
			return invalidExpr(expr, args...)
		case argType == Double:
			resultType = Double
		}
	}
	switch function {
	case FuncFloor, FuncCeil, FuncRound:
		resultType = Int
	case FuncLog:
		resultType = Double
	}
	return &Call{Base{resultType, r.position(expr)}, function, args, expr.Array}
}
