package jani

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// sizedExpr is a translated expression with its size, the number of its operators and operands. A shared operand counts at each use.
type sizedExpr struct {
	expr          syntax.Expr
	size          int
	isConditional bool // the value depends on an index
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
	assignedValues        map[*slot]sizedExpr // values assigned earlier in the same step; nil outside steps
	isInProperty          bool                // operators of properties may occur
	forbidsStateVariables bool                // variables that are not transient may not occur
	forbidsTransients     bool                // transient variables may not occur
	callDepth             int                 // nesting depth of function calls
}

// withScope returns the same context with another scope.
func (context *exprContext) withScope(scope *scope) *exprContext {
	changed := *context
	changed.scope = scope
	return &changed
}

// abortError is the panic value that ends the translation of a construct.
type abortError struct{ err *syntax.Error }

// catchAbort calls translate and returns the error with which it aborts; nil if it does not abort.
func catchAbort(translate func()) (err *syntax.Error) {
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case abortError:
			err = problem.err
		default: // a mistake of this program
			panic(problem)
		}
	}()
	translate()
	return nil
}

// abort ends the translation of the current construct with an error. It panics, and catchAbort recovers.
func (t *translator) abort(pos syntax.Pos, format string, args ...any) {
	var list syntax.ErrorList
	list.Add(t.file, pos, format, args...)
	panic(abortError{list[0]})
}

// translateExpr translates an expression.
func (t *translator) translateExpr(value *jsonValue, context *exprContext) syntax.Expr {
	t.addSize(value.Start, 1)
	switch value.kind {
	case boolean:
		return &syntax.BoolLit{Value: value.isTrue, Span: value.Span}
	case number:
		if len(value.text) > maxDigits {
			t.abort(value.Start, "a number has %d characters, want at most %d", len(value.text), maxDigits)
		}
		return numberExpr(value)
	case text:
		return t.resolveName(value, context)
	case object:
		return t.translateOperation(value, context)
	}
	t.abort(value.Start, "found %s, want an expression", value.describe())
	return nil
}

// addSize increases the size of the translated model, and reports an error at pos if the model becomes too large.
func (t *translator) addSize(pos syntax.Pos, size int) {
	t.size += size
	if t.size > maxSize {
		t.isTooLarge = true
		t.abort(pos, "the model has more than %d operators after expanding functions and assignments, want fewer", maxSize)
	}
}

// translateSizedExpr translates an expression that may occur several times in the result, and returns its size.
func (t *translator) translateSizedExpr(value *jsonValue, context *exprContext) sizedExpr {
	before := t.size
	expr := t.translateExpr(value, context)
	return sizedExpr{expr: expr, size: t.size - before}
}

// numberExpr translates a number to a literal of PRISM's language with the same digits. A negative number becomes the negation of a literal.
func numberExpr(value *jsonValue) syntax.Expr {
	negate := func(expr syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNeg, X: expr, Span: value.Span} }
	if value.text == "-2147483648" { // PRISM's language has no literal for the smallest int
		largest := &syntax.IntLit{Value: 2147483647, Span: value.Span}
		one := &syntax.IntLit{Value: 1, Span: value.Span}
		return &syntax.Binary{Op: syntax.OpSub, X: negate(largest), Y: one, OpPos: value.Start, Span: value.Span}
	}
	digits, isNegative := strings.CutPrefix(value.text, "-")
	if isNegative {
		return negate(literal(digits, value.Span))
	}
	return literal(digits, value.Span)
}

// literal returns the literal of a number without a sign. It is an int if the number fits, otherwise a double.
func literal(digits string, span syntax.Span) syntax.Expr {
	if number, err := strconv.ParseInt(digits, 10, 32); err == nil {
		return &syntax.IntLit{Value: int32(number), Span: span}
	}
	if !strings.ContainsAny(digits, ".eE") {
		digits += ".0" // too large for an int
	}
	return &syntax.DoubleLit{Text: digits, Span: span}
}

