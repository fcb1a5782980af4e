package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
)

// codegen emits the code of terms into a function. A term that was computed
// stays in a local for as long as the place where it was computed dominates the
// code being emitted.
type codegen struct {
	g *graph
	f *wasm.Func
	// bail is where a failure goes; the path is then left to the interpreter.
	bail  wasm.Label
	facts *facts
	slots []wasm.Var[int32] // the global of each variable
	// params stand for variables in a function of its own.
	params map[int]wasm.Var[int32]
	// host functions
	hostPow, hostLog, hostIntPow uint32

	local map[*term]pushed // computed terms
	trail []*term          // their order, for closing scopes
	uses  map[*term]int
	stamp []int // by term id, for cost
	epoch int
}

// pushed is an expression of either type.
type pushed interface{ Emit(f *wasm.Func) }

// Costs in operations. A branch that is taken at random costs as much as
// several dozen of them.
const (
	chunkCost  = 4       // connectives are evaluated without jumps up to here
	selectCost = 12      // arms of ?: are both evaluated up to here
	jointCost  = 40      // a condition common to several values is branched on from here
	hoistCost  = 1 << 16 // what repeats is computed first from here, so that no code is long
)

func wasmType(s sort) wasm.Type {
	if s == sortNum {
		return wasm.F64
	}
	return wasm.I32
}

// note counts the uses of a term and of those below it that are new.
func (c *codegen) note(t *term) {
	c.uses[t]++
	if c.uses[t] == 1 {
		for _, a := range t.args {
			c.note(a)
		}
	}
}

// scoped emits code that may not run; what it computes is forgotten after it.
func (c *codegen) scoped(emit func()) {
	mark := len(c.trail)
	emit()
	for _, t := range c.trail[mark:] {
		delete(c.local, t)
	}
	c.trail = c.trail[:mark]
}

// keep pushes the value of t and keeps it in a local.
func (c *codegen) keep(t *term, value func(*wasm.Func)) {
	if t.sort == sortNum {
		c.local[t] = wasm.Keep[float64](c.f, wasm.Expr[float64](value))
	} else {
		c.local[t] = wasm.Keep[int32](c.f, wasm.Expr[int32](value))
	}
	c.trail = append(c.trail, t)
}

// costOf is what evaluating t here would cost, up to a limit.
func (c *codegen) costOf(limit int, ts ...*term) int {
	c.epoch++
	total := 0
	for _, t := range ts {
		total += c.measure(t, limit-total)
	}
	return total
}

func (c *codegen) measure(t *term, limit int) int {
	for len(c.stamp) <= t.id {
		c.stamp = append(c.stamp, 0)
	}
	if t.op == opConst || t.op == opVar || c.stamp[t.id] == c.epoch || limit <= 0 {
		return 0
	}
	if _, ok := c.local[t]; ok {
		return 0
	}
	c.stamp[t.id] = c.epoch
	total := 1
	if t.op == opNot || t.op == opOfBool {
		total = 0
	}
	for _, a := range t.args {
		total += c.measure(a, limit-total)
	}
	return total
}

// integer is the value of an Int or a Bool.
func (c *codegen) integer(t *term) wasm.Expr[int32] {
	return func(*wasm.Func) { c.expr(t) }
}

// double is the value of a Double.
func (c *codegen) double(t *term) wasm.Expr[float64] {
	return func(*wasm.Func) { c.expr(t) }
}

// expr pushes the value of t.
func (c *codegen) expr(t *term) {
	known, ok := c.local[t]
	switch {
	case ok:
		known.Emit(c.f)
	case t.op == opConst && t.sort == sortNum:
		number(t.f).Emit(c.f)
	case t.op == opConst:
		whole(t.i).Emit(c.f)
	case t.op == opVar:
		c.variable(t.slot).Emit(c.f)
	case c.uses[t] > 1:
		c.hoist(t)
		c.keep(t, func(*wasm.Func) { c.compute(t).Emit(c.f) })
	default:
		c.hoist(t)
		c.compute(t).Emit(c.f)
	}
}

// hoist computes what a term whose code would be long has in several places,
// whether or not the value is needed: what fails is left to the interpreter.
func (c *codegen) hoist(t *term) {
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
				c.keep(x, func(*wasm.Func) { c.compute(x).Emit(c.f) })
			}))
		}
	}
}

func (c *codegen) variable(slot int) wasm.Var[int32] {
	if l, ok := c.params[slot]; ok {
		return l
	}
	return c.slots[slot]
}

// The constants of the three types.
func whole[T int | int32 | int64](x T) wasm.Expr[int32] { return wasm.Const(int32(x)) }

func wide(x int64) wasm.Expr[int64] { return wasm.Const(x) }

func number(x float64) wasm.Expr[float64] { return wasm.Const(x) }

