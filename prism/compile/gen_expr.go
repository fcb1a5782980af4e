package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
)

// codeGenerator emits the code of terms into a function. A computed term stays in a local as long as the place where it was
// computed dominates the code being emitted.
type codeGenerator struct {
	g *graph
	f *wasm.Func
	// bail is the label for failures: the interpreter then takes over.
	bail  wasm.Label
	facts *facts
	slots []wasm.Var[int32] // the global of each variable
	// params replace the variables' globals in a separate function.
	params map[int]wasm.Var[int32]
	// host functions
	hostPow, hostLog, hostIntPow uint32

	local      map[*term]emitter // computed terms
	scopeOrder []*term           // computed terms in order, for closing scopes
	uses       map[*term]int
	measuredAt []int // the epoch in which costOf counted each term
	epoch      int
}

// emitter is an expression of either WebAssembly type.
type emitter interface{ Emit(f *wasm.Func) }

// Costs in operations. A mispredicted branch costs as much as
// several dozen operations.
const (
	chunkCost  = 4       // up to this cost, connectives are evaluated without jumps
	selectCost = 12      // up to this cost, both arms of ?: are evaluated
	jointCost  = 40      // above this cost, a condition common to several values gets a branch
	hoistCost  = 1 << 16 // above this cost, repeated sub-terms are computed first, to bound the code size
)

func wasmType(s sort) wasm.Type {
	if s == sortNum {
		return wasm.F64
	}
	return wasm.I32
}

// countUses counts a use of a term and, the first time, of its operands.
func (c *codeGenerator) countUses(t *term) {
	c.uses[t]++
	if c.uses[t] == 1 {
		for _, a := range t.args {
			c.countUses(a)
		}
	}
}

// scoped emits code that may not run. Terms computed in it are not available after it.
func (c *codeGenerator) scoped(emit func()) {
	mark := len(c.scopeOrder)
	emit()
	for _, t := range c.scopeOrder[mark:] {
		delete(c.local, t)
	}
	c.scopeOrder = c.scopeOrder[:mark]
}

// keepInLocal pushes the value of t and keeps it in a local.
func (c *codeGenerator) keepInLocal(t *term, value func(*wasm.Func)) {
	if t.sort == sortNum {
		c.local[t] = wasm.Keep[float64](c.f, wasm.Expr[float64](value))
	} else {
		c.local[t] = wasm.Keep[int32](c.f, wasm.Expr[int32](value))
	}
	c.scopeOrder = append(c.scopeOrder, t)
}

// costOf returns the cost of evaluating terms at this place, up to a limit.
func (c *codeGenerator) costOf(limit int, ts ...*term) int {
	c.epoch++
	total := 0
	for _, t := range ts {
		total += c.measure(t, limit-total)
	}
	return total
}

func (c *codeGenerator) measure(t *term, limit int) int {
	for len(c.measuredAt) <= t.id {
		c.measuredAt = append(c.measuredAt, 0)
	}
	if t.op == opConst || t.op == opVar || c.measuredAt[t.id] == c.epoch || limit <= 0 {
		return 0
	}
	if _, ok := c.local[t]; ok {
		return 0
	}
	c.measuredAt[t.id] = c.epoch
	total := 1
	if t.op == opNot || t.op == opOfBool {
		total = 0
	}
	for _, a := range t.args {
		total += c.measure(a, limit-total)
	}
	return total
}

// integer emits the value of an Int or a Bool.
func (c *codeGenerator) integer(t *term) wasm.Expr[int32] {
	return func(*wasm.Func) { c.expr(t) }
}

// double emits the value of a Double.
func (c *codeGenerator) double(t *term) wasm.Expr[float64] {
	return func(*wasm.Func) { c.expr(t) }
}

// expr emits code that pushes the value of t.
func (c *codeGenerator) expr(t *term) {
	known, ok := c.local[t]
	switch {
	case ok:
		known.Emit(c.f)
	case t.op == opConst && t.sort == sortNum:
		constF64(t.f).Emit(c.f)
	case t.op == opConst:
		constI32(t.i).Emit(c.f)
	case t.op == opVar:
		c.variable(t.slot).Emit(c.f)
	case c.uses[t] > 1:
		c.hoist(t)
		c.keepInLocal(t, func(*wasm.Func) { c.compute(t).Emit(c.f) })
	default:
		c.hoist(t)
		c.compute(t).Emit(c.f)
	}
}

