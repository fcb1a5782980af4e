package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
)

// codeGenerator emits the code of terms into a function. The value of a term that was computed stays available in a local, as long as
// every path to the current code passes the computation.
type codeGenerator struct {
	graph *graph
	fn    *wasm.Func
	// giveUp is the label to jump to after a failure. The interpreter then takes over.
	giveUp wasm.Label
	facts  *facts
	slots  []wasm.Var[int32] // the global of each variable
	// params replace the variables' globals in a separate function.
	params map[int]wasm.Var[int32]
	// host functions
	hostPow, hostLog, hostIntPow uint32

	computed      map[*term]typedCode // computed terms
	computedOrder []*term             // computed terms in order, for closing scopes
	uses          map[*term]int
	measuredAt    []int // the epoch in which costOf counted each term
	epoch         int
}

// typedCode is an expression of either WebAssembly type.
type typedCode interface{ Emit(f *wasm.Func) }

// Costs in operations. A mispredicted branch costs as much as
// several dozen operations.
const (
	chunkCost  = 4       // up to this cost, connectives are evaluated without jumps
	selectCost = 12      // up to this cost, both arms of ?: are evaluated
	jointCost  = 40      // above this cost, a condition common to several values gets a branch
	hoistCost  = 1 << 16 // above this cost, repeated sub-terms are computed first, to bound the code size
)

// wasmType returns the WebAssembly type of values of a sort.
func wasmType(s sortKind) wasm.Type {
	if s == sortFloat {
		return wasm.F64
	}
	return wasm.I32
}

// countUses counts a use of a term. At the first use it also counts the uses of its operands.
func (c *codeGenerator) countUses(term *term) {
	c.uses[term]++
	if c.uses[term] == 1 {
		for _, operand := range term.operands {
			c.countUses(operand)
		}
	}
}

// scoped emits code that may be skipped. Terms that are computed in it are not available after it.
func (c *codeGenerator) scoped(emit func()) {
	mark := len(c.computedOrder)
	emit()
	for _, term := range c.computedOrder[mark:] {
		delete(c.computed, term)
	}
	c.computedOrder = c.computedOrder[:mark]
}

// keepInLocal emits code that pushes the value of t and also keeps it in a new local.
func (c *codeGenerator) keepInLocal(term *term, value func(*wasm.Func)) {
	if term.sort == sortFloat {
		c.computed[term] = wasm.Keep[float64](c.fn, wasm.Expr[float64](value))
	} else {
		c.computed[term] = wasm.Keep[int32](c.fn, wasm.Expr[int32](value))
	}
	c.computedOrder = append(c.computedOrder, term)
}

// costOf returns the number of operations needed to evaluate terms here, up to a limit. Each term counts once.
func (c *codeGenerator) costOf(limit int, terms ...*term) int {
	c.epoch++
	total := 0
	for _, term := range terms {
		total += c.measure(term, limit-total)
	}
	return total
}

// measure returns the number of operations of a term that costOf has not counted yet, up to a limit.
func (c *codeGenerator) measure(term *term, limit int) int {
	for len(c.measuredAt) <= term.id {
		c.measuredAt = append(c.measuredAt, 0)
	}
	if term.op == opConst || term.op == opVar || c.measuredAt[term.id] == c.epoch || limit <= 0 {
		return 0
	}
	if _, ok := c.computed[term]; ok {
		return 0
	}
	c.measuredAt[term.id] = c.epoch
	total := 1
	if term.op == opNot || term.op == opBoolToInt {
		total = 0
	}
	for _, operand := range term.operands {
		total += c.measure(operand, limit-total)
	}
	return total
}

// intCode returns the code of an Int or a Bool.
func (c *codeGenerator) intCode(term *term) wasm.Expr[int32] {
	return func(*wasm.Func) { c.emitTerm(term) }
}

// floatCode returns the code of a Double.
func (c *codeGenerator) floatCode(term *term) wasm.Expr[float64] {
	return func(*wasm.Func) { c.emitTerm(term) }
}

// emitTerm emits code that pushes the value of a term: from its local if it was computed before, otherwise by computing it.
func (c *codeGenerator) emitTerm(term *term) {
	known, ok := c.computed[term]
	switch {
	case ok:
		known.Emit(c.fn)
	case term.op == opConst && term.sort == sortFloat:
		constF64(term.floatValue).Emit(c.fn)
	case term.op == opConst:
		constI32(term.intValue).Emit(c.fn)
	case term.op == opVar:
		c.variable(term.slot).Emit(c.fn)
	case c.uses[term] > 1:
		c.computeRepeated(term)
		c.keepInLocal(term, func(*wasm.Func) { c.operationCode(term).Emit(c.fn) })
	default:
		c.computeRepeated(term)
		c.operationCode(term).Emit(c.fn)
	}
}

