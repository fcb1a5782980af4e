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
	slots []uint32 // the global of each variable
	// params are the locals that stand for variables in a function of its own.
	params map[int]uint32
	// host functions
	hostPow, hostLog, hostIntPow uint32

	local map[*term]uint32 // computed terms
	trail []*term          // their order, for closing scopes
	uses  map[*term]int
	stamp []int // by term id, for cost
	epoch int
}

// Costs in operations. A branch that is taken at random costs as much as
// several dozen of them.
const (
	chunkCost  = 4  // connectives are evaluated without jumps up to here
	selectCost = 12 // arms of ?: are both evaluated up to here
	jointCost  = 40 // a condition common to several values is branched on from here
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

func (c *codegen) keep(t *term) {
	l := c.f.Local(wasmType(t.sort))
	c.f.Tee(l)
	c.local[t] = l
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

// expr pushes the value of t.
func (c *codegen) expr(t *term) {
	if l, ok := c.local[t]; ok {
		c.f.Get(l)
		return
	}
	switch t.op {
	case opConst:
		c.constant(t)
		return
	case opVar:
		c.variable(t.slot)
		return
	}
	c.compute(t)
	if c.uses[t] > 1 {
		c.keep(t)
	}
}

func (c *codegen) variable(slot int) {
	if l, ok := c.params[slot]; ok {
		c.f.Get(l)
	} else {
		c.f.GetGlobal(c.slots[slot])
	}
}

func (c *codegen) constant(t *term) {
	if t.sort == sortNum {
		c.f.F64(t.f)
	} else {
		c.f.I32(int32(t.i))
	}
}

// compute pushes the value of an operation.
func (c *codegen) compute(t *term) {
	switch t.op {
	case opNot:
		c.negation(t.args[0])
	case opAnd, opOr:
		c.connective(t.op, t.args)
	case opIte:
		c.conditional(t)
	case opAdd, opSub, opMul:
		c.arithmetic(t)
	case opMod:
		c.modulo(t)
	case opMin, opMax:
		c.extreme(t)
	case opPow:
		c.power(t)
	case opFloor, opCeil, opRound:
		c.rounding(t)
	case opNumSame:
		c.same(t.args[0], t.args[1])
	case opOfBool:
		c.expr(t.args[0])
	default:
		c.plain(t)
	}
}

// plain handles the operations that are one instruction.
func (c *codegen) plain(t *term) {
	if y := t.args[len(t.args)-1]; t.op == opIntEq && y.isConst() && y.i == 0 {
		c.expr(t.args[0])
		c.f.Op(wasm.I32Eqz)
		return
	}
	for _, a := range t.args {
		c.expr(a)
	}
	switch t.op {
	case opNumPow:
		c.f.Call(c.hostPow)
	case opNumLog:
		c.f.Call(c.hostLog)
	default:
		c.f.Op(instruction(t.op))
	}
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

// negation pushes not x, as one comparison where there is one.
func (c *codegen) negation(x *term) {
	_, known := c.local[x]
	if known || c.uses[x] > 1 || x.op != opIntEq && x.op != opIntLt && x.op != opIff {
		c.expr(x)
		c.f.Op(wasm.I32Eqz)
		return
	}
	c.expr(x.args[0])
	c.expr(x.args[1])
	if x.op == opIntLt {
		c.f.Op(wasm.I32GeS)
	} else {
		c.f.Op(wasm.I32Ne)
	}
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

// together pushes the conjunction or disjunction of operands, all evaluated.
func (c *codegen) together(op opcode, args []*term) {
	for i, a := range args {
		c.expr(a)
		switch {
		case i == 0:
		case op == opAnd:
			c.f.Op(wasm.I32And)
		default:
			c.f.Op(wasm.I32Or)
		}
	}
}

func (c *codegen) connective(op opcode, args []*term) {
	now, later := c.chunk(args)
	c.together(op, now)
	if later == nil {
		return
	}
	c.f.If(wasm.I32)
	if op == opAnd {
		c.scoped(func() { c.connective(op, later) })
		c.f.Else()
		c.f.I32(0)
	} else {
		c.f.I32(1)
		c.f.Else()
		c.scoped(func() { c.connective(op, later) })
	}
	c.f.End()
}

// branch jumps to a label if t has the wanted value. What it computes on the
// way stays known behind it.
func (c *codegen) branch(t *term, want bool, to wasm.Label) {
	_, known := c.local[t]
	switch {
	case t.isConst():
		if (t.i != 0) == want {
			c.f.Br(to)
		}
	case known || c.uses[t] > 1 && t.op != opNot && t.cost <= chunkCost:
		c.jump(t, want, to)
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
			c.together(t.op, now)
			if !want {
				c.f.Op(wasm.I32Eqz)
			}
			c.f.BrIf(to)
		}
	case (t.op == opAnd || t.op == opOr) && t.cost > chunkCost:
		c.scoped(func() {
			out := c.f.Block(wasm.Void)
			c.branch(t, !want, out)
			c.f.Br(to)
			c.f.End()
		})
	default:
		c.jump(t, want, to)
	}
}

func (c *codegen) jump(t *term, want bool, to wasm.Label) {
	c.expr(t)
	if !want {
		c.f.Op(wasm.I32Eqz)
	}
	c.f.BrIf(to)
}

func (c *codegen) conditional(t *term) {
	cond, x, y := t.args[0], t.args[1], t.args[2]
	if !x.fails && !y.fails && c.costOf(selectCost+1, x) <= selectCost && c.costOf(selectCost+1, y) <= selectCost {
		c.expr(x)
		c.expr(y)
		c.expr(cond)
		c.f.Op(wasm.Select)
		return
	}
	c.expr(cond)
	c.f.If(wasmType(t.sort))
	c.scoped(func() { c.expr(x) })
	c.f.Else()
	c.scoped(func() { c.expr(y) })
	c.f.End()
}

// arithmetic is an addition, subtraction or multiplication of Ints: in 64 bits
// and checked, unless the facts exclude an overflow.
func (c *codegen) arithmetic(t *term) {
	op32, op64 := arithmeticOps(t.op)
	c.expr(t.args[0])
	if !c.facts.overflows(t) {
		if y := t.args[1]; t.op == opMul && y.isConst() && y.i == 2 {
			c.f.I32(1)
			c.f.Op(wasm.I32Shl)
			return
		}
		c.expr(t.args[1])
		c.f.Op(op32)
		return
	}
	c.f.Op(wasm.I64ExtendI32S)
	c.expr(t.args[1])
	c.f.Op(wasm.I64ExtendI32S, op64)
	wide := c.f.Local(wasm.I64)
	c.f.Tee(wide)
	c.f.Op(wasm.I32WrapI64, wasm.I64ExtendI32S)
	c.f.Get(wide)
	c.f.Op(wasm.I64Ne)
	c.f.BrIf(c.bail)
	c.f.Get(wide)
	c.f.Op(wasm.I32WrapI64)
}

func arithmeticOps(op opcode) (op32, op64 wasm.Opcode) {
	switch op {
	case opAdd:
		return wasm.I32Add, wasm.I64Add
	case opSub:
		return wasm.I32Sub, wasm.I64Sub
	default:
		return wasm.I32Mul, wasm.I64Mul
	}
}

// into pops into a new local.
func (c *codegen) into(t wasm.Type) uint32 {
	l := c.f.Local(t)
	c.f.Set(l)
	return l
}

func (c *codegen) modulo(t *term) {
	c.expr(t.args[0])
	x := c.into(wasm.I32)
	c.expr(t.args[1])
	y := c.into(wasm.I32)
	if c.facts.interval(t.args[1]).lo <= 0 {
		c.f.Get(y)
		c.f.I32(1)
		c.f.Op(wasm.I32LtS)
		c.f.BrIf(c.bail)
	}
	c.f.Get(x)
	c.f.Get(y)
	if c.facts.interval(t.args[0]).lo >= 0 {
		c.f.Op(wasm.I32RemU)
		return
	}
	c.f.Op(wasm.I32RemS)
	r := c.f.Local(wasm.I32)
	c.f.Tee(r)
	c.f.Get(y)
	c.f.I32(0)
	c.f.Get(r)
	c.f.I32(0)
	c.f.Op(wasm.I32LtS, wasm.Select, wasm.I32Add)
}

func (c *codegen) extreme(t *term) {
	c.expr(t.args[0])
	x := c.into(wasm.I32)
	c.expr(t.args[1])
	y := c.into(wasm.I32)
	c.f.Get(x)
	c.f.Get(y)
	c.f.Get(x)
	c.f.Get(y)
	if t.op == opMin {
		c.f.Op(wasm.I32LtS, wasm.Select)
	} else {
		c.f.Op(wasm.I32GtS, wasm.Select)
	}
}

// hostFailed is what the integer power returns where it fails.
const hostFailed = math.MinInt64

func (c *codegen) power(t *term) {
	c.expr(t.args[0])
	c.expr(t.args[1])
	c.f.Call(c.hostIntPow)
	wide := c.f.Local(wasm.I64)
	c.f.Tee(wide)
	c.f.I64(hostFailed)
	c.f.Op(wasm.I64Eq)
	c.f.BrIf(c.bail)
	c.f.Get(wide)
	c.f.Op(wasm.I32WrapI64)
}

// rounding is floor, ceil or round, checked to fit 32 bits.
func (c *codegen) rounding(t *term) {
	c.expr(t.args[0])
	x := c.into(wasm.F64)
	c.f.Get(x)
	switch t.op {
	case opFloor:
		c.f.Op(wasm.F64Floor)
	case opCeil:
		c.f.Op(wasm.F64Ceil)
	default:
		c.roundHalfUp(x, t.args[0].nan)
	}
	if t.fails {
		r := c.f.Local(wasm.F64)
		c.f.Set(r)
		c.f.Get(r)
		c.f.F64(math.MinInt32)
		c.f.Op(wasm.F64Ge)
		c.f.Get(r)
		c.f.F64(math.MaxInt32)
		c.f.Op(wasm.F64Le, wasm.I32And, wasm.I32Eqz)
		c.f.BrIf(c.bail)
		c.f.Get(r)
	}
	c.f.Op(wasm.I32TruncF64S)
}

// roundHalfUp replaces the top of the stack, which is x, by roundHalfUp(x).
func (c *codegen) roundHalfUp(x uint32, nan bool) {
	c.f.Op(wasm.F64Floor)
	fl := c.into(wasm.F64)
	c.f.Get(fl)
	c.f.F64(1)
	c.f.Op(wasm.F64Add)
	c.f.Get(fl)
	c.f.Get(x)
	c.f.Get(fl)
	c.f.Op(wasm.F64Sub)
	c.f.F64(0.5)
	c.f.Op(wasm.F64Ge, wasm.Select)
	if nan {
		c.f.F64(0)
		c.f.Get(x)
		c.f.Get(x)
		c.f.Op(wasm.F64Eq, wasm.Select)
	}
}

// same is sameNumber. Where one side is never NaN and never zero, it is IEEE equality.
func (c *codegen) same(x, y *term) {
	c.expr(x)
	if ordinary(x) || ordinary(y) {
		c.expr(y)
		c.f.Op(wasm.F64Eq)
		return
	}
	a := c.into(wasm.F64)
	c.expr(y)
	b := c.into(wasm.F64)
	c.f.Get(a)
	c.f.Op(wasm.I64ReinterpretF64)
	c.f.Get(b)
	c.f.Op(wasm.I64ReinterpretF64, wasm.I64Eq)
	c.f.Get(a)
	c.f.Get(a)
	c.f.Op(wasm.F64Ne)
	c.f.Get(b)
	c.f.Get(b)
	c.f.Op(wasm.F64Ne, wasm.I32And, wasm.I32Or)
}

func ordinary(t *term) bool { return !t.nan && (t.flo > 0 || t.fhi < 0) }
