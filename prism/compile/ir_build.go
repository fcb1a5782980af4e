package compile

import (
	"cmp"
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// builder converts expressions to terms. All expressions must be registered first. Then flatten merges nested conjunctions
// and disjunctions into n-ary ones, except those used in several places: a named formula is often tested as a whole.
type builder struct {
	*graph
	m       *Model
	memo    map[sema.Expr]*term // expressions are shared, so each is built once
	uses    map[*term]int       // before flattening: uses by operations and as values
	counted map[*term]bool      // its operands are counted in uses
	guards  map[*term]bool      // it is a command's guard
	flat    map[*term]*term     // the flattened terms; nil before flatten
	// shared has the flattened terms with other uses than as a single guard.
	shared map[*term]bool
}

func (m *Model) newBuilder() *builder {
	ranges := make([]interval, len(m.prog.Vars))
	for i, v := range m.prog.Vars {
		ranges[i] = interval{int64(v.Low), int64(v.High)}
	}
	return &builder{
		graph: newGraph(ranges), m: m, memo: map[sema.Expr]*term{},
		uses: map[*term]int{}, counted: map[*term]bool{}, guards: map[*term]bool{},
	}
}

// register builds an expression that the machine needs, and counts its uses.
func (b *builder) register(e sema.Expr) {
	if e != nil {
		b.count(b.expr(e))
	}
}

// registerGuard registers a guard. A guard does not count as a use of its conjunction, so conjuncts can be split and tested
// separately.
func (b *builder) registerGuard(e sema.Expr) {
	t := b.expr(e)
	b.count(t)
	b.uses[t]--
	b.guards[t] = true
}

func (b *builder) count(t *term) {
	if b.uses[t]++; !b.counted[t] {
		b.counted[t] = true
		for _, a := range t.args {
			b.count(a)
		}
	}
}

// expr returns the term of an expression. Compiling the closures has already rejected unsupported expressions.
func (b *builder) expr(e sema.Expr) *term {
	t, ok := b.memo[e]
	if !ok {
		t = b.build(e)
		b.memo[e] = t
	}
	if b.flat != nil {
		return b.flattened(t)
	}
	return t
}

// flatten ends the registration of expressions; from now on expr returns flattened terms.
func (b *builder) flatten() { b.flat, b.shared = map[*term]*term{}, map[*term]bool{} }

func (b *builder) flattened(t *term) *term {
	if m, ok := b.flat[t]; ok || len(t.args) == 0 {
		return cmp.Or(m, t)
	}
	var args []*term
	for _, a := range t.args {
		m := b.flattened(a)
		if (t.op == opAnd || t.op == opOr) && m.op == t.op && !b.shared[m] {
			args = append(args, m.args...)
		} else {
			args = append(args, m)
		}
	}
	m := b.rebuild(t, args)
	b.flat[t] = m
	b.shared[m] = b.shared[m] || b.uses[t] > 1 || b.uses[t] == 1 && b.guards[t]
	return m
}

// num builds an expression as a Double.
func (b *builder) num(e sema.Expr) *term {
	t := b.expr(e)
	if t.sort == sortInt {
		return b.toNum(t)
	}
	return t
}

func (b *builder) build(e sema.Expr) *term {
	if b.m.doubles.Decide(e) {
		return b.decided(e)
	}
	return b.careful(e)
}

// careful builds a comparison, or floor, ceil or round, for the states in which
// doubles decide it; the others are left to the interpreter, as Model.doubt has it.
func (b *builder) careful(e sema.Expr) *term {
	unknown := b.unknown(e.Type())
	switch e := e.(type) {
	case *sema.Binary:
		slack := b.m.doubles.OperandError(e)
		if math.IsInf(slack, 1) {
			return unknown
		}
		if b.m.doubles.ErrorDecides(e) {
			unknown = b.boolean(sema.Holds(e.Op, 0))
		}
		d := b.graph.num(opNumSub, b.num(e.X), b.num(e.Y))
		far := b.numCompare(opNumLt, b.number(slack), b.graph.num(opNumMax, d, b.numNeg(d)))
		return b.ite(far, b.decided(e), unknown)
	case *sema.Call:
		slack := b.m.doubles.OperandError(e)
		if math.IsInf(slack, 1) {
			return unknown
		}
		x, op := b.num(e.Args[0]), map[sema.Func]opcode{sema.FuncFloor: opFloor, sema.FuncCeil: opCeil, sema.FuncRound: opRound}[e.Func]
		if b.m.doubles.ErrorDecides(e) {
			return b.toInt(op, b.graph.num(opNumAdd, x, b.number(shift(e, slack))))
		}
		low, high := b.toInt(op, b.graph.num(opNumSub, x, b.number(slack))), b.toInt(op, b.graph.num(opNumAdd, x, b.number(slack)))
		return b.ite(b.eq(low, high), b.decided(e), unknown)
	}
	return unknown
}

func (b *builder) decided(e sema.Expr) *term {
	switch e := e.(type) {
	case *sema.Const:
		switch e.T {
		case sema.Bool:
			return b.boolean(e.Val.Bool)
		case sema.Int:
			return b.integer(int64(e.Val.Int))
		}
		return b.number(e.Val.Float)
	case *sema.Var:
		if e.T == sema.Bool {
			return b.variable(e.Slot, sortBool)
		}
		return b.variable(e.Slot, sortInt)
	case *sema.Label:
		x, err := b.m.labelExpr(e)
		if err != nil {
			return b.no
		}
		return b.expr(x)
	case *sema.Unary:
		return b.unary(e)
	case *sema.Cond:
		if e.T == sema.Double {
			return b.ite(b.expr(e.C), b.num(e.A), b.num(e.B))
		}
		return b.ite(b.expr(e.C), b.expr(e.A), b.expr(e.B))
	case *sema.Binary:
		return b.binary(e)
	case *sema.Call:
		return b.call(e)
	}
	return b.no
}

// unknown returns a term that always fails, mod(1,0), so that the interpreter has to evaluate the expression.
func (b *builder) unknown(t sema.Type) *term {
	x := b.mod(b.integer(1), b.integer(0))
	if t == sema.Bool {
		return b.eq(x, b.integer(0))
	}
	return x
}

func (b *builder) unary(e *sema.Unary) *term {
	switch {
	case e.Op == syntax.OpNot:
		return b.not(b.expr(e.X))
	case e.T == sema.Int:
		return b.sub(b.integer(0), b.expr(e.X))
	default:
		return b.numNeg(b.num(e.X))
	}
}

func (b *builder) binary(e *sema.Binary) *term {
	switch {
	case e.X.Type() == sema.Bool:
		return b.logical(e.Op, b.expr(e.X), b.expr(e.Y))
	case e.T == sema.Bool && e.X.Type() == sema.Int && e.Y.Type() == sema.Int:
		return b.compareInts(e.Op, b.expr(e.X), b.expr(e.Y))
	case e.T == sema.Bool:
		return b.compareNums(e.Op, b.num(e.X), b.num(e.Y))
	case e.T == sema.Int:
		return b.arithmetic(e.Op, b.expr(e.X), b.expr(e.Y))
	}
	return b.numeric(e.Op, b.num(e.X), b.num(e.Y))
}

func (b *builder) logical(op syntax.Op, x, y *term) *term {
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

func (b *builder) compareNums(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpEq:
		return b.numCompare(opNumSame, x, y)
	case syntax.OpNe:
		return b.not(b.numCompare(opNumSame, x, y))
	case syntax.OpLt:
		return b.numCompare(opNumLt, x, y)
	case syntax.OpLe:
		return b.numCompare(opNumLe, x, y)
	case syntax.OpGt:
		return b.numCompare(opNumLt, y, x)
	default:
		return b.numCompare(opNumLe, y, x)
	}
}

func (b *builder) arithmetic(op syntax.Op, x, y *term) *term {
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

func (b *builder) numeric(op syntax.Op, x, y *term) *term {
	switch op {
	case syntax.OpAdd:
		return b.graph.num(opNumAdd, x, y)
	case syntax.OpSub:
		return b.graph.num(opNumSub, x, y)
	case syntax.OpMul:
		return b.graph.num(opNumMul, x, y)
	case syntax.OpDiv:
		return b.graph.num(opNumDiv, x, y)
	default:
		return b.graph.num(opNumPow, x, y)
	}
}

func (b *builder) call(e *sema.Call) *term {
	switch e.Func {
	case sema.FuncFloor:
		return b.toInt(opFloor, b.num(e.Args[0]))
	case sema.FuncCeil:
		return b.toInt(opCeil, b.num(e.Args[0]))
	case sema.FuncRound:
		return b.toInt(opRound, b.num(e.Args[0]))
	}
	if e.T == sema.Int {
		return b.callInts(e)
	}
	t := b.num(e.Args[0])
	for _, a := range e.Args[1:] {
		t = b.graph.num(numOp(e.Func), t, b.num(a))
	}
	return t
}

func numOp(f sema.Func) opcode {
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

func (b *builder) callInts(e *sema.Call) *term {
	t := b.expr(e.Args[0])
	for _, a := range e.Args[1:] {
		switch y := b.expr(a); e.Func {
		case sema.FuncMin:
			t = b.min(t, y)
		case sema.FuncMax:
			t = b.max(t, y)
		case sema.FuncMod:
			t = b.mod(t, y)
		default:
			t = b.pow(t, y)
		}
	}
	return t
}

// conjuncts splits a guard that cannot fail into its conjuncts, unless it is a formula with other uses.
func (b *builder) conjuncts(guard *term) []*term {
	switch {
	case guard.fails:
	case guard.op == opAnd && !b.shared[guard]:
		return guard.args
	case guard.op == opNot && guard.args[0].op == opOr && !b.shared[guard.args[0]]:
		var out []*term
		for _, a := range guard.args[0].args {
			out = append(out, b.not(a))
		}
		return out
	}
	return []*term{guard}
}