// resolveName translates an expression that is a name: of a constant, a parameter or a variable.
func (t *translator) resolveName(value *jsonValue, context *exprContext) syntax.Expr {
	meaning, ok := context.find(value.text)
	switch {
	case !ok:
		t.abort(value.Start, "there is no constant or variable %q", shortened(value.text))
	case meaning.composite != nil:
		t.abort(value.Start, "%q is an array or a datatype, want one of its parts", shortened(value.text))
	case meaning.slot != nil:
		return t.slotValue(value, meaning.slot, context)
	}
	t.addSize(value.Start, meaning.size)
	if ident, ok := meaning.expr.(*syntax.Ident); ok {
		return &syntax.Ident{Name: ident.Name, Span: value.Span}
	}
	return meaning.expr
}

// slotValue translates the use of a variable. Within a step, a variable that was already assigned has its new value. Outside of a step, a
// transient variable has the value that the current locations give it.
func (t *translator) slotValue(value *jsonValue, variable *slot, context *exprContext) syntax.Expr {
	if !variable.isTransient && context.forbidsStateVariables {
		t.abort(value.Start, "a step reward reads the variable %q, want only transient variables and constants", shortened(variable.janiName))
	}
	if current, ok := context.assignedValues[variable]; ok {
		t.addSize(value.Start, current.size)
		return current.expr
	}
	switch {
	case !variable.isTransient:
		return &syntax.Ident{Name: variable.name, Span: value.Span}
	case context.assignedValues != nil:
		return variable.initial
	case context.forbidsTransients:
		t.abort(value.Start, "the value of a transient variable reads %q, which is also transient; this is not supported", shortened(variable.janiName))
	case variable.isAmbiguous:
		t.abort(value.Start, "locations of several automata give %q a value, want locations of one automaton", shortened(variable.janiName))
	case context.isInProperty && variable.valueType.kind == boolType:
		return &syntax.Quoted{Name: t.labels[variable], Span: value.Span}
	}
	if variable.stateValue == nil {
		return variable.initial
	}
	t.addSize(value.Start, variable.stateSize)
	return variable.stateValue
}

// operators maps binary operators of JANI to operators of PRISM's language.
var operators = map[string]syntax.Op{
	"∨": syntax.OpOr, "∧": syntax.OpAnd, "⇒": syntax.OpImplies, "=": syntax.OpEq, "≠": syntax.OpNe,
	"<": syntax.OpLt, "≤": syntax.OpLe, ">": syntax.OpGt, "≥": syntax.OpGe,
	"+": syntax.OpAdd, "-": syntax.OpSub, "*": syntax.OpMul, "/": syntax.OpDiv,
}

// functionNames maps functions of JANI to functions of PRISM's language. A function that is not binary has one operand.
var functionNames = map[string]struct {
	name     string
	isBinary bool
}{
	"%": {"mod", true}, "pow": {"pow", true}, "log": {"log", true}, "min": {"min", true}, "max": {"max", true},
	"floor": {"floor", false}, "ceil": {"ceil", false},
}

// translateOperation translates an operator with its operands.
func (t *translator) translateOperation(value *jsonValue, context *exprContext) syntax.Expr {
	op := value.get("op")
	if op == nil || op.kind != text {
		t.abortWithoutOperator(value, op)
	}
	if binaryOp, ok := operators[op.text]; ok {
		t.requireKeys(value, "left", "right")
		if bounded := t.translateBoundedOperator(value, binaryOp, context); bounded != nil {
			return bounded
		}
		left, right := t.translateExpr(value.get("left"), context), t.translateExpr(value.get("right"), context)
		return &syntax.Binary{Op: binaryOp, X: left, Y: right, OpPos: op.Start, Span: value.Span}
	}
	function, ok := functionNames[op.text]
	if !ok {
		return t.translateOtherOperator(value, op, context)
	}
	if !function.isBinary {
		t.requireKeys(value, "exp")
		return functionCall(value, function.name, t.translateExpr(value.get("exp"), context))
	}
	t.requireKeys(value, "left", "right")
	return functionCall(value, function.name, t.translateExpr(value.get("left"), context), t.translateExpr(value.get("right"), context))
}

