package compile

import (
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// builder converts expressions to terms. First all expressions are registered. Then flatten merges nested conjunctions into one
// n-ary conjunction, and likewise disjunctions. A conjunction that is used in several places is not merged, because it is usually a
// named formula that is tested as a whole.
type builder struct {
	*graph
	model              *Model
	terms              map[sema.Expr]*term // expressions are shared, so each is built once
	uses               map[*term]int       // before flattening: uses by operations and as values
	hasCountedOperands map[*term]bool      // its operands are counted in uses
	isGuard            map[*term]bool      // it is a command's guard
	flattenedTerms     map[*term]*term     // the flattened terms; nil before flatten
	// shared has the flattened terms with other uses than as a single guard.
	isShared map[*term]bool
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

// register builds an expression that the generated code needs, and counts its uses.
func (b *builder) register(expr sema.Expr) {
	if expr != nil {
		b.countUses(b.expr(expr))
	}
}

// registerGuard registers a guard. A guard does not count as a use of its conjunction, so conjuncts can be split and tested
// separately.
func (b *builder) registerGuard(expr sema.Expr) {
	term := b.expr(expr)
	b.countUses(term)
	b.uses[term]--
	b.isGuard[term] = true
}

// countUses counts a use of a term. At the first use it also counts the uses of its operands.
func (b *builder) countUses(term *term) {
	b.uses[term]++
	if !b.hasCountedOperands[term] {
		b.hasCountedOperands[term] = true
		for _, operand := range term.operands {
			b.countUses(operand)
		}
	}
}

// expr returns the term of an expression. Unsupported expressions were rejected when the closures were compiled.
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

// flatten ends the registration of expressions. From now on expr returns flattened terms.
func (b *builder) flatten() { b.flattenedTerms, b.isShared = map[*term]*term{}, map[*term]bool{} }

// flattenTerm returns a term in which nested conjunctions and disjunctions are merged.
func (b *builder) flattenTerm(original *term) *term {
	if merged, ok := b.flattenedTerms[original]; ok {
		return merged
	}
	if len(original.operands) == 0 {
		return original
	}
	isConnective := original.op == opAnd || original.op == opOr
	var args []*term
	for _, operand := range original.operands {
		merged := b.flattenTerm(operand)
		if isConnective && merged.op == original.op && !b.isShared[merged] {
			args = append(args, merged.operands...)
		} else {
			args = append(args, merged)
		}
	}
	merged := b.rebuild(original, args)
	b.flattenedTerms[original] = merged
	isUsedApart := b.uses[original] > 1 || b.uses[original] == 1 && b.isGuard[original]
	b.isShared[merged] = b.isShared[merged] || isUsedApart
	return merged
}

// floatExpr returns the term of an expression as a Double.
func (b *builder) floatExpr(expr sema.Expr) *term {
	term := b.expr(expr)
	if term.sort == sortInt {
		return b.toFloat(term)
	}
	return term
}

// newTerm builds the term of an expression. It treats rounding errors as Model.boolClosure does.
func (b *builder) newTerm(expr sema.Expr) *term {
	if b.model.floats.Decide(expr) {
		return b.newTermOf(expr)
	}
	return b.guardedTerm(expr)
}

// guardedTerm returns the term of a comparison, floor, ceil or round whose result a rounding error may change. In states in which
// float64 arithmetic certainly gives the right result, the term has this result. In other states it fails, and the interpreter
// evaluates the expression exactly.
func (b *builder) guardedTerm(expr sema.Expr) *term {
	unknown := b.failingTerm(expr.Type())
	switch expr := expr.(type) {
	case *sema.Binary:
		slack := b.model.floats.OperandError(expr)
		if math.IsInf(slack, 1) {
			return unknown
		}
		if b.model.floats.ErrorDecides(expr) {
			unknown = b.boolConst(sema.Holds(expr.Op, 0))
		}
		difference := b.graph.floatOperation(opNumSub, b.floatExpr(expr.X), b.floatExpr(expr.Y))
		far := b.compareFloats(opNumLt, b.floatConst(slack), b.graph.floatOperation(opNumMax, difference, b.floatNegation(difference)))
		return b.ifThenElse(far, b.newTermOf(expr), unknown)
	case *sema.Call:
		slack := b.model.floats.OperandError(expr)
		if math.IsInf(slack, 1) {
			return unknown
		}
		operand, op := b.floatExpr(expr.Args[0]), map[sema.Func]opcode{sema.FuncFloor: opFloor, sema.FuncCeil: opCeil, sema.FuncRound: opRound}[expr.Func]
		if b.model.floats.ErrorDecides(expr) {
			return b.toInt(op, b.graph.floatOperation(opNumAdd, operand, b.floatConst(roundingShift(expr, slack))))
		}
		low, high := b.toInt(op, b.graph.floatOperation(opNumSub, operand, b.floatConst(slack))), b.toInt(op, b.graph.floatOperation(opNumAdd, operand, b.floatConst(slack)))
		return b.ifThenElse(b.equal(low, high), b.newTermOf(expr), unknown)
	}
	return unknown
}

// newTermOf builds the term of an expression that rounding errors do not affect.
func (b *builder) newTermOf(expr sema.Expr) *term {
	switch expr := expr.(type) {
	case *sema.Const:
		switch expr.ValueType {
		case sema.Bool:
			return b.boolConst(expr.Val.Bool)
		case sema.Int:
			return b.intConst(int64(expr.Val.Int))
		}
		return b.floatConst(expr.Val.Float)
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

// failingTerm returns a term that always fails, mod(1,0), so that the interpreter evaluates the expression.
func (b *builder) failingTerm(typ sema.Type) *term {
	operand := b.mod(b.intConst(1), b.intConst(0))
	if typ == sema.Bool {
		return b.equal(operand, b.intConst(0))
	}
	return operand
}

// unary builds a negation.
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

// binary builds a binary operator.
func (b *builder) binary(expr *sema.Binary) *term {
	switch {
	case expr.X.Type() == sema.Bool:
		return b.logicalOperation(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	case expr.ValueType == sema.Bool && expr.X.Type() == sema.Int && expr.Y.Type() == sema.Int:
		return b.compareInts(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	case expr.ValueType == sema.Bool:
		return b.compareFloatOps(expr.Op, b.floatExpr(expr.X), b.floatExpr(expr.Y))
	case expr.ValueType == sema.Int:
		return b.intArithmetic(expr.Op, b.expr(expr.X), b.expr(expr.Y))
	}
	return b.floatArithmetic(expr.Op, b.floatExpr(expr.X), b.floatExpr(expr.Y))
}

// logicalOperation builds an operator on Bools.
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
	default:
		return b.iff(left, right)
	}
}

// compareInts builds a comparison of Ints.
func (b *builder) compareInts(op syntax.Op, left, right *term) *term {
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
	default:
		return b.not(b.lessThan(left, right))
	}
}

// compareFloatOps builds a comparison of Doubles.
func (b *builder) compareFloatOps(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpEq:
		return b.compareFloats(opNumSame, left, right)
	case syntax.OpNe:
		return b.not(b.compareFloats(opNumSame, left, right))
	case syntax.OpLt:
		return b.compareFloats(opNumLt, left, right)
	case syntax.OpLe:
		return b.compareFloats(opNumLe, left, right)
	case syntax.OpGt:
		return b.compareFloats(opNumLt, right, left)
	default:
		return b.compareFloats(opNumLe, right, left)
	}
}

// intArithmetic builds an arithmetic operator on Ints.
func (b *builder) intArithmetic(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.add(left, right)
	case syntax.OpSub:
		return b.sub(left, right)
	case syntax.OpMul:
		return b.mul(left, right)
	default:
		return b.pow(left, right)
	}
}

// floatArithmetic builds an arithmetic operator on Doubles.
func (b *builder) floatArithmetic(op syntax.Op, left, right *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.graph.floatOperation(opNumAdd, left, right)
	case syntax.OpSub:
		return b.graph.floatOperation(opNumSub, left, right)
	case syntax.OpMul:
		return b.graph.floatOperation(opNumMul, left, right)
	case syntax.OpDiv:
		return b.graph.floatOperation(opNumDiv, left, right)
	default:
		return b.graph.floatOperation(opNumPow, left, right)
	}
}