// computeRepeated computes the repeated sub-terms of an expensive term in advance, to bound the size of the code. Some of them may
// turn out not to be needed. If one fails, the interpreter takes over.
func (c *codeGenerator) computeRepeated(t *term) {
	if t.cost < hoistCost {
		return
	}
	uses := map[*term]int{}
	var order []*term
	var visit func(t *term)
	visit = func(t *term) {
		if _, ok := c.computed[t]; ok || t.op == opConst || t.op == opVar {
			return
		}
		uses[t]++
		if uses[t] > 1 {
			return
		}
		for _, operand := range t.operands {
			visit(operand)
		}
		order = append(order, t)
	}
	visit(t)
	for _, x := range order {
		if uses[x] > 1 {
			c.fn.Drop(wasm.Expr[int32](func(*wasm.Func) { // or a Double
				c.keepInLocal(x, func(*wasm.Func) { c.operationCode(x).Emit(c.fn) })
			}))
		}
	}
}

// variable returns the WebAssembly variable that holds the value of a model's variable.
func (c *codeGenerator) variable(slot int) wasm.Var[int32] {
	if l, ok := c.params[slot]; ok {
		return l
	}
	return c.slots[slot]
}

// constI32 returns the code of an i32 constant.
func constI32[T int | int32 | int64](x T) wasm.Expr[int32] { return wasm.Const(int32(x)) }

// constI64 returns the code of an i64 constant.
func constI64(x int64) wasm.Expr[int64] { return wasm.Const(x) }

// constF64 returns the code of an f64 constant.
func constF64(x float64) wasm.Expr[float64] { return wasm.Const(x) }

// operationCode returns the code of a term's operation.
func (c *codeGenerator) operationCode(term *term) typedCode {
	switch term.op {
	case opNot:
		return c.negation(term.operands[0])
	case opAnd, opOr:
		return c.connective(term.op, term.operands)
	case opIte:
		return c.conditional(term)
	case opAdd, opSub, opMul:
		return c.arithmetic(term)
	case opMod:
		return c.modulo(term)
	case opMin, opMax:
		return c.minOrMax(term)
	case opPow:
		return c.power(term)
	case opFloor, opCeil, opRound:
		return c.rounding(term)
	case opNumSame:
		return c.sameFloat(term.operands[0], term.operands[1])
	case opBoolToInt:
		return c.intCode(term.operands[0])
	}
	return c.instructionValue(term)
}

// instructionValue returns the code of an operation that is a single instruction or a call of a host function.
func (c *codeGenerator) instructionValue(term *term) typedCode {
	last := term.operands[len(term.operands)-1]
	switch {
	case term.op == opIntEq && last.isConst() && last.intValue == 0:
		return c.intCode(term.operands[0]).IsZero()
	case term.op == opNumPow:
		return wasm.Call[float64, float64](c.hostPow, c.floatCode(term.operands[0]), c.floatCode(last))
	case term.op == opNumLog:
		return wasm.Call[float64, float64](c.hostLog, c.floatCode(term.operands[0]), c.floatCode(last))
	}
	return wasm.Expr[int32](func(fn *wasm.Func) {
		for _, operand := range term.operands {
			c.emitTerm(operand)
		}
		fn.Op(instruction(term.op))
	})
}

// instruction returns the WebAssembly instruction of an operation.
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
	case opIntToFloat:
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

// negation returns the code of !x, which is a single comparison if possible.
func (c *codeGenerator) negation(x *term) wasm.Expr[int32] {
	_, known := c.computed[x]
	if known || c.uses[x] > 1 || x.op != opIntEq && x.op != opIntLt && x.op != opIff {
		return c.intCode(x).IsZero()
	}
	a, b := c.intCode(x.operands[0]), c.intCode(x.operands[1])
	if x.op == opIntLt {
		return a.Ge(b)
	}
	return a.Ne(b)
}

// cheapPrefix splits the operands of a connective. The first part is cheap enough to evaluate without jumps. An operand that may fail
// belongs to the first part only if it is the first operand.
func (c *codeGenerator) cheapPrefix(args []*term) (together, later []*term) {
	cost := c.costOf(chunkCost+1, args[0])
	for i, operand := range args[1:] {
		cost += c.costOf(chunkCost+1, operand)
		if operand.mayFail || cost > chunkCost {
			return args[:i+1], args[i+1:]
		}
	}
	return args, nil
}

