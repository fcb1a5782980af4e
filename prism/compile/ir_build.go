package compile

import (
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// builder converts expressions to terms. After all expressions are registered, flatten merges nested conjunctions into one, and likewise
// disjunctions. A conjunction with several uses is not merged, because it is usually a named formula.
type builder struct {
	*graph
	model              *Model
	terms              map[sema.Expr]*term // expressions are shared, so each is built once
	uses               map[*term]int       // uses of a term by operations and as a value, before flattening
	hasCountedOperands map[*term]bool      // terms whose operands are counted in uses
	isGuard            map[*term]bool      // terms that are guards of commands
	flattenedTerms     map[*term]*term     // the flattened form of a term; nil before flatten
	isShared           map[*term]bool      // flattened terms that have other uses than as a single guard
}

// newGraphBuilder returns a builder for expressions of the model.
func (m *Model) newGraphBuilder() *builder {
	ranges := make([]interval, len(m.program.Vars))
	for i, variable := range m.program.Vars {
		ranges[i] = interval{int64(variable.Low), int64(variable.High)}
	}
	return &builder{
		graph: newGraph(ranges), model: m, terms: map[sema.Expr]*term{},
		uses: map[*term]int{}, hasCountedOperands: map[*term]bool{}, isGuard: map[*term]bool{},
	}
}

// registerExpr builds an expression of the generated code and counts its uses. expr may be nil.
func (b *builder) registerExpr(expr sema.Expr) {
	if expr != nil {
		b.countUses(b.expr(expr))
	}
}

// registerGuard registers a guard. The guard does not count as a use of its term, so its conjuncts can be split and tested separately.
func (b *builder) registerGuard(expr sema.Expr) {
	term := b.expr(expr)
	b.countUses(term)
	b.uses[term]--
	b.isGuard[term] = true
}

// countUses counts a use of a term in b.uses. At the first use of the term, it also counts a use of each operand.
func (b *builder) countUses(term *term) {
	b.uses[term]++
	if !b.hasCountedOperands[term] {
		b.hasCountedOperands[term] = true
		for _, operand := range term.operands {
			b.countUses(operand)
		}
	}
}

// expr returns the term of an expression of a kind that has a closure. If b.flattenedTerms is set, the term is flattened.
func (b *builder) expr(source sema.Expr) *term {
	term, ok := b.terms[source]
	if !ok {
		term = b.newTerm(source)
		b.terms[source] = term
	}
	if b.flattenedTerms != nil {
		return b.flattenTerm(term)
	}
	return term
}

// flattenTerms ends the registration of expressions. From now on expr returns flattened terms.
func (b *builder) flattenTerms() { b.flattenedTerms, b.isShared = map[*term]*term{}, map[*term]bool{} }

// flattenTerm returns an equivalent term in which (a & b) & c is a & b & c, and likewise for disjunctions. A nested conjunction or disjunction that
// has other uses is not merged.
func (b *builder) flattenTerm(original *term) *term {
	if flatTerm, ok := b.flattenedTerms[original]; ok {
		return flatTerm
	}
	if len(original.operands) == 0 {
		return original
	}
	isConnective := original.op == opAnd || original.op == opOr
	var operands []*term
	for _, operand := range original.operands {
		flatOperand := b.flattenTerm(operand)
		if isConnective && flatOperand.op == original.op && !b.isShared[flatOperand] {
			operands = append(operands, flatOperand.operands...)
		} else {
			operands = append(operands, flatOperand)
		}
	}
	flatTerm := b.rebuild(original, operands)
	b.flattenedTerms[original] = flatTerm
	if b.isUsedElsewhere(original) {
		b.isShared[flatTerm] = true
	}
	return flatTerm
}

// isUsedElsewhere reports whether a term has several uses. b.uses does not include the use as a guard.
func (b *builder) isUsedElsewhere(term *term) bool {
	return b.uses[term] > 1 || b.uses[term] == 1 && b.isGuard[term]
}

// floatExpr returns the term of an expression as a Double.
func (b *builder) floatExpr(expr sema.Expr) *term {
	term := b.expr(expr)
	if term.valueSort == sortInt {
		return b.toFloat(term)
	}
	return term
}

// newTerm builds the term of an expression. The value of the term is exact for Bools and Ints: where a rounding error might change it, the
// evaluation of the term fails instead.
func (b *builder) newTerm(expr sema.Expr) *term {
	if b.model.floatAnalysis.IsAlwaysExact(expr) {
		return b.plainTerm(expr)
	}
	switch expr := expr.(type) {
	case *sema.Binary:
		return b.inexactComparison(expr)
	case *sema.Call:
		return b.inexactRounding(expr)
	}
	return b.failingTerm(expr.Type())
}

// inexactComparison returns the term of a comparison that rounding errors may change. The term compares in float64 arithmetic if the operands
// differ by more than the maximal error. Otherwise it treats them as equal where the analysis has proved this, and fails where it has not.
func (b *builder) inexactComparison(expr *sema.Binary) *term {
	maxError := b.model.floatAnalysis.OperandError(expr)
	if math.IsInf(maxError, 1) {
		return b.failingTerm(sema.Bool)
	}
	resultIfClose := b.failingTerm(sema.Bool)         // the interpreter compares in exact arithmetic
	if b.model.floatAnalysis.IsExactWithError(expr) { // close numbers are equal
		resultIfClose = b.boolConst(sema.Holds(expr.Op, 0))
	}
	difference := b.floatOperation(opFloatSub, b.floatExpr(expr.X), b.floatExpr(expr.Y))
	distance := b.floatOperation(opFloatMax, difference, b.floatNegation(difference))
	areFarApart := b.compareFloats(opFloatLt, b.floatConst(maxError), distance)
	return b.ifThenElse(areFarApart, b.plainTerm(expr), resultIfClose)
}

// inexactRounding returns the term of a call of floor, ceil or round that rounding errors may change. If the analysis has proved that a shift of
// the operand by its error corrects the result, the term shifts it. Otherwise the term fails where the smallest and the largest possible operand
// give different integers.
func (b *builder) inexactRounding(expr *sema.Call) *term {
	maxError := b.model.floatAnalysis.OperandError(expr)
	if math.IsInf(maxError, 1) {
		return b.failingTerm(expr.Type())
	}
	operand, op := b.floatExpr(expr.Args[0]), roundingOpcode(expr.Func)
	if b.model.floatAnalysis.IsExactWithError(expr) {
		shift := b.floatConst(roundingShift(expr, maxError))
		return b.toInt(op, b.floatOperation(opFloatAdd, operand, shift))
	}
	lowResult := b.toInt(op, b.floatOperation(opFloatSub, operand, b.floatConst(maxError)))
	highResult := b.toInt(op, b.floatOperation(opFloatAdd, operand, b.floatConst(maxError)))
	return b.ifThenElse(b.equal(lowResult, highResult), b.plainTerm(expr), b.failingTerm(expr.Type()))
}

// plainTerm returns the term of an expression without regard to rounding errors. For an unsupported expression it returns the constant false, because the error
// was reported when the closure of the expression was compiled.
func (b *builder) plainTerm(expr sema.Expr) *term {
	switch expr := expr.(type) {
	case *sema.Const:
		return b.constant(expr)
	case *sema.Var:
		if expr.ValueType == sema.Bool {
			return b.variable(expr.Slot, sortBool)
		}
		return b.variable(expr.Slot, sortInt)
	case *sema.Label:
		definition, err := b.model.labelExpr(expr)
		if err != nil {
			return b.falseTerm
		}
		return b.expr(definition)
	case *sema.Unary:
		return b.unary(expr)
	case *sema.Cond:
		if expr.ValueType == sema.Double {
			return b.ifThenElse(b.expr(expr.Condition), b.floatExpr(expr.Then), b.floatExpr(expr.Else))
		}
		return b.ifThenElse(b.expr(expr.Condition), b.expr(expr.Then), b.expr(expr.Else))
	case *sema.Binary:
		return b.binary(expr)
	case *sema.Call:
		return b.call(expr)
	}
	return b.falseTerm
}

// constant returns the term of a constant.
func (b *builder) constant(expr *sema.Const) *term {
	switch expr.ValueType {
	case sema.Bool:
		return b.boolConst(expr.Val.Bool)
	case sema.Int:
		return b.intConst(int64(expr.Val.Int))
	default:
		return b.floatConst(expr.Val.Float)
	}
}

// failingTerm returns a term whose evaluation always fails: mod(1,0). Where a term fails, the interpreter evaluates the expression instead.
func (b *builder) failingTerm(valueType sema.Type) *term {
	operand := b.mod(b.intConst(1), b.intConst(0))
	if valueType == sema.Bool {
		return b.equal(operand, b.intConst(0))
	}
	return operand
}

// unary returns the term of -x or !x.
func (b *builder) unary(expr *sema.Unary) *term {
	switch {
	case expr.Op == syntax.OpNot:
		return b.not(b.expr(expr.X))
	case expr.ValueType == sema.Int:
		return b.sub(b.intConst(0), b.expr(expr.X))
	default:
		return b.floatNegation(b.floatExpr(expr.X))
	}
}

// binary returns the term of an expression with a binary operator.
func (b *builder) binary(expr *sema.Binary) *term {
	switch {
	case expr.X.Type() == sema.Bool:
		return b.logicalOperation(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	case expr.ValueType == sema.Bool && expr.X.Type() == sema.Int && expr.Y.Type() == sema.Int:
		return b.intComparison(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	case expr.ValueType == sema.Bool:
		return b.floatComparison(expr.Op, b.floatExpr(expr.X), b.floatExpr(expr.Y))
	case expr.ValueType == sema.Int:
		return b.intArithmetic(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	}
	return b.floatArithmetic(expr.Op, b.floatExpr(expr.X), b.floatExpr(expr.Y))
}

// logicalOperation returns the term of an operation on Bools: & | => != = or <=>.
func (b *builder) logicalOperation(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpAnd:
		return b.and(left, right)
	case syntax.OpOr:
		return b.or(left, right)
	case syntax.OpImplies:
		return b.or(b.not(left), right)
	case syntax.OpNe:
		return b.not(b.iff(left, right))
	default: // OpEq, OpIff
		return b.iff(left, right)
	}
}

// intComparison returns the term of a comparison of Ints. All operators are expressed by = and <.
func (b *builder) intComparison(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpEq:
		return b.equal(left, right)
	case syntax.OpNe:
		return b.not(b.equal(left, right))
	case syntax.OpLt:
		return b.lessThan(left, right)
	case syntax.OpLe:
		return b.not(b.lessThan(right, left))
	case syntax.OpGt:
		return b.lessThan(right, left)
	default: // OpGe
		return b.not(b.lessThan(left, right))
	}
}

// floatComparison returns the term of a comparison of Doubles. All operators are expressed by =, < and <=. a >= b is not expressed as !(a < b),
// because < and <= are false for NaN.
func (b *builder) floatComparison(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpEq:
		return b.compareFloats(opFloatSame, left, right)
	case syntax.OpNe:
		return b.not(b.compareFloats(opFloatSame, left, right))
	case syntax.OpLt:
		return b.compareFloats(opFloatLt, left, right)
	case syntax.OpLe:
		return b.compareFloats(opFloatLe, left, right)
	case syntax.OpGt:
		return b.compareFloats(opFloatLt, right, left)
	default: // OpGe
		return b.compareFloats(opFloatLe, right, left)
	}
}

// intArithmetic returns the term of an arithmetic operation on Ints.
func (b *builder) intArithmetic(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.add(left, right)
	case syntax.OpSub:
		return b.sub(left, right)
	case syntax.OpMul:
		return b.mul(left, right)
	default: // OpPow
		return b.pow(left, right)
	}
}