// call returns the term of a function call. min and max of several arguments become nested calls with two arguments: max(a,b,c) is
// max(max(a,b),c).
func (b *builder) call(expr *sema.Call) *term {
	switch expr.Func {
	case sema.FuncFloor:
		return b.toInt(opFloor, b.floatExpr(expr.Args[0]))
	case sema.FuncCeil:
		return b.toInt(opCeil, b.floatExpr(expr.Args[0]))
	case sema.FuncRound:
		return b.toInt(opRound, b.floatExpr(expr.Args[0]))
	}
	if expr.ValueType == sema.Int {
		return b.callInts(expr)
	}
	result := b.floatExpr(expr.Args[0])
	for _, arg := range expr.Args[1:] {
		result = b.graph.floatOperation(floatOpcode(expr.Func), result, b.floatExpr(arg))
	}
	return result
}

// floatOpcode returns the operation of a function on Doubles.
func floatOpcode(function sema.Func) opcode {
	switch function {
	case sema.FuncMin:
		return opNumMin
	case sema.FuncMax:
		return opNumMax
	case sema.FuncPow:
		return opNumPow
	default:
		return opNumLog
	}
}

// callInts returns the term of a function call with Int arguments and an Int result. min and max of several arguments become nested
// calls with two arguments.
func (b *builder) callInts(expr *sema.Call) *term {
	result := b.expr(expr.Args[0])
	for _, arg := range expr.Args[1:] {
		switch operand := b.expr(arg); expr.Func {
		case sema.FuncMin:
			result = b.min(result, operand)
		case sema.FuncMax:
			result = b.max(result, operand)
		case sema.FuncMod:
			result = b.mod(result, operand)
		default:
			result = b.pow(result, operand)
		}
	}
	return result
}

// conjuncts returns the terms whose conjunction is the guard. A guard that may fail is one term, and so is a guard that is also used
// elsewhere, since its value is computed once.
func (b *builder) conjuncts(guard *term) []*term {
	switch {
	case guard.mayFail:
	case guard.op == opAnd && !b.isShared[guard]:
		return guard.operands
	case guard.op == opNot && guard.operands[0].op == opOr && !b.isShared[guard.operands[0]]:
		var out []*term
		for _, operand := range guard.operands[0].operands {
			out = append(out, b.not(operand))
		}
		return out
	}
	return []*term{guard}
}
