package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// codeGenerator emits the code of terms into a function. It keeps computed values in locals, as long as every path to the current code
// passes the computation.
type codeGenerator struct {
	graph    *graph
	wasmFunc *wasm.Func
	// giveUpLabel is the label to jump to after a failure. The interpreter then takes over.
	giveUpLabel wasm.Label
	facts       *facts
	slots       []wasm.Var[int32] // the global of each variable
	// params replace the variables' globals in a separate function.
	params map[int]wasm.Var[int32]
	// host functions
	hostPow, hostLog, hostIntPow uint32

	computedTerms map[*term]typedCode // the locals of terms that are computed
	computedOrder []*term             // these terms in the order of their computation
	useCounts     map[*term]int
	measuredAt    []int // by term.id: the epoch in which costOf counted the term
	epoch         int   // the number of calls of costOf
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

// wasmType returns the WebAssembly type of a sort.
func wasmType(sort sortKind) wasm.Type {
	if sort == sortFloat {
		return wasm.F64
	}
	return wasm.I32
}

// countUses counts a use of a term. The first use also counts a use of each operand.
func (c *codeGenerator) countUses(term *term) {
	c.useCounts[term]++
	if c.useCounts[term] == 1 {
		for _, operand := range term.operands {
			c.countUses(operand)
		}
	}
}

// emitInScope calls emit, which emits code that may be skipped at run time. Afterwards, the terms that this code has computed count as not computed.
func (c *codeGenerator) emitInScope(emit func()) {
	mark := len(c.computedOrder)
	emit()
	for _, term := range c.computedOrder[mark:] {
		delete(c.computedTerms, term)
	}
	c.computedOrder = c.computedOrder[:mark]
}

// keepInLocal emits code that pushes the value of a term on the stack, and also stores it in a new local for later uses. value is the code that
// computes the term.
func (c *codeGenerator) keepInLocal(term *term, value func(*wasm.Func)) {
	if term.valueSort == sortFloat {
		c.computedTerms[term] = wasm.Keep[float64](c.wasmFunc, wasm.Expr[float64](value))
	} else {
		c.computedTerms[term] = wasm.Keep[int32](c.wasmFunc, wasm.Expr[int32](value))
	}
	c.computedOrder = append(c.computedOrder, term)
}

// costOf returns the number of operations that are needed to evaluate terms at this point of the code, but stops counting at limit. A term that
// occurs several times counts once.
func (c *codeGenerator) costOf(limit int, terms ...*term) int {
	c.epoch++
	total := 0
	for _, term := range terms {
		total += c.measure(term, limit-total)
	}
	return total
}

// measure returns the number of operations that are needed to compute a term. It stops counting at about limit. A term that is already in a local
// costs nothing, and a repeated term counts only once until the caller increases c.epoch.
func (c *codeGenerator) measure(term *term, limit int) int {
	for len(c.measuredAt) <= term.id {
		c.measuredAt = append(c.measuredAt, 0)
	}
	if term.op == opConst || term.op == opVar || c.measuredAt[term.id] == c.epoch || limit <= 0 {
		return 0
	}
	if _, ok := c.computedTerms[term]; ok {
		return 0
	}
	c.measuredAt[term.id] = c.epoch
	total := 1
	if term.op == opNot || term.op == opBoolToInt { // usually needs no instruction
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

// emitTerm emits code that pushes the value of a term: from its local, or by computing it.
func (c *codeGenerator) emitTerm(term *term) {
	cachedCode, ok := c.computedTerms[term]
	switch {
	case ok:
		cachedCode.Emit(c.wasmFunc)
	case term.op == opConst && term.valueSort == sortFloat:
		constF64(term.floatValue).Emit(c.wasmFunc)
	case term.op == opConst:
		constI32(term.intValue).Emit(c.wasmFunc)
	case term.op == opVar:
		c.variable(term.slot).Emit(c.wasmFunc)
	case c.useCounts[term] > 1:
		c.computeRepeated(term)
		c.keepInLocal(term, func(*wasm.Func) { c.operationCode(term).Emit(c.wasmFunc) })
	default:
		c.computeRepeated(term)
		c.operationCode(term).Emit(c.wasmFunc)
	}
}

// computeRepeated emits code that computes the repeated sub-terms of an expensive term first and stores them in locals. This limits the size of the
// code. The computation of a sub-term may then fail although its value is not needed; then the interpreter evaluates the state.
func (c *codeGenerator) computeRepeated(root *term) {
	if root.cost < hoistCost {
		return
	}
	for _, subterm := range c.repeatedTerms(root) {
		compute := func(*wasm.Func) { c.operationCode(subterm).Emit(c.wasmFunc) }
		// The result is dropped from the stack and stays in the local, so the type parameter does not matter.
		c.wasmFunc.Drop(wasm.Expr[int32](func(*wasm.Func) { c.keepInLocal(subterm, compute) }))
	}
}

// repeatedTerms returns the operations that occur more than once in a term and are not in a local yet. Operands come before the operations that
// use them.
func (c *codeGenerator) repeatedTerms(root *term) []*term {
	uses := map[*term]int{}
	var operandsFirst []*term
	var visit func(*term)
	visit = func(subterm *term) {
		if _, ok := c.computedTerms[subterm]; ok || subterm.op == opConst || subterm.op == opVar {
			return
		}
		uses[subterm]++
		if uses[subterm] > 1 {
			return
		}
		for _, operand := range subterm.operands {
			visit(operand)
		}
		operandsFirst = append(operandsFirst, subterm)
	}
	visit(root)
	return slices.DeleteFunc(operandsFirst, func(subterm *term) bool { return uses[subterm] == 1 })
}

// variable returns the WebAssembly variable of a variable of the model.
func (c *codeGenerator) variable(slot int) wasm.Var[int32] {
	if param, ok := c.params[slot]; ok {
		return param
	}
	return c.slots[slot]
}

// constI32 returns the code of an i32 constant.
func constI32[T int | int32 | int64](x T) wasm.Expr[int32] { return wasm.Const(int32(x)) }

// constI64 returns the code of an i64 constant.
func constI64(value int64) wasm.Expr[int64] { return wasm.Const(value) }

// constF64 returns the code of an f64 constant.
func constF64(number float64) wasm.Expr[float64] { return wasm.Const(number) }

// operationCode returns the code of a term's operation.
func (c *codeGenerator) operationCode(term *term) typedCode {
	switch term.op {
	case opNot:
		return c.negation(term.operands[0])
	case opAnd, opOr:
		return c.connective(term.op, term.operands)
	case opIfThenElse:
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
	case opFloatSame:
		return c.sameFloat(term.operands[0], term.operands[1])
	case opBoolToInt:
		return c.intCode(term.operands[0])
	}
	return c.instructionValue(term)
}

// instructionValue returns the code of an operation that is a single WebAssembly instruction or a call of a host function.
func (c *codeGenerator) instructionValue(term *term) typedCode {
	lastOperand := term.operands[len(term.operands)-1]
	switch {
	case term.op == opIntEq && lastOperand.isConst() && lastOperand.intValue == 0:
		return c.intCode(term.operands[0]).IsZero()
	case term.op == opFloatPow:
		return wasm.Call[float64, float64](c.hostPow, c.floatCode(term.operands[0]), c.floatCode(lastOperand))
	case term.op == opFloatLog:
		return wasm.Call[float64, float64](c.hostLog, c.floatCode(term.operands[0]), c.floatCode(lastOperand))
	}
	// The caller uses only Emit, so the type parameter does not matter.
	return wasm.Expr[int32](func(wasmFunc *wasm.Func) {
		for _, operand := range term.operands {
			c.emitTerm(operand)
		}
		wasmFunc.Op(instruction(term.op))
	})
}

// instruction returns the WebAssembly instruction of an operation.
func instruction(op opcode) wasm.Opcode {
	switch op {
	case opIff, opIntEq:
		return wasm.I32Eq
	case opIntLt:
		return wasm.I32LtS
	case opFloatLt:
		return wasm.F64Lt
	case opFloatLe:
		return wasm.F64Le
	case opIntToFloat:
		return wasm.F64ConvertI32S
	case opFloatAdd:
		return wasm.F64Add
	case opFloatSub:
		return wasm.F64Sub
	case opFloatMul:
		return wasm.F64Mul
	case opFloatDiv:
		return wasm.F64Div
	case opFloatNeg:
		return wasm.F64Neg
	case opFloatMin:
		return wasm.F64Min
	default: // opFloatMax
		return wasm.F64Max
	}
}

// negation returns the code of !operand. A negated comparison becomes the opposite comparison.
func (c *codeGenerator) negation(operand *term) wasm.Expr[int32] {
	_, isComputed := c.computedTerms[operand]
	isComparison := operand.op == opIntEq || operand.op == opIntLt || operand.op == opIff
	if isComputed || c.useCounts[operand] > 1 || !isComparison {
		return c.intCode(operand).IsZero()
	}
	left, right := c.intCode(operand.operands[0]), c.intCode(operand.operands[1])
	if operand.op == opIntLt {
		return left.Ge(right)
	}
	return left.Ne(right)
}

// cheapPrefix splits the operands of a conjunction or disjunction. The operands in cheapOperands are cheap, so code without jumps evaluates all of
// them. laterOperands has the other operands; its first operand is expensive or may fail. It is nil if there are none.
func (c *codeGenerator) cheapPrefix(operands []*term) (cheapOperands, laterOperands []*term) {
	cost := c.costOf(chunkCost+1, operands[0])
	for i, operand := range operands[1:] {
		cost += c.costOf(chunkCost+1, operand)
		if operand.mayFail || cost > chunkCost {
			return operands[:i+1], operands[i+1:]
		}
	}
	return operands, nil
}

// evaluateAll returns the code of the conjunction (opAnd) or disjunction of operands. The code evaluates all operands, without jumps.
func (c *codeGenerator) evaluateAll(op opcode, operands []*term) wasm.Expr[int32] {
	result := c.intCode(operands[0])
	for _, operand := range operands[1:] {
		if op == opAnd {
			result = result.And(c.intCode(operand))
		} else {
			result = result.Or(c.intCode(operand))
		}
	}
	return result
}

// connective returns the code of a conjunction or disjunction. The code skips expensive operands if the ones before determine the result.
func (c *codeGenerator) connective(op opcode, operands []*term) wasm.Expr[int32] {
	cheapOperands, laterOperands := c.cheapPrefix(operands)
	if laterOperands == nil {
		return c.evaluateAll(op, cheapOperands)
	}
	evaluateLater := func() { c.emitInScope(func() { c.connective(op, laterOperands).Emit(c.wasmFunc) }) }
	return func(wasmFunc *wasm.Func) {
		if op == opAnd {
			wasmFunc.IfElse(wasm.I32, c.evaluateAll(op, cheapOperands), evaluateLater, func() { constI32(0).Emit(wasmFunc) })
		} else {
			wasmFunc.IfElse(wasm.I32, c.evaluateAll(op, cheapOperands), func() { constI32(1).Emit(wasmFunc) }, evaluateLater)
		}
	}
}

// jumpIf emits code that jumps to target if a condition has the value wanted. Locals that the code sets before its first jump can be used after it.
func (c *codeGenerator) jumpIf(condition *term, wanted bool, target wasm.Label) {
	c.computeRepeated(condition)
	_, isComputed := c.computedTerms[condition]
	isConnective := condition.op == opAnd || condition.op == opOr
	isWorthKeeping := c.useCounts[condition] > 1 && condition.op != opNot && condition.cost <= chunkCost
	// One operand decides to jump if a conjunction must be false, or a disjunction true.
	oneDecides := condition.op == opAnd && !wanted || condition.op == opOr && wanted
	switch {
	case condition.isConst():
		if (condition.intValue != 0) == wanted {
			c.wasmFunc.Br(target)
		}
	case isComputed || isWorthKeeping:
		c.jumpIfCode(c.intCode(condition), wanted, target)
	case condition.op == opNot:
		c.jumpIf(condition.operands[0], !wanted, target)
	case oneDecides:
		c.jumpIfAny(condition.op, condition.operands, wanted, target)
	case isConnective && condition.cost > chunkCost:
		c.emitInScope(func() {
			c.wasmFunc.Block(func(skip wasm.Label) {
				c.jumpIf(condition, !wanted, skip)
				c.wasmFunc.Br(target)
			})
		})
	default:
		c.jumpIfCode(c.intCode(condition), wanted, target)
	}
}

// jumpIfAny emits code that jumps to target if at least one operand of a connective has the wanted value. Cheap operands are evaluated together.
func (c *codeGenerator) jumpIfAny(op opcode, operands []*term, wanted bool, target wasm.Label) {
	for operands != nil {
		var cheapOperands []*term
		cheapOperands, operands = c.cheapPrefix(operands)
		if len(cheapOperands) == 1 {
			c.jumpIf(cheapOperands[0], wanted, target)
			continue
		}
		c.jumpIfCode(c.evaluateAll(op, cheapOperands), wanted, target)
	}
}

// jumpIfCode emits a jump to target if code gives the wanted value.
func (c *codeGenerator) jumpIfCode(condition wasm.Expr[int32], wanted bool, target wasm.Label) {
	if !wanted {
		condition = condition.IsZero()
	}
	c.wasmFunc.BrIf(target, condition)
}

// conditional returns the code of ?:. If both branches are cheap and cannot fail, the code evaluates both and selects a result.
func (c *codeGenerator) conditional(conditionalTerm *term) typedCode {
	condition, thenTerm, elseTerm := conditionalTerm.operands[0], conditionalTerm.operands[1], conditionalTerm.operands[2]
	canEvaluateBoth := c.isCheapAndSafe(thenTerm) && c.isCheapAndSafe(elseTerm)
	switch {
	case canEvaluateBoth && conditionalTerm.valueSort == sortFloat:
		return wasm.Select[float64](c.intCode(condition), c.floatCode(thenTerm), c.floatCode(elseTerm))
	case canEvaluateBoth:
		return wasm.Select[int32](c.intCode(condition), c.intCode(thenTerm), c.intCode(elseTerm))
	}
	return wasm.Expr[int32](func(wasmFunc *wasm.Func) {
		wasmFunc.IfElse(wasmType(conditionalTerm.valueSort), c.intCode(condition),
			func() { c.emitInScope(func() { c.emitTerm(thenTerm) }) },
			func() { c.emitInScope(func() { c.emitTerm(elseTerm) }) })
	})
}

// isCheapAndSafe reports whether a branch of ?: costs at most selectCost and cannot fail, so the code may evaluate it needlessly.
func (c *codeGenerator) isCheapAndSafe(arm *term) bool {
	return !arm.mayFail && c.costOf(selectCost+1, arm) <= selectCost
}

// arithmetic returns the code of +, - or * for Ints. If the result may overflow, the code computes with 64 bits. After an overflow it jumps to
// giveUpLabel, and the interpreter evaluates the state.
func (c *codeGenerator) arithmetic(term *term) wasm.Expr[int32] {
	left, right := c.intCode(term.operands[0]), c.intCode(term.operands[1])
	factor := term.operands[1]
	isDoubling := term.op == opMul && factor.isConst() && factor.intValue == 2
	switch {
	case !c.facts.mayOverflow(term) && isDoubling:
		return left.Shl(1)
	case !c.facts.mayOverflow(term):
		return calculate(term.op, left, right)
	}
	return func(wasmFunc *wasm.Func) {
		// The result overflows if the 64-bit result changes when it is truncated to 32 bits and extended again.
		wideResult := wasm.Local[int64](wasmFunc)
		computed := wideResult.Tee(calculate(term.op, wasm.Extend(left), wasm.Extend(right)))
		truncated := wasm.Extend(wasm.Wrap(computed))
		wasmFunc.BrIf(c.giveUpLabel, truncated.Ne(wideResult))
		wasm.Wrap(wideResult).Emit(wasmFunc)
	}
}

// calculate returns the code of left+right, left-right or left*right.
func calculate[T int32 | int64](op opcode, left, right wasm.Expr[T]) wasm.Expr[T] {
	switch op {
	case opAdd:
		return left.Add(right)
	case opSub:
		return left.Sub(right)
	}
	return left.Mul(right)
}

// modulo returns the code of mod(dividend, divisor). The result is never negative. Unless the divisor is positive, the code jumps to giveUpLabel,
// and the interpreter evaluates the state.
func (c *codeGenerator) modulo(term *term) wasm.Expr[int32] {
	return func(wasmFunc *wasm.Func) {
		dividend := wasm.InLocal(wasmFunc, c.intCode(term.operands[0]))
		divisor := wasm.InLocal(wasmFunc, c.intCode(term.operands[1]))
		if c.facts.interval(term.operands[1]).low <= 0 {
			wasmFunc.BrIf(c.giveUpLabel, divisor.Lt(constI32(1)))
		}
		if c.facts.interval(term.operands[0]).low >= 0 {
			dividend.RemU(divisor).Emit(wasmFunc)
			return
		}
		remainder := wasm.Local[int32](wasmFunc)
		remainder.Set(wasmFunc, dividend.Rem(divisor))
		correction := wasm.Select(remainder.Lt(constI32(0)), divisor, constI32(0))
		remainder.Add(correction).Emit(wasmFunc)
	}
}

// minOrMax returns the code of the minimum or maximum of two Ints.
func (c *codeGenerator) minOrMax(term *term) wasm.Expr[int32] {
	return func(wasmFunc *wasm.Func) {
		left := wasm.InLocal(wasmFunc, c.intCode(term.operands[0]))
		right := wasm.InLocal(wasmFunc, c.intCode(term.operands[1]))
		takesLeft := left.Lt(right)
		if term.op == opMax {
			takesLeft = left.Gt(right)
		}
		wasm.Select[int32](takesLeft, left, right).Emit(wasmFunc)
	}
}

// hostFailed is the result of the host function for a failed integer power.
const hostFailed = math.MinInt64

// power returns the code of an integer power. The code gives up if the power is undefined or overflows.
func (c *codeGenerator) power(term *term) wasm.Expr[int32] {
	return func(wasmFunc *wasm.Func) {
		callHost := wasm.Call[int64, int32](c.hostIntPow, c.intCode(term.operands[0]), c.intCode(term.operands[1]))
		hostResult := wasm.Local[int64](wasmFunc)
		wasmFunc.BrIf(c.giveUpLabel, hostResult.Tee(callHost).Eq(constI64(hostFailed)))
		wasm.Wrap(hostResult).Emit(wasmFunc)
	}
}

// rounding returns the code of floor, ceil or round of a float64. If the result does not fit in 32 bits, the code jumps to giveUpLabel, and the
// interpreter evaluates the state.
func (c *codeGenerator) rounding(term *term) wasm.Expr[int32] {
	return func(wasmFunc *wasm.Func) {
		operand := wasm.InLocal(wasmFunc, c.floatCode(term.operands[0]))
		result := rounded(wasmFunc, term.op, operand, term.operands[0].maybeNaN)
		if term.mayFail {
			number := wasm.InLocal(wasmFunc, result)
			isInRange := number.Ge(constF64(math.MinInt32)).And(number.Le(constF64(math.MaxInt32)))
			wasmFunc.BrIf(c.giveUpLabel, isInRange.IsZero())
			result = number.Expr
		}
		wasm.Convert[int32](wasm.I32TruncF64S, result).Emit(wasmFunc)
	}
}

// rounded returns the code of floor, ceil or round of a float64, as a float64. Round rounds halves up, and maps NaN to 0.
func rounded(wasmFunc *wasm.Func, op opcode, operand wasm.Var[float64], maybeNaN bool) wasm.Expr[float64] {
	switch op {
	case opFloor:
		return wasm.Convert[float64](wasm.F64Floor, operand)
	case opCeil:
		return wasm.Convert[float64](wasm.F64Ceil, operand)
	}
	floor := wasm.InLocal(wasmFunc, wasm.Convert[float64](wasm.F64Floor, operand))
	isHalfOrMore := operand.Sub(floor).Ge(constF64(0.5))
	result := wasm.Select(isHalfOrMore, floor.Add(constF64(1)), floor)
	if maybeNaN {
		isNumber := operand.Eq(operand)
		result = wasm.Select(isNumber, result, constF64(0))
	}
	return result
}

// sameFloat returns the code of an equality of two numbers: NaN equals NaN, and 0 differs from -0.
func (c *codeGenerator) sameFloat(left, right *term) wasm.Expr[int32] {
	if isNeverNaNOrZero(left) || isNeverNaNOrZero(right) { // the comparison of IEEE 754 gives the same result
		return c.floatCode(left).Eq(c.floatCode(right))
	}
	return func(wasmFunc *wasm.Func) {
		leftValue := wasm.InLocal(wasmFunc, c.floatCode(left))
		rightValue := wasm.InLocal(wasmFunc, c.floatCode(right))
		sameBits := wasm.Bits(leftValue).Eq(wasm.Bits(rightValue))
		bothNaN := leftValue.Ne(leftValue).And(rightValue.Ne(rightValue))
		sameBits.Or(bothNaN).Emit(wasmFunc)
	}
}

// isNeverNaNOrZero reports whether a Double is never NaN and never zero.
func isNeverNaNOrZero(term *term) bool {
	return !term.maybeNaN && (term.floatLow > 0 || term.floatHigh < 0)
}