// hoist computes the repeated sub-terms of a term with a high cost, even if they turn out not to be needed. If one
// fails, the interpreter takes over.
func (c *codeGenerator) hoist(t *term) {
	if t.cost < hoistCost {
		return
	}
	uses := map[*term]int{}
	var order []*term
	var walk func(t *term)
	walk = func(t *term) {
		if _, ok := c.local[t]; ok || t.op == opConst || t.op == opVar {
			return
		}
		if uses[t]++; uses[t] > 1 {
			return
		}
		for _, a := range t.args {
			walk(a)
		}
		order = append(order, t)
	}
	walk(t)
	for _, x := range order {
		if uses[x] > 1 {
			c.f.Drop(wasm.Expr[int32](func(*wasm.Func) { // or a Double
				c.keepInLocal(x, func(*wasm.Func) { c.compute(x).Emit(c.f) })
			}))
		}
	}
}

func (c *codeGenerator) variable(slot int) wasm.Var[int32] {
	if l, ok := c.params[slot]; ok {
		return l
	}
	return c.slots[slot]
}

// Constants of the three types.
func constI32[T int | int32 | int64](x T) wasm.Expr[int32] { return wasm.Const(int32(x)) }

func constI64(x int64) wasm.Expr[int64] { return wasm.Const(x) }

func constF64(x float64) wasm.Expr[float64] { return wasm.Const(x) }

// compute emits an operation.
func (c *codeGenerator) compute(t *term) emitter {
	switch t.op {
	case opNot:
		return c.negation(t.args[0])
	case opAnd, opOr:
		return c.connective(t.op, t.args)
	case opIte:
		return c.conditional(t)
	case opAdd, opSub, opMul:
		return c.arithmetic(t)
	case opMod:
		return c.modulo(t)
	case opMin, opMax:
		return c.extreme(t)
	case opPow:
		return c.power(t)
	case opFloor, opCeil, opRound:
		return c.rounding(t)
	case opNumSame:
		return c.same(t.args[0], t.args[1])
	case opOfBool:
		return c.integer(t.args[0])
	}
	return c.instructionValue(t)
}

// instructionValue emits an operation that is a single instruction or host call.
func (c *codeGenerator) instructionValue(t *term) emitter {
	last := t.args[len(t.args)-1]
	switch {
	case t.op == opIntEq && last.isConst() && last.i == 0:
		return c.integer(t.args[0]).IsZero()
	case t.op == opNumPow:
		return wasm.Call[float64, float64](c.hostPow, c.double(t.args[0]), c.double(last))
	case t.op == opNumLog:
		return wasm.Call[float64, float64](c.hostLog, c.double(t.args[0]), c.double(last))
	}
	return wasm.Expr[int32](func(f *wasm.Func) {
		for _, a := range t.args {
			c.expr(a)
		}
		f.Op(instruction(t.op))
	})
}

func instruction(op opcode) wasm.Opcode {
	switch op {
	case opIff, opIntEq:
		return wasm.I32Eq
	case opIntLt:
		return wasm.I32LtS
	case opNumLt:
		return wasm.F64Lt
	case opNumLe:
		return wasm.F64Le
	case opToNum:
		return wasm.F64ConvertI32S
	case opNumAdd:
		return wasm.F64Add
	case opNumSub:
		return wasm.F64Sub
	case opNumMul:
		return wasm.F64Mul
	case opNumDiv:
		return wasm.F64Div
	case opNumNeg:
		return wasm.F64Neg
	case opNumMin:
		return wasm.F64Min
	default: // opNumMax
		return wasm.F64Max
	}
}

// negation emits not x, as a single comparison if possible.
func (c *codeGenerator) negation(x *term) wasm.Expr[int32] {
	_, known := c.local[x]
	if known || c.uses[x] > 1 || x.op != opIntEq && x.op != opIntLt && x.op != opIff {
		return c.integer(x).IsZero()
	}
	a, b := c.integer(x.args[0]), c.integer(x.args[1])
	if x.op == opIntLt {
		return a.Ge(b)
	}
	return a.Ne(b)
}