// floatArithmetic returns the term of an arithmetic operation on Doubles.
func (b *builder) floatArithmetic(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.floatOperation(opFloatAdd, left, right)
	case syntax.OpSub:
		return b.floatOperation(opFloatSub, left, right)
	case syntax.OpMul:
		return b.floatOperation(opFloatMul, left, right)
	case syntax.OpDiv:
		return b.floatOperation(opFloatDiv, left, right)
	default: // OpPow
		return b.floatOperation(opFloatPow, left, right)
	}
}

// call returns the term of a function call. max(a,b,c) becomes max(max(a,b),c), and likewise min.
func (b *builder) call(expr *sema.Call) *term {
	switch expr.Func {
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		return b.toInt(roundingOpcode(expr.Func), b.floatExpr(expr.Args[0]))
	}
	if expr.ValueType == sema.Int {
		return b.callInts(expr)
	}
	result := b.floatExpr(expr.Args[0])
	for _, arg := range expr.Args[1:] {
		result = b.floatOperation(floatOpcode(expr.Func), result, b.floatExpr(arg))
	}
	return result
}

// roundingOpcode returns the operation of floor, ceil or round.
func roundingOpcode(function sema.Func) opcode {
	switch function {
	case sema.FuncFloor:
		return opFloor
	case sema.FuncCeil:
		return opCeil
	default: // FuncRound
		return opRound
	}
}

