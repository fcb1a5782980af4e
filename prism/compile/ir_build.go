package compile

import (
	"cmp"
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
	for i, v := range m.program.Vars {
		ranges[i] = interval{int64(v.Low), int64(v.High)}
	}
	return &builder{
		graph: newGraph(ranges), model: m, terms: map[sema.Expr]*term{},
		uses: map[*term]int{}, hasCountedOperands: map[*term]bool{}, isGuard: map[*term]bool{},
	}
}

// register builds an expression that the generated code needs, and counts its uses.
func (b *builder) register(e sema.Expr) {
	if e != nil {
		b.countUses(b.expr(e))
	}
}

// registerGuard registers a guard. A guard does not count as a use of its conjunction, so conjuncts can be split and tested
// separately.
func (b *builder) registerGuard(e sema.Expr) {
	term := b.expr(e)
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
func (b *builder) expr(e sema.Expr) *term {
	term, ok := b.terms[e]
	if !ok {
		term = b.newTerm(e)
		b.terms[e] = term
	}
	if b.flattenedTerms != nil {
		return b.flattened(term)
	}
	return term
}

// flatten ends the registration of expressions. From now on expr returns flattened terms.
func (b *builder) flatten() { b.flattenedTerms, b.isShared = map[*term]*term{}, map[*term]bool{} }

// flattened returns a term in which nested conjunctions and disjunctions are merged.
func (b *builder) flattened(t *term) *term {
	if merged, ok := b.flattenedTerms[t]; ok || len(t.operands) == 0 {
		return cmp.Or(merged, t)
	}
	var args []*term
	for _, operand := range t.operands {
		merged := b.flattened(operand)
		if (t.op == opAnd || t.op == opOr) && merged.op == t.op && !b.isShared[merged] {
			args = append(args, merged.operands...)
		} else {
			args = append(args, merged)
		}
	}
	merged := b.rebuild(t, args)
	b.flattenedTerms[t] = merged
	b.isShared[merged] = b.isShared[merged] || b.uses[t] > 1 || b.uses[t] == 1 && b.isGuard[t]
	return merged
}

// floatExpr returns the term of an expression as a Double.
func (b *builder) floatExpr(e sema.Expr) *term {
	term := b.expr(e)
	if term.sort == sortInt {
		return b.toFloat(term)
	}
	return term
}

// newTerm builds the term of an expression. It treats rounding errors as Model.boolClosure does.
func (b *builder) newTerm(e sema.Expr) *term {
	if b.model.floats.Decide(e) {
		return b.newTermOf(e)
	}
	return b.guardedTerm(e)
}

// guardedTerm builds a comparison, or floor, ceil or round, that rounding errors may affect. In states where float64 arithmetic is
// accurate enough, the term has its result. In other states it fails, and the interpreter evaluates the expression exactly.
func (b *builder) guardedTerm(e sema.Expr) *term {
	unknown := b.failingTerm(e.Type())
	switch e := e.(type) {
	case *sema.Binary:
		slack := b.model.floats.OperandError(e)
		if math.IsInf(slack, 1) {
			return unknown
		}
		if b.model.floats.ErrorDecides(e) {
			unknown = b.boolConst(sema.Holds(e.Op, 0))
		}
		d := b.graph.floatOperation(opNumSub, b.floatExpr(e.X), b.floatExpr(e.Y))
		far := b.compareFloats(opNumLt, b.floatConst(slack), b.graph.floatOperation(opNumMax, d, b.floatNegation(d)))
		return b.ite(far, b.newTermOf(e), unknown)
	case *sema.Call:
		slack := b.model.floats.OperandError(e)
		if math.IsInf(slack, 1) {
			return unknown
		}
		x, op := b.floatExpr(e.Args[0]), map[sema.Func]opcode{sema.FuncFloor: opFloor, sema.FuncCeil: opCeil, sema.FuncRound: opRound}[e.Func]
		if b.model.floats.ErrorDecides(e) {
			return b.toInt(op, b.graph.floatOperation(opNumAdd, x, b.floatConst(roundingShift(e, slack))))
		}
		low, high := b.toInt(op, b.graph.floatOperation(opNumSub, x, b.floatConst(slack))), b.toInt(op, b.graph.floatOperation(opNumAdd, x, b.floatConst(slack)))
		return b.ite(b.eq(low, high), b.newTermOf(e), unknown)
	}
	return unknown
}

// newTermOf builds the term of an expression that rounding errors do not affect.
func (b *builder) newTermOf(e sema.Expr) *term {
	switch e := e.(type) {
	case *sema.Const:
		switch e.T {
		case sema.Bool:
			return b.boolConst(e.Val.Bool)
		case sema.Int:
			return b.intConst(int64(e.Val.Int))
		}
		return b.floatConst(e.Val.Float)
	case *sema.Var:
		if e.T == sema.Bool {
			return b.variable(e.Slot, sortBool)
		}
		return b.variable(e.Slot, sortInt)
	case *sema.Label:
		x, err := b.model.labelExpr(e)
		if err != nil {
			return b.falseTerm
		}
		return b.expr(x)
	case *sema.Unary:
		return b.unary(e)
	case *sema.Cond:
		if e.T == sema.Double {
			return b.ite(b.expr(e.C), b.floatExpr(e.A), b.floatExpr(e.B))
		}
		return b.ite(b.expr(e.C), b.expr(e.A), b.expr(e.B))
	case *sema.Binary:
		return b.binary(e)
	case *sema.Call:
		return b.call(e)
	}
	return b.falseTerm
}

// failingTerm returns a term that always fails, mod(1,0), so that the interpreter evaluates the expression.
func (b *builder) failingTerm(t sema.Type) *term {
	x := b.mod(b.intConst(1), b.intConst(0))
	if t == sema.Bool {
		return b.eq(x, b.intConst(0))
	}
	return x
}

// unary builds a negation.
func (b *builder) unary(e *sema.Unary) *term {
	switch {
	case e.Op == syntax.OpNot:
		return b.not(b.expr(e.X))
	case e.T == sema.Int:
		return b.sub(b.intConst(0), b.expr(e.X))
	default:
		return b.floatNegation(b.floatExpr(e.X))
	}
}

// binary builds a binary operator.
func (b *builder) binary(e *sema.Binary) *term {
	switch {
	case e.X.Type() == sema.Bool:
		return b.logicalOperation(e.Op, b.expr(e.X), b.expr(e.Y))
	case e.T == sema.Bool && e.X.Type() == sema.Int && e.Y.Type() == sema.Int:
		return b.compareInts(e.Op, b.expr(e.X), b.expr(e.Y))
	case e.T == sema.Bool:
		return b.compareFloatOps(e.Op, b.floatExpr(e.X), b.floatExpr(e.Y))
	case e.T == sema.Int:
		return b.intArithmetic(e.Op, b.expr(e.X), b.expr(e.Y))
	}
	return b.floatArithmetic(e.Op, b.floatExpr(e.X), b.floatExpr(e.Y))
}

// logicalOperation builds an operator on Bools.
func (b *builder) logicalOperation(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpAnd:
		return b.and(x, y)
	case syntax.OpOr:
		return b.or(x, y)
	case syntax.OpImplies:
		return b.or(b.not(x), y)
	case syntax.OpNe:
		return b.not(b.iff(x, y))
	default:
		return b.iff(x, y)
	}
}