// abortWithoutOperator aborts with an error about an object that should be an operator. op is the value of its key "op", or nil.
func (t *translator) abortWithoutOperator(value, op *jsonValue) {
	if constant := value.get("constant"); op == nil && constant != nil {
		t.abort(value.Start, "the constant %s is not a fraction, so PRISM's language cannot express it", shortened(constant.text))
	}
	if op == nil && value.get("distribution") != nil {
		t.abort(value.Start, "found a number that is drawn from a distribution, want it in an assignment of an edge")
	}
	t.abort(value.Start, "an expression has no \"op\", want one")
}

// requireKeys aborts with an error if the object of an operator lacks one of these keys or has another key.
func (t *translator) requireKeys(value *jsonValue, keys ...string) {
	for _, key := range keys {
		if value.get(key) == nil {
			t.abort(value.Start, "the operator %s has no %q, want one", value.get("op").describe(), key)
		}
	}
	for _, member := range value.members {
		if member.key != "op" && !isExtension(member.key) && !slices.Contains(keys, member.key) {
			t.abort(member.pos, "the operator %s has a key %q, want only %s", value.get("op").describe(), shortened(member.key), strings.Join(keys, ", "))
		}
	}
}

// functionCall returns a call of a function of PRISM's language at the position of a JSON value.
func functionCall(value *jsonValue, name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.Call{Func: &syntax.Ident{Name: name, Span: value.Span}, Args: args, Span: value.Span}
}

// translateOtherOperator translates the operators that PRISM's language lacks, and the operators of properties.
func (t *translator) translateOtherOperator(value, op *jsonValue, context *exprContext) syntax.Expr {
	switch op.text {
	case "¬":
		t.requireKeys(value, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.translateExpr(value.get("exp"), context), Span: value.Span}
	case "ite":
		t.requireKeys(value, "if", "then", "else")
		condition := t.translateExpr(value.get("if"), context)
		thenExpr, elseExpr := t.translateExpr(value.get("then"), context), t.translateExpr(value.get("else"), context)
		return &syntax.Cond{Condition: condition, Then: thenExpr, Else: elseExpr, Span: value.Span}
	case "abs", "sgn", "trc":
		t.requireKeys(value, "exp")
		return t.translateSignFunction(value, op.text, context)
	case "call":
		t.requireKeys(value, "function", "args")
		return t.expandCall(value, context)
	case "aa", "da":
		meaning := t.symbolOf(value, context)
		if meaning.composite != nil {
			t.abort(value.Start, "found an array or a datatype, want a number or a Boolean")
		}
		return meaning.expr
	case "av", "ac":
		t.abort(value.Start, "found an array, want a number or a Boolean")
	}
	if context.isInProperty {
		if expr := t.translatePropertyOperator(value, op, context); expr != nil {
			return expr
		}
	}
	t.abort(op.Start, "the operator %q is not supported here", shortened(op.text))
	return nil
}

// translateSignFunction translates abs, sgn and trc (truncation) by conditions on the sign of the operand.
func (t *translator) translateSignFunction(value *jsonValue, op string, context *exprContext) syntax.Expr {
	operand := t.translateSizedExpr(value.get("exp"), context)
	const sizeOfSign = 8 // of the conditions and numbers around two copies of the operand
	t.addSize(value.Start, 2*operand.size+sizeOfSign)
	number := func(constant int32) syntax.Expr { return &syntax.IntLit{Value: constant, Span: value.Span} }
	negate := func(expr syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNeg, X: expr, Span: value.Span} }
	compareWithZero := func(op syntax.Op) syntax.Expr {
		return &syntax.Binary{Op: op, X: operand.expr, Y: number(0), OpPos: value.Start, Span: value.Span}
	}
	conditional := func(condition, thenExpr, elseExpr syntax.Expr) syntax.Expr {
		return &syntax.Cond{Condition: condition, Then: thenExpr, Else: elseExpr, Span: value.Span}
	}
	isNotNegative, isPositive, isNegative := compareWithZero(syntax.OpGe), compareWithZero(syntax.OpGt), compareWithZero(syntax.OpLt)
	switch op {
	case "abs":
		return conditional(isNotNegative, operand.expr, negate(operand.expr))
	case "trc":
		return conditional(isNotNegative, functionCall(value, "floor", operand.expr), functionCall(value, "ceil", operand.expr))
	}
	return conditional(isPositive, number(1), conditional(isNegative, negate(number(1)), number(0)))
}

