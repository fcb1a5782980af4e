package boxes

import (
	"math"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// box is a set of states: all valuations in which each variable has a value from low to high. Both are indexed by slot.
type box struct{ low, high []int32 }

// split divides a box into the states in which a variable is less than at, and all others.
type split struct {
	slot int
	at   int32
}

// isWide reports whether a variable has several values in a box.
func (b box) isWide(slot int) bool { return b.low[slot] < b.high[slot] }

// newBox returns the box with the given bounds: first all lower ones, then all upper ones.
func newBox(bounds []int32) box {
	numVars := len(bounds) / 2
	return box{bounds[:numVars:numVars], bounds[numVars:]}
}

// clone returns a copy of a box.
func (b box) clone() box { return newBox(slices.Concat(b.low, b.high)) }

// copyFrom replaces a box by another one.
func (b box) copyFrom(other box) {
	copy(b.low, other.low)
	copy(b.high, other.high)
}

// equals reports whether two boxes have the same states.
func (b box) equals(other box) bool {
	return slices.Equal(b.low, other.low) && slices.Equal(b.high, other.high)
}

// divide returns the two parts of a box.
func (b box) divide(by split) (less, others box) {
	less, others = b.clone(), b.clone()
	less.high[by.slot], others.low[by.slot] = by.at-1, by.at
	return less, others
}

// halving returns the split of a box that halves the values of a variable.
func (b box) halving(slot int) split {
	middle := (int64(b.low[slot]) + int64(b.high[slot]) + 1) >> 1
	return split{slot, int32(middle)}
}

// noVariable is the slot of values that are not the values of a variable plus a constant.
const noVariable = -1

// values has the least and the greatest value of an expression in the states of a box, or bounds on them. A Bool has the value 0 or 1. If slot is not
// noVariable, the expression has in each state the value of the variable in this slot plus a constant.
type values struct {
	low, high int64
	slot      int
}

func single(value int64) values { return values{value, value, noVariable} }

func (v values) isSingle() bool { return v.low == v.high }

// isTrue and isFalse report whether a Bool has this value in all states.
func (v values) isTrue() bool  { return v.low == 1 }
func (v values) isFalse() bool { return v.high == 0 }

// truthOf returns the values of a Bool that is known.
func truthOf(holds bool) values {
	if holds {
		return single(1)
	}
	return single(0)
}

// unknown returns the bounds that hold for each expression of the type of expr.
func unknown(expr sema.Expr) values {
	if expr.Type() == sema.Bool {
		return values{0, 1, noVariable}
	}
	return values{math.MinInt32, math.MaxInt32, noVariable}
}

// evaluation is the evaluation of an expression in all states of a box at once, by interval arithmetic.
type evaluation struct {
	box box
	// mayFail says that some operation may have no value in some state.
	mayFail bool
	// proposal is a split of the box after which the evaluation gives tighter bounds in a part; hasProposal says whether there is one.
	proposal    split
	hasProposal bool
	number      int // the number of the current evaluation; cached results of earlier evaluations are not valid
}

// propose keeps a proposal, unless there is an earlier one.
func (e *evaluation) propose(proposal split) {
	if !e.hasProposal {
		e.proposal, e.hasProposal = proposal, true
	}
}

// evaluator returns bounds of the values of an expression in the states of a box.
type evaluator func(*evaluation) values

// expression is a compiled expression of type Int or Bool.
type expression struct {
	evaluate evaluator
	slots    []int
}

// newExpression compiles an expression of type Int or Bool.
func newExpression(expr sema.Expr) *expression {
	compiler := &exprCompiler{compiled: make(map[sema.Expr]evaluator), repeated: sema.RepeatedExprs(expr, sema.LargeSize, sema.VisitOperands)}
	return &expression{compiler.compile(expr), sema.SlotsOf(expr)}
}

// bounds evaluates an expression in a box by interval arithmetic. isKnown says that the evaluation fails in no state. If e.hasProposal is set, e.proposal is
// a split of the box after which more is known of the value.
func (expression *expression) bounds(e *evaluation) (result values, isKnown bool) {
	e.mayFail, e.hasProposal = false, false
	e.number++
	result = expression.evaluate(e)
	if e.mayFail {
		expression.proposeAny(e)
	}
	return result, !e.mayFail
}

// value returns the value of an expression in all states of a box. isKnown is false if the value differs between states, or if the evaluation may fail.
// Then e.hasProposal says whether there is a split of the box after which more is known.
func (expression *expression) value(e *evaluation) (value int64, isKnown bool) {
	result, isKnown := expression.bounds(e)
	if isKnown && !result.isSingle() {
		expression.proposeAny(e)
	}
	return result.low, isKnown && result.isSingle()
}

// proposeAny proposes to halve the first variable of the expression that has several values.
func (expression *expression) proposeAny(e *evaluation) {
	if i := slices.IndexFunc(expression.slots, e.box.isWide); i >= 0 {
		e.propose(e.box.halving(expression.slots[i]))
	}
}

// exprCompiler compiles an expression to evaluators.
type exprCompiler struct {
	compiled map[sema.Expr]evaluator
	repeated map[sema.Expr]bool // sub-expressions of a large expression that occur several times
}

// compile returns a function that evaluates an expression in a box. If a sub-expression occurs several times, the function evaluates it once for each box.
func (c *exprCompiler) compile(expr sema.Expr) evaluator {
	if known := c.compiled[expr]; known != nil {
		return known
	}
	evaluate := c.compileNode(expr)
	if c.repeated[expr] {
		evaluateOnce, number, cached := evaluate, 0, values{}
		evaluate = func(e *evaluation) values {
			if number != e.number {
				number, cached = e.number, evaluateOnce(e)
			}
			return cached
		}
	}
	c.compiled[expr] = evaluate
	return evaluate
}

// compileNode returns a function that evaluates the outermost operation of an expression in a box. Operations without interval arithmetic, such as those of
// type Double, are evaluated only in boxes of one state.
func (c *exprCompiler) compileNode(expr sema.Expr) evaluator {
	switch expr := expr.(type) {
	case *sema.Const:
		value := single(int64(expr.Val.InState()))
		return func(*evaluation) values { return value }
	case *sema.Var:
		slot := expr.Slot
		return func(e *evaluation) values { return values{int64(e.box.low[slot]), int64(e.box.high[slot]), slot} }
	case *sema.Unary:
		return c.compileUnary(expr)
	case *sema.Binary:
		return c.compileBinary(expr)
	case *sema.Cond:
		condition, then, otherwise := c.compile(expr.Condition), c.compile(expr.Then), c.compile(expr.Else)
		return func(e *evaluation) values {
			switch holds := condition(e); {
			case holds.isTrue():
				return then(e)
			case holds.isFalse():
				return otherwise(e)
			}
			ifTrue, ifFalse := then(e), otherwise(e) // both, because either may fail
			return values{min(ifTrue.low, ifFalse.low), max(ifTrue.high, ifFalse.high), noVariable}
		}
	case *sema.Call:
		return c.compileCall(expr)
	}
	return stateByState(expr)
}

// stateByState returns a function that evaluates an expression only if each of its variables has one value in the box. Otherwise it proposes a split. The
// result counts as failed if float64 and exact arithmetic give different values, because then rounding decides it.
func stateByState(expr sema.Expr) evaluator {
	slots, undecided, mayFail := sema.SlotsOf(expr), unknown(expr), !sema.Every(expr, cannotFail)
	return func(e *evaluation) values {
		if i := slices.IndexFunc(slots, e.box.isWide); i >= 0 {
			e.propose(e.box.halving(slots[i]))
			e.mayFail = e.mayFail || mayFail
			return undecided
		}
		inFloat, floatErr := sema.Eval(expr, e.box.low)
		exact, _, exactErr := sema.EvalExact(expr, e.box.low)
		if floatErr != nil || exactErr != nil || inFloat.InState() != exact.InState() {
			e.mayFail = true
		}
		return single(int64(exact.InState()))
	}
}

// cannotFail reports whether the outermost operation of an expression has a value for all operands. Integer operations can overflow, and functions such as
// log are undefined for some arguments.
func cannotFail(expr sema.Expr) bool {
	switch expr.(type) {
	case *sema.Const, *sema.Var:
		return true
	case *sema.Unary, *sema.Binary, *sema.Cond:
		return expr.Type() != sema.Int // integers may overflow
	}
	return false
}

func (c *exprCompiler) compileUnary(expr *sema.Unary) evaluator {
	if expr.X.Type() == sema.Double {
		return stateByState(expr)
	}
	operand := c.compile(expr.X)
	if expr.Op == syntax.OpNot {
		return negation(operand)
	}
	return func(e *evaluation) values {
		value := operand(e)
		return e.checkOverflow(values{-value.high, -value.low, noVariable})
	}
}

func (c *exprCompiler) compileBinary(expr *sema.Binary) evaluator {
	if expr.X.Type() == sema.Double || expr.Y.Type() == sema.Double || expr.Type() == sema.Double {
		return stateByState(expr)
	}
	left, right := c.compile(expr.X), c.compile(expr.Y)
	switch op := expr.Op; op {
	case syntax.OpAnd:
		return conjunction(left, right)
	case syntax.OpOr:
		return negation(conjunction(negation(left), negation(right)))
	case syntax.OpImplies:
		return negation(conjunction(left, negation(right)))
	case syntax.OpIff:
		return func(e *evaluation) values { return e.compare(syntax.OpEq, left(e), right(e)) }
	case syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe:
		return func(e *evaluation) values { return e.compare(op, left(e), right(e)) }
	case syntax.OpAdd:
		return func(e *evaluation) values { return e.add(left(e), right(e)) }
	case syntax.OpSub:
		return func(e *evaluation) values { return e.subtract(left(e), right(e)) }
	case syntax.OpMul:
		return func(e *evaluation) values { return e.multiply(left(e), right(e)) }
	}
	return stateByState(expr)
}

func (c *exprCompiler) compileCall(expr *sema.Call) evaluator {
	if !sema.Every(expr, func(operand sema.Expr) bool { return operand.Type() != sema.Double }) {
		return stateByState(expr)
	}
	var args []evaluator
	for _, arg := range expr.Args {
		args = append(args, c.compile(arg))
	}
	switch expr.Func {
	case sema.FuncMin:
		return extremum(args, syntax.OpLe)
	case sema.FuncMax:
		return extremum(args, syntax.OpGe)
	case sema.FuncMod:
		return func(e *evaluation) values { return e.remainder(args[0](e), args[1](e)) }
	}
	return stateByState(expr)
}

func negation(operand evaluator) evaluator {
	return func(e *evaluation) values {
		value := operand(e)
		return values{1 - value.high, 1 - value.low, noVariable}
	}
}

// conjunction returns a function that evaluates left & right. If left is unknown, the result is false where right is false. The function does not evaluate
// right if left may fail, because the result must then be a failure.
func conjunction(left, right evaluator) evaluator {
	return func(e *evaluation) values {
		hadProposal := e.hasProposal
		first := left(e)
		switch {
		case first.isFalse():
			return single(0)
		case first.isTrue():
			return right(e)
		case e.mayFail:
			return values{0, 1, noVariable}
		}
		if second := right(e); second.isFalse() && !e.mayFail {
			e.hasProposal = hadProposal // a split that makes the left operand known is not needed
			return single(0)
		}
		return values{0, 1, noVariable}
	}
}

// extremum returns a function that evaluates the minimum (op is OpLe) or the maximum (op is OpGe) of its arguments in a box.
func extremum(args []evaluator, op syntax.Op) evaluator {
	return func(e *evaluation) values {
		best := args[0](e)
		for _, arg := range args[1:] {
			next := arg(e)
			switch isBest := e.compare(op, best, next); {
			case isBest.isTrue():
			case isBest.isFalse():
				best = next
			case op == syntax.OpLe:
				best = values{min(best.low, next.low), min(best.high, next.high), noVariable}
			default:
				best = values{max(best.low, next.low), max(best.high, next.high), noVariable}
			}
		}
		return best
	}
}

// checkOverflow returns the result of an integer operation. If the result may be outside of the 32-bit range, the operation may fail.
func (e *evaluation) checkOverflow(result values) values {
	if result.low < math.MinInt32 || result.high > math.MaxInt32 {
		e.mayFail = true
		return values{math.MinInt32, math.MaxInt32, noVariable}
	}
	return result
}

func (e *evaluation) add(left, right values) values {
	result := values{left.low + right.low, left.high + right.high, noVariable}
	switch {
	case right.isSingle():
		result.slot = left.slot
	case left.isSingle():
		result.slot = right.slot
	}
	return e.checkOverflow(result)
}

func (e *evaluation) subtract(left, right values) values {
	result := differences(left, right)
	if right.isSingle() {
		result.slot = left.slot
	}
	return e.checkOverflow(result)
}

// differences returns bounds of left-right.
func differences(left, right values) values {
	if left.slot == right.slot && left.slot != noVariable { // both are the same variable plus a constant
		return single(left.low - right.low)
	}
	return values{left.low - right.high, left.high - right.low, noVariable}
}

func (e *evaluation) multiply(left, right values) values {
	products := []int64{left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high}
	return e.checkOverflow(values{slices.Min(products), slices.Max(products), noVariable})
}

// remainder returns the values of mod(dividend, divisor). If the quotient is the same in all states of the box, the result is the dividend minus a constant.
// Otherwise it is any number below the divisor, and a split is proposed at which the quotient changes.
func (e *evaluation) remainder(dividend, divisor values) values {
	if !divisor.isSingle() || divisor.low <= 0 {
		e.mayFail = true
		return values{0, math.MaxInt32, noVariable}
	}
	quotient := floorDivide(dividend.low, divisor.low)
	if quotient == floorDivide(dividend.high, divisor.low) {
		return e.subtract(dividend, single(quotient*divisor.low))
	}
	e.compare(syntax.OpLt, dividend, single((quotient+1)*divisor.low)) // called only to propose the split at which the quotient changes
	return values{0, divisor.low - 1, noVariable}
}

// floorDivide returns the greatest integer that is not greater than the quotient. The divisor is positive.
func floorDivide(dividend, divisor int64) int64 {
	quotient := dividend / divisor
	if dividend%divisor < 0 {
		quotient--
	}
	return quotient
}

// compare returns whether a comparison holds in the states of the box: true, false, or both if it is unknown. If it is unknown, compare proposes a split of
// the box.
func (e *evaluation) compare(op syntax.Op, left, right values) values {
	difference := differences(left, right)
	canHold, canFail := false, false
	for sign := -1; sign <= 1; sign++ {
		isPossible := sign < 0 && difference.low < 0 || sign == 0 && difference.low <= 0 && difference.high >= 0 || sign > 0 && difference.high > 0
		if isPossible {
			holds := sema.Holds(op, sign)
			canHold, canFail = canHold || holds, canFail || !holds
		}
	}
	if canHold != canFail {
		return truthOf(canHold)
	}
	e.proposeComparison(op, left, right)
	return values{0, 1, noVariable}
}

// proposeComparison proposes a split of the box after which a comparison is known in one part, or in more states. It prefers the value of a variable at
// which the result of the comparison changes, and otherwise halves the values of a variable.
func (e *evaluation) proposeComparison(op syntax.Op, left, right values) {
	switch {
	case left.slot != noVariable && right.isSingle():
		e.proposeThreshold(op, left, right.low)
	case right.slot != noVariable && left.isSingle():
		e.proposeThreshold(mirrored(op), right, left.low)
	case left.slot != noVariable && !left.isSingle():
		e.propose(e.box.halving(left.slot))
	case right.slot != noVariable && !right.isSingle():
		e.propose(e.box.halving(right.slot))
	}
}

// proposeThreshold proposes a split for the comparison of a number with left, which is a variable plus a constant. The split is at the value of the variable
// where the result changes, so in at least one part the comparison is known.
func (e *evaluation) proposeThreshold(op syntax.Op, left values, number int64) {
	low := e.box.low[left.slot]
	threshold := int64(low) + number - left.low // the value of the variable for which both sides are equal
	switch op {
	case syntax.OpLe, syntax.OpGt:
		threshold++
	case syntax.OpEq, syntax.OpNe:
		if threshold == int64(low) {
			threshold++
		}
	}
	e.propose(split{left.slot, int32(threshold)})
}

// mirrored returns the operator that gives the same result if the operands are exchanged, such as > for <.
func mirrored(op syntax.Op) syntax.Op {
	switch op {
	case syntax.OpLt:
		return syntax.OpGt
	case syntax.OpLe:
		return syntax.OpGe
	case syntax.OpGt:
		return syntax.OpLt
	case syntax.OpGe:
		return syntax.OpLe
	}
	return op
}