// compute is the value of an operation.
func (c *codegen) compute(t *term) pushed {
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
	return c.plain(t)
}

// plain is an operation that is one instruction.
func (c *codegen) plain(t *term) pushed {
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

// negation is not x, as one comparison where there is one.
func (c *codegen) negation(x *term) wasm.Expr[int32] {
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

// chunk splits off the first operands of a connective that are evaluated
// together, without a jump between them: never one that may fail after another.
func (c *codegen) chunk(args []*term) (now, later []*term) {
	cost := c.costOf(chunkCost+1, args[0])
	for i, a := range args[1:] {
		cost += c.costOf(chunkCost+1, a)
		if a.fails || cost > chunkCost {
			return args[:i+1], args[i+1:]
		}
	}
	return args, nil
}

// together is the conjunction or disjunction of operands, all evaluated.
func (c *codegen) together(op opcode, args []*term) wasm.Expr[int32] {
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

func (c *codegen) connective(op opcode, args []*term) wasm.Expr[int32] {
	now, later := c.chunk(args)
	if later == nil {
		return c.together(op, now)
	}
	rest := func() { c.scoped(func() { c.connective(op, later).Emit(c.f) }) }
	return func(f *wasm.Func) {
		if op == opAnd {
			f.IfElse(wasm.I32, c.together(op, now), rest, func() { whole(0).Emit(f) })
		} else {
			f.IfElse(wasm.I32, c.together(op, now), func() { whole(1).Emit(f) }, rest)
		}
	}
}

// branch jumps to a label if t has the wanted value. What it computes on the
// way stays known behind it.
func (c *codegen) branch(t *term, want bool, to wasm.Label) {
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
			now, args = c.chunk(args)
			if len(now) == 1 {
				c.branch(now[0], want, to)
				continue
			}
			c.jump(c.together(t.op, now), want, to)
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

func (c *codegen) jump(cond wasm.Expr[int32], want bool, to wasm.Label) {
	if !want {
		cond = cond.IsZero()
	}
	c.f.BrIf(to, cond)
}

func (c *codegen) conditional(t *term) pushed {
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

// arithmetic is an addition, subtraction or multiplication of Ints: in 64 bits
// and checked, unless the facts exclude an overflow.
func (c *codegen) arithmetic(t *term) wasm.Expr[int32] {
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

func (c *codegen) modulo(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		x := wasm.Into(f, c.integer(t.args[0]))
		y := wasm.Into(f, c.integer(t.args[1]))
		if c.facts.interval(t.args[1]).lo <= 0 {
			f.BrIf(c.bail, y.Lt(whole(1)))
		}
		if c.facts.interval(t.args[0]).lo >= 0 {
			x.RemU(y).Emit(f)
			return
		}
		r := wasm.Local[int32](f)
		r.Tee(x.Rem(y)).Add(wasm.Select(r.Lt(whole(0)), y, whole(0))).Emit(f)
	}
}

func (c *codegen) extreme(t *term) wasm.Expr[int32] {
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

// hostFailed is what the integer power returns where it fails.
const hostFailed = math.MinInt64

func (c *codegen) power(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		call := wasm.Call[int64, int32](c.hostIntPow, c.integer(t.args[0]), c.integer(t.args[1]))
		all := wasm.Local[int64](f)
		f.BrIf(c.bail, all.Tee(call).Eq(wide(hostFailed)))
		wasm.Wrap(all).Emit(f)
	}
}

// rounding is floor, ceil or round, checked to fit 32 bits.
func (c *codegen) rounding(t *term) wasm.Expr[int32] {
	return func(f *wasm.Func) {
		x := wasm.Into(f, c.double(t.args[0]))
		r := rounded(f, t.op, x, t.args[0].nan)
		if t.fails {
			y := wasm.Into(f, r)
			f.BrIf(c.bail, y.Ge(number(math.MinInt32)).And(y.Le(number(math.MaxInt32))).IsZero())
			r = y.Expr
		}
		wasm.Convert[int32](wasm.I32TruncF64S, r).Emit(f)
	}
}

// rounded is roundBy.
func rounded(f *wasm.Func, op opcode, x wasm.Var[float64], nan bool) wasm.Expr[float64] {
	switch op {
	case opFloor:
		return wasm.Convert[float64](wasm.F64Floor, x)
	case opCeil:
		return wasm.Convert[float64](wasm.F64Ceil, x)
	}
	low := wasm.Into(f, wasm.Convert[float64](wasm.F64Floor, x))
	r := wasm.Select(x.Sub(low).Ge(number(0.5)), low.Add(number(1)), low)
	if nan {
		r = wasm.Select(x.Eq(x), r, number(0))
	}
	return r
}

// same is sema.SameDouble. Where one side is never NaN and never zero, it is IEEE equality.
func (c *codegen) same(x, y *term) wasm.Expr[int32] {
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