// compareInts builds a comparison of Ints.
func (b *builder) compareInts(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpEq:
		return b.eq(x, y)
	case syntax.OpNe:
		return b.not(b.eq(x, y))
	case syntax.OpLt:
		return b.lt(x, y)
	case syntax.OpLe:
		return b.not(b.lt(y, x))
	case syntax.OpGt:
		return b.lt(y, x)
	default:
		return b.not(b.lt(x, y))
	}
}

// compareFloatOps builds a comparison of Doubles.
func (b *builder) compareFloatOps(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpEq:
		return b.compareFloats(opNumSame, x, y)
	case syntax.OpNe:
		return b.not(b.compareFloats(opNumSame, x, y))
	case syntax.OpLt:
		return b.compareFloats(opNumLt, x, y)
	case syntax.OpLe:
		return b.compareFloats(opNumLe, x, y)
	case syntax.OpGt:
		return b.compareFloats(opNumLt, y, x)
	default:
		return b.compareFloats(opNumLe, y, x)
	}
}

// intArithmetic builds an arithmetic operator on Ints.
func (b *builder) intArithmetic(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.add(x, y)
	case syntax.OpSub:
		return b.sub(x, y)
	case syntax.OpMul:
		return b.mul(x, y)
	default:
		return b.pow(x, y)
	}
}

// floatArithmetic builds an arithmetic operator on Doubles.
func (b *builder) floatArithmetic(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.graph.floatOperation(opNumAdd, x, y)
	case syntax.OpSub:
		return b.graph.floatOperation(opNumSub, x, y)
	case syntax.OpMul:
		return b.graph.floatOperation(opNumMul, x, y)
	case syntax.OpDiv:
		return b.graph.floatOperation(opNumDiv, x, y)
	default:
		return b.graph.floatOperation(opNumPow, x, y)
	}
}

// call builds a function call. A function of several arguments is applied from left to right.
func (b *builder) call(e *sema.Call) *term {
	switch e.Func {
	case sema.FuncFloor:
		return b.toInt(opFloor, b.floatExpr(e.Args[0]))
	case sema.FuncCeil:
		return b.toInt(opCeil, b.floatExpr(e.Args[0]))
	case sema.FuncRound:
		return b.toInt(opRound, b.floatExpr(e.Args[0]))
	}
	if e.T == sema.Int {
		return b.callInts(e)
	}
	term := b.floatExpr(e.Args[0])
	for _, a := range e.Args[1:] {
		term = b.graph.floatOperation(floatOpcode(e.Func), term, b.floatExpr(a))
	}
	return term
}

// floatOpcode returns the operation of a function on Doubles.
func floatOpcode(f sema.Func) opcode {
	switch f {
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

// callInts builds a function call with Int arguments and an Int result.
func (b *builder) callInts(e *sema.Call) *term {
	term := b.expr(e.Args[0])
	for _, a := range e.Args[1:] {
		switch y := b.expr(a); e.Func {
		case sema.FuncMin:
			term = b.min(term, y)
		case sema.FuncMax:
			term = b.max(term, y)
		case sema.FuncMod:
			term = b.mod(term, y)
		default:
			term = b.pow(term, y)
		}
	}
	return term
}

// conjuncts returns the conjuncts of a guard. A guard that may fail, or that is a formula with other uses, is not split.
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