// floatOpcode returns the operation of a function on Doubles.
func floatOpcode(function sema.Func) opcode {
	switch function {
	case sema.FuncMin:
		return opFloatMin
	case sema.FuncMax:
		return opFloatMax
	case sema.FuncPow:
		return opFloatPow
	default: // FuncLog
		return opFloatLog
	}
}

// callInts returns the term of a function call with Int arguments and an Int result. max(a,b,c) becomes max(max(a,b),c).
func (b *builder) callInts(expr *sema.Call) *term {
	result := b.expr(expr.Args[0])
	for _, arg := range expr.Args[1:] {
		operand := b.expr(arg)
		switch expr.Func {
		case sema.FuncMin:
			result = b.min(result, operand)
		case sema.FuncMax:
			result = b.max(result, operand)
		case sema.FuncMod:
			result = b.mod(result, operand)
		default: // FuncPow
			result = b.pow(result, operand)
		}
	}
	return result
}

// conjuncts splits a guard into conjuncts: the operands of a conjunction, or the negated operands of a negated disjunction. A guard that may
// fail or has other uses is not split.
func (b *builder) conjuncts(guard *term) []*term {
	if guard.mayFail {
		return []*term{guard}
	}
	if guard.op == opAnd && !b.isShared[guard] {
		return guard.operands
	}
	if guard.op != opNot || guard.operands[0].op != opOr || b.isShared[guard.operands[0]] {
		return []*term{guard}
	}
	var negatedOperands []*term
	for _, operand := range guard.operands[0].operands {
		negatedOperands = append(negatedOperands, b.not(operand))
	}
	return negatedOperands
}