// cheapPrefix splits off the first operands of a connective that are evaluated together, without a jump. An operand that may fail
// is evaluated together only if it is the first.
func (c *codeGenerator) cheapPrefix(args []*term) (now, later []*term) {
	cost := c.costOf(chunkCost+1, args[0])
	for i, a := range args[1:] {
		cost += c.costOf(chunkCost+1, a)
		if a.fails || cost > chunkCost {
			return args[:i+1], args[i+1:]
		}
	}
	return args, nil
}

// evaluateAll emits a conjunction or disjunction without short-circuiting.
func (c *codeGenerator) evaluateAll(op opcode, args []*term) wasm.Expr[int32] {
	x := c.integer(args[0])
	for _, a := range args[1:] {
		if op == opAnd {
			x = x.And(c.integer(a))
		} else {
			x = x.Or(c.integer(a))
		}
	}
	return x
}

func (c *codeGenerator) connective(op opcode, args []*term) wasm.Expr[int32] {
	now, later := c.cheapPrefix(args)
	if later == nil {
		return c.evaluateAll(op, now)
	}
	rest := func() { c.scoped(func() { c.connective(op, later).Emit(c.f) }) }
	return func(f *wasm.Func) {
		if op == opAnd {
			f.IfElse(wasm.I32, c.evaluateAll(op, now), rest, func() { constI32(0).Emit(f) })
		} else {
			f.IfElse(wasm.I32, c.evaluateAll(op, now), func() { constI32(1).Emit(f) }, rest)
		}
	}
}

// branch jumps to a label if t has the wanted value. Terms computed before the jump stay available after it.
func (c *codeGenerator) branch(t *term, want bool, to wasm.Label) {
	c.hoist(t)
	_, known := c.local[t]
	switch {
	case t.isConst():
		if (t.i != 0) == want {
			c.f.Br(to)
		}
	case known || c.uses[t] > 1 && t.op != opNot && t.cost <= chunkCost:
		c.jump(c.integer(t), want, to)
	case t.op == opNot:
		c.branch(t.args[0], !want, to)
	case t.op == opAnd && !want, t.op == opOr && want:
		for args := t.args; args != nil; {
			var now []*term
			now, args = c.cheapPrefix(args)
			if len(now) == 1 {
				c.branch(now[0], want, to)
				continue
			}
			c.jump(c.evaluateAll(t.op, now), want, to)
		}
	case (t.op == opAnd || t.op == opOr) && t.cost > chunkCost:
		c.scoped(func() {
			c.f.Block(func(out wasm.Label) {
				c.branch(t, !want, out)
				c.f.Br(to)
			})
		})
	default:
		c.jump(c.integer(t), want, to)
	}
}

func (c *codeGenerator) jump(cond wasm.Expr[int32], want bool, to wasm.Label) {
	if !want {
		cond = cond.IsZero()
	}
	c.f.BrIf(to, cond)
}

func (c *codeGenerator) conditional(t *term) emitter {
	cond, x, y := t.args[0], t.args[1], t.args[2]
	if !x.fails && !y.fails && c.costOf(selectCost+1, x) <= selectCost && c.costOf(selectCost+1, y) <= selectCost {
		if t.sort == sortNum {
			return wasm.Select[float64](c.integer(cond), c.double(x), c.double(y))
		}
		return wasm.Select[int32](c.integer(cond), c.integer(x), c.integer(y))
	}
	arm := func(t *term) func() { return func() { c.scoped(func() { c.expr(t) }) } }
	return wasm.Expr[int32](func(f *wasm.Func) { f.IfElse(wasmType(t.sort), c.integer(cond), arm(x), arm(y)) })
}