// evaluateAll returns the code of a conjunction or disjunction that evaluates all operands.
func (c *codeGenerator) evaluateAll(op opcode, args []*term) wasm.Expr[int32] {
	x := c.intCode(args[0])
	for _, operand := range args[1:] {
		if op == opAnd {
			x = x.And(c.intCode(operand))
		} else {
			x = x.Or(c.intCode(operand))
		}
	}
	return x
}

// connective returns the code of a conjunction or disjunction. Expensive operands are skipped if an earlier one decides the result.
func (c *codeGenerator) connective(op opcode, args []*term) wasm.Expr[int32] {
	together, later := c.cheapPrefix(args)
	if later == nil {
		return c.evaluateAll(op, together)
	}
	rest := func() { c.scoped(func() { c.connective(op, later).Emit(c.fn) }) }
	return func(fn *wasm.Func) {
		if op == opAnd {
			fn.IfElse(wasm.I32, c.evaluateAll(op, together), rest, func() { constI32(0).Emit(fn) })
		} else {
			fn.IfElse(wasm.I32, c.evaluateAll(op, together), func() { constI32(1).Emit(fn) }, rest)
		}
	}
}

// jumpIf emits a jump to target that is taken if t has the wanted value. Terms that are computed before the jump stay available after
// it.
func (c *codeGenerator) jumpIf(t *term, wanted bool, target wasm.Label) {
	c.computeRepeated(t)
	_, known := c.computed[t]
	switch {
	case t.isConst():
		if (t.intValue != 0) == wanted {
			c.fn.Br(target)
		}
	case known || c.uses[t] > 1 && t.op != opNot && t.cost <= chunkCost:
		c.jumpIfCode(c.intCode(t), wanted, target)
	case t.op == opNot:
		c.jumpIf(t.operands[0], !wanted, target)
	case t.op == opAnd && !wanted, t.op == opOr && wanted:
		for args := t.operands; args != nil; {
			var together []*term
			together, args = c.cheapPrefix(args)
			if len(together) == 1 {
				c.jumpIf(together[0], wanted, target)
				continue
			}
			c.jumpIfCode(c.evaluateAll(t.op, together), wanted, target)
		}
	case (t.op == opAnd || t.op == opOr) && t.cost > chunkCost:
		c.scoped(func() {
			c.fn.Block(func(out wasm.Label) {
				c.jumpIf(t, !wanted, out)
				c.fn.Br(target)
			})
		})
	default:
		c.jumpIfCode(c.intCode(t), wanted, target)
	}
}

// jumpIfCode emits a jump to target that is taken if the code gives the wanted value.
func (c *codeGenerator) jumpIfCode(cond wasm.Expr[int32], wanted bool, target wasm.Label) {
	if !wanted {
		cond = cond.IsZero()
	}
	c.fn.BrIf(target, cond)
}

// conditional returns the code of ?:. If both arms are cheap and cannot fail, it evaluates both and selects a result.
func (c *codeGenerator) conditional(t *term) typedCode {
	cond, x, y := t.operands[0], t.operands[1], t.operands[2]
	if !x.mayFail && !y.mayFail && c.costOf(selectCost+1, x) <= selectCost && c.costOf(selectCost+1, y) <= selectCost {
		if t.sort == sortFloat {
			return wasm.Select[float64](c.intCode(cond), c.floatCode(x), c.floatCode(y))
		}
		return wasm.Select[int32](c.intCode(cond), c.intCode(x), c.intCode(y))
	}
	arm := func(t *term) func() { return func() { c.scoped(func() { c.emitTerm(t) }) } }
	return wasm.Expr[int32](func(fn *wasm.Func) { fn.IfElse(wasmType(t.sort), c.intCode(cond), arm(x), arm(y)) })
}

// arithmetic returns the code of an addition, subtraction or multiplication of Ints. If the result may overflow, the code computes it
// with 64 bits and gives up after an overflow.
func (c *codeGenerator) arithmetic(term *term) wasm.Expr[int32] {
	x, y := c.intCode(term.operands[0]), c.intCode(term.operands[1])
	if !c.facts.overflows(term) {
		if y := term.operands[1]; term.op == opMul && y.isConst() && y.intValue == 2 {
			return x.Shl(1)
		}
		return calculate(term.op, x, y)
	}
	return func(fn *wasm.Func) {
		sum := calculate(term.op, wasm.Extend(x), wasm.Extend(y))
		wide := wasm.Local[int64](fn)
		fn.BrIf(c.giveUp, wasm.Extend(wasm.Wrap(wide.Tee(sum))).Ne(wide))
		wasm.Wrap(wide).Emit(fn)
	}
}