// expandCall translates the call of a function. It returns the body of the function with the arguments in place of the parameters.
func (t *translator) expandCall(value *jsonValue, context *exprContext) syntax.Expr {
	const maxCalls = 1000 // nested
	name, args := value.get("function"), value.get("args")
	function, functionScope := context.function(name.text)
	switch {
	case function == nil:
		t.abort(name.Start, "there is no function %q", shortened(name.text))
	case args.kind != array || len(args.elements) != len(function.params):
		t.abort(args.Start, "the function %q has %d parameters, want as many arguments in an array", shortened(function.name), len(function.params))
	case context.callDepth >= maxCalls:
		t.abort(value.Start, "the function %q calls itself, or functions call each other more than %d deep, which is not supported",
			shortened(function.name), maxCalls)
	}
	scope := newScope(functionScope)
	for i, param := range function.params {
		arg := args.elements[i]
		if param.valueType.kind == arrayType || param.valueType.kind == dataType {
			scope.names[param.name] = t.symbolOf(arg, context)
			continue
		}
		translatedArg := t.translateSizedExpr(arg, context)
		scope.names[param.name] = symbol{expr: translatedArg.expr, size: translatedArg.size, isBool: param.valueType.kind == boolType}
	}
	bodyContext := context.withScope(scope)
	bodyContext.callDepth++
	return t.translateExpr(function.body, bodyContext)
}

// isBool reports whether an expression is Boolean. Its outermost operator decides this.
func (t *translator) isBool(value *jsonValue, context *exprContext) bool {
	switch value.kind {
	case boolean:
		return true
	case text:
		meaning, _ := context.find(value.text)
		return meaning.isBool || meaning.slot != nil && meaning.slot.valueType.kind == boolType
	}
	op := value.get("op")
	if op == nil {
		return false
	}
	switch op.text {
	case "∨", "∧", "⇒", "=", "≠", "<", "≤", ">", "≥", "¬", "initial", "deadlock", "∀", "∃":
		return true
	case "ite":
		return value.get("then") != nil && t.isBool(value.get("then"), context)
	}
	return false
}

// constantValue returns the value of an expression over numbers and constants. It returns nil if the expression contains anything else or large
// numbers, or is nested too deeply. depth is the depth of the expression within the whole one.
func (t *translator) constantValue(value *jsonValue, context *exprContext, depth int) *big.Rat {
	const maxConstantDepth, maxCharacters, maxBits = 100, 20, 64
	if value == nil || depth > maxConstantDepth {
		return nil
	}
	switch value.kind {
	case number:
		if len(value.text) > maxCharacters || strings.ContainsAny(value.text, "eE") {
			return nil
		}
		fraction, _ := new(big.Rat).SetString(value.text)
		return fraction
	case text:
		meaning, _ := context.find(value.text)
		return t.constantValue(meaning.definition, context, depth+1)
	}
	op := value.get("op")
	left := t.constantValue(value.get("left"), context, depth+1)
	right := t.constantValue(value.get("right"), context, depth+1)
	if left == nil || right == nil || left.Num().BitLen()+right.Num().BitLen() > maxBits {
		return nil
	}
	switch {
	case op.isText("+"):
		return left.Add(left, right)
	case op.isText("-"):
		return left.Sub(left, right)
	case op.isText("*"):
		return left.Mul(left, right)
	}
	return nil
}

// spanAt returns an empty span at a position.
func spanAt(pos syntax.Pos) syntax.Span { return syntax.Span{Start: pos, Stop: pos} }