// arithmetic emits an addition, subtraction or multiplication of Ints: in 64 bits with a check, unless the facts exclude an overflow.
func (c *codeGenerator) arithmetic(t *term) wasm.Expr[int32] {
	x, y := c.integer(t.args[0]), c.integer(t.args[1])
	if !c.facts.overflows(t) {
		if y := t.args[1]; t.op == opMul && y.isConst() && y.i == 2 {
			return x.Shl(1)
		}
		return calculate(t.op, x, y)
	}
	return func(f *wasm.Func) {
		sum := calculate(t.op, wasm.Extend(x), wasm.Extend(y))
		all := wasm.Local[int64](f)
		f.BrIf(c.bail, wasm.Extend(wasm.Wrap(all.Tee(sum))).Ne(all))
		wasm.Wrap(all).Emit(f)
	}
}

func calculate[T int32 | int64](op opcode, x, y wasm.Expr[T]) wasm.Expr[T] {
	switch op {
	case opAdd:
		return x.Add(y)
	case opSub:
		return x.Sub(y)
	}
	return x.Mul(y)
}

func (c *codeGenerator) modulo(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		x := wasm.Into(f, c.integer(t.args[0]))
		y := wasm.Into(f, c.integer(t.args[1]))
		if c.facts.interval(t.args[1]).lo <= 0 {
			f.BrIf(c.bail, y.Lt(constI32(1)))
		}
		if c.facts.interval(t.args[0]).lo >= 0 {
			x.RemU(y).Emit(f)
			return
		}
		r := wasm.Local[int32](f)
		r.Tee(x.Rem(y)).Add(wasm.Select(r.Lt(constI32(0)), y, constI32(0))).Emit(f)
	}
}

func (c *codeGenerator) extreme(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		x := wasm.Into(f, c.integer(t.args[0]))
		y := wasm.Into(f, c.integer(t.args[1]))
		first := x.Lt(y)
		if t.op == opMax {
			first = x.Gt(y)
		}
		wasm.Select[int32](first, x, y).Emit(f)
	}
}

// hostFailed is the result of the integer power if it fails.
const hostFailed = math.MinInt64

func (c *codeGenerator) power(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		call := wasm.Call[int64, int32](c.hostIntPow, c.integer(t.args[0]), c.integer(t.args[1]))
		all := wasm.Local[int64](f)
		f.BrIf(c.bail, all.Tee(call).Eq(constI64(hostFailed)))
		wasm.Wrap(all).Emit(f)
	}
}

// rounding emits floor, ceil or round, and checks that the result fits 32 bits.
func (c *codeGenerator) rounding(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		x := wasm.Into(f, c.double(t.args[0]))
		r := rounded(f, t.op, x, t.args[0].nan)
		if t.fails {
			y := wasm.Into(f, r)
			f.BrIf(c.bail, y.Ge(constF64(math.MinInt32)).And(y.Le(constF64(math.MaxInt32))).IsZero())
			r = y.Expr
		}
		wasm.Convert[int32](wasm.I32TruncF64S, r).Emit(f)
	}
}

// rounded emits roundBy.
func rounded(f *wasm.Func, op opcode, x wasm.Var[float64], nan bool) wasm.Expr[float64] {
	switch op {
	case opFloor:
		return wasm.Convert[float64](wasm.F64Floor, x)
	case opCeil:
		return wasm.Convert[float64](wasm.F64Ceil, x)
	}
	low := wasm.Into(f, wasm.Convert[float64](wasm.F64Floor, x))
	r := wasm.Select(x.Sub(low).Ge(constF64(0.5)), low.Add(constF64(1)), low)
	if nan {
		r = wasm.Select(x.Eq(x), r, constF64(0))
	}
	return r
}

// same is sema.SameFloat. Where one side is never NaN and never zero, it is IEEE equality.
func (c *codeGenerator) same(x, y *term) wasm.Expr[int32] {
	if ordinary(x) || ordinary(y) {
		return c.double(x).Eq(c.double(y))
	}
	return func(f *wasm.Func) {
		a := wasm.Into(f, c.double(x))
		b := wasm.Into(f, c.double(y))
		wasm.Bits(a).Eq(wasm.Bits(b)).Or(a.Ne(a).And(b.Ne(b))).Emit(f)
	}
}

func ordinary(t *term) bool { return !t.nan && (t.flo > 0 || t.fhi < 0) }