// calculate returns the code of x+y, x-y or x*y.
func calculate[T int32 | int64](op opcode, x, y wasm.Expr[T]) wasm.Expr[T] {
	switch op {
	case opAdd:
		return x.Add(y)
	case opSub:
		return x.Sub(y)
	}
	return x.Mul(y)
}

// modulo returns the code of mod(x,y). The result is not negative; the code gives up unless y is positive.
func (c *codeGenerator) modulo(term *term) wasm.Expr[int32] {
	return func(fn *wasm.Func) {
		x := wasm.Into(fn, c.intCode(term.operands[0]))
		y := wasm.Into(fn, c.intCode(term.operands[1]))
		if c.facts.interval(term.operands[1]).lo <= 0 {
			fn.BrIf(c.giveUp, y.Lt(constI32(1)))
		}
		if c.facts.interval(term.operands[0]).lo >= 0 {
			x.RemU(y).Emit(fn)
			return
		}
		r := wasm.Local[int32](fn)
		r.Tee(x.Rem(y)).Add(wasm.Select(r.Lt(constI32(0)), y, constI32(0))).Emit(fn)
	}
}

// minOrMax returns the code of min or max of two Ints.
func (c *codeGenerator) minOrMax(term *term) wasm.Expr[int32] {
	return func(fn *wasm.Func) {
		x := wasm.Into(fn, c.intCode(term.operands[0]))
		y := wasm.Into(fn, c.intCode(term.operands[1]))
		first := x.Lt(y)
		if term.op == opMax {
			first = x.Gt(y)
		}
		wasm.Select[int32](first, x, y).Emit(fn)
	}
}

// hostFailed is the result of the host function for integer powers if it fails.
const hostFailed = math.MinInt64

// power returns the code of an integer power. It gives up if the power is undefined or overflows.
func (c *codeGenerator) power(term *term) wasm.Expr[int32] {
	return func(fn *wasm.Func) {
		call := wasm.Call[int64, int32](c.hostIntPow, c.intCode(term.operands[0]), c.intCode(term.operands[1]))
		wide := wasm.Local[int64](fn)
		fn.BrIf(c.giveUp, wide.Tee(call).Eq(constI64(hostFailed)))
		wasm.Wrap(wide).Emit(fn)
	}
}

// rounding returns the code of floor, ceil or round. It gives up if the result does not fit in 32 bits.
func (c *codeGenerator) rounding(term *term) wasm.Expr[int32] {
	return func(fn *wasm.Func) {
		x := wasm.Into(fn, c.floatCode(term.operands[0]))
		r := rounded(fn, term.op, x, term.operands[0].maybeNaN)
		if term.mayFail {
			y := wasm.Into(fn, r)
			fn.BrIf(c.giveUp, y.Ge(constF64(math.MinInt32)).And(y.Le(constF64(math.MaxInt32))).IsZero())
			r = y.Expr
		}
		wasm.Convert[int32](wasm.I32TruncF64S, r).Emit(fn)
	}
}

// rounded returns the code of floor, ceil or round with a float64 result, which is the same as that of roundBy. nan says that x may be
// NaN.
func rounded(fn *wasm.Func, op opcode, x wasm.Var[float64], nan bool) wasm.Expr[float64] {
	switch op {
	case opFloor:
		return wasm.Convert[float64](wasm.F64Floor, x)
	case opCeil:
		return wasm.Convert[float64](wasm.F64Ceil, x)
	}
	low := wasm.Into(fn, wasm.Convert[float64](wasm.F64Floor, x))
	r := wasm.Select(x.Sub(low).Ge(constF64(0.5)), low.Add(constF64(1)), low)
	if nan {
		r = wasm.Select(x.Eq(x), r, constF64(0))
	}
	return r
}

// sameFloat returns the code of sema.SameFloat. If one operand is never NaN and never zero, that is the comparison of IEEE 754.
func (c *codeGenerator) sameFloat(x, y *term) wasm.Expr[int32] {
	if neverNaNOrZero(x) || neverNaNOrZero(y) {
		return c.floatCode(x).Eq(c.floatCode(y))
	}
	return func(fn *wasm.Func) {
		a := wasm.Into(fn, c.floatCode(x))
		b := wasm.Into(fn, c.floatCode(y))
		wasm.Bits(a).Eq(wasm.Bits(b)).Or(a.Ne(a).And(b.Ne(b))).Emit(fn)
	}
}

// neverNaNOrZero reports whether a term of sort Double is neither NaN nor zero.
func neverNaNOrZero(term *term) bool {
	return !term.maybeNaN && (term.floatLow > 0 || term.floatHigh < 0)
}
