package compile

import (
	"math"

	"tilecheck/prism/sema"
)

// withoutBounds returns a Double term that may have any value, including NaN.
func withoutBounds(result term) term {
	result.floatLow, result.floatHigh, result.maybeNaN = math.Inf(-1), math.Inf(1), true
	return result
}

// toFloat converts an Int to a Double.
func (g *graph) toFloat(operand *term) *term {
	if operand.isConst() {
		return g.floatConst(float64(operand.intValue))
	}
	return g.intern(term{op: opIntToFloat, valueSort: sortFloat, operands: []*term{operand}, floatLow: float64(operand.low), floatHigh: float64(operand.high)})
}

// floatOperation returns the term of an operation on two Doubles. A monotonic operation gets bounds on its value.
func (g *graph) floatOperation(op opcode, left, right *term) *term {
	if left.isConst() && right.isConst() {
		return g.floatConst(evaluateFloats(op, left.floatValue, right.floatValue))
	}
	result := withoutBounds(term{op: op, valueSort: sortFloat, operands: []*term{left, right}})
	if !isMonotonic(op, right) || left.maybeNaN || right.maybeNaN {
		return g.intern(result)
	}
	lowest, highest := extremesAtBounds(op, left, right)
	if !math.IsNaN(lowest) { // otherwise the bounds are useless, such as infinity minus infinity
		result.floatLow, result.floatHigh = lowest, highest
		result.maybeNaN = math.IsInf(lowest, 0) || math.IsInf(highest, 0)
	}
	return g.intern(result)
}

// isMonotonic reports whether an operation is monotonic in each operand, for a given second operand. Rounding is monotonic too.
func isMonotonic(op opcode, right *term) bool {
	switch op {
	case opFloatAdd, opFloatSub, opFloatMul, opFloatMin, opFloatMax:
		return true
	case opFloatDiv:
		return right.floatLow > 0 || right.floatHigh < 0
	}
	return false
}

// extremesAtBounds returns the lowest and the highest value of an operation at the bounds of its operands. They bound a monotonic operation.
func extremesAtBounds(op opcode, left, right *term) (lowest, highest float64) {
	lowLow := evaluateFloats(op, left.floatLow, right.floatLow)
	lowHigh := evaluateFloats(op, left.floatLow, right.floatHigh)
	highLow := evaluateFloats(op, left.floatHigh, right.floatLow)
	highHigh := evaluateFloats(op, left.floatHigh, right.floatHigh)
	return min(lowLow, lowHigh, highLow, highHigh), max(lowLow, lowHigh, highLow, highHigh)
}

// evaluateFloats computes an operation on two Doubles in float64 arithmetic, as the generated code does.
func evaluateFloats(op opcode, left, right float64) float64 {
	switch op {
	case opFloatAdd:
		return left + right
	case opFloatSub:
		return left - right
	case opFloatMul:
		return left * right
	case opFloatDiv:
		return left / right
	case opFloatMin:
		return min(left, right)
	case opFloatMax:
		return max(left, right)
	case opFloatPow:
		return sema.Pow(left, right)
	default: // opFloatLog
		return sema.Log(left, right)
	}
}

// floatNegation returns -operand for a Double.
func (g *graph) floatNegation(operand *term) *term {
	if operand.isConst() {
		return g.floatConst(-operand.floatValue)
	}
	return g.intern(term{op: opFloatNeg, valueSort: sortFloat, operands: []*term{operand}, floatLow: -operand.floatHigh, floatHigh: -operand.floatLow, maybeNaN: operand.maybeNaN})
}

// compareFloats returns the term of a comparison of two Doubles: opFloatSame, opFloatLt or opFloatLe.
func (g *graph) compareFloats(op opcode, left, right *term) *term {
	if left.isConst() && right.isConst() {
		switch op {
		case opFloatSame:
			return g.boolConst(sema.SameFloat(left.floatValue, right.floatValue))
		case opFloatLt:
			return g.boolConst(left.floatValue < right.floatValue)
		default:
			return g.boolConst(left.floatValue <= right.floatValue)
		}
	}
	if comparison := g.compareAsInts(op, left, right); comparison != nil {
		return comparison
	}
	return g.intern(term{op: op, valueSort: sortBool, operands: []*term{left, right}})
}

// compareAsInts returns a comparison of Ints for the comparison of an Int, converted to a Double, with a constant: x <= 2.5 becomes x <= 2. It
// returns nil for other comparisons.
func (g *graph) compareAsInts(op opcode, left, right *term) *term {
	switch {
	case op == opFloatSame && left.isConst():
		return g.compareAsInts(op, right, left)
	case left.op == opIntToFloat && isSmallConst(right):
		return g.compareIntWith(op, left.operands[0], right.floatValue)
	case right.op == opIntToFloat && isSmallConst(left):
		return g.compareWithInt(op, left.floatValue, right.operands[0])
	}
	return nil
}

// isSmallConst reports whether a term is a constant with an absolute value below 2^40.
func isSmallConst(term *term) bool {
	return term.isConst() && math.Abs(term.floatValue) < 1<<40
}

// compareIntWith returns a comparison of Ints that is equivalent to number op bound, for an Int number and a Double bound. It returns nil for
// equality with -0 or with a bound that is not an integer.
func (g *graph) compareIntWith(op opcode, number *term, bound float64) *term {
	switch op {
	case opFloatLt:
		return g.lessThan(number, g.intConst(int64(math.Ceil(bound))))
	case opFloatLe:
		return g.not(g.lessThan(g.intConst(int64(math.Floor(bound))), number))
	}
	isMinusZero := bound == 0 && math.Signbit(bound)
	if bound != math.Trunc(bound) || isMinusZero {
		return nil
	}
	return g.equal(number, g.intConst(int64(bound)))
}

// compareWithInt returns the comparison < or <= of a Double, on the left, with an Int as a comparison of Ints.
func (g *graph) compareWithInt(op opcode, bound float64, number *term) *term {
	if op == opFloatLt {
		return g.lessThan(g.intConst(int64(math.Floor(bound))), number)
	}
	return g.not(g.lessThan(number, g.intConst(int64(math.Ceil(bound)))))
}

// toInt returns the term of floor, ceil or round of a Double. The term may fail unless the result certainly fits in 32 bits.
func (g *graph) toInt(op opcode, operand *term) *term {
	if operand.op == opIntToFloat {
		return operand.operands[0]
	}
	result := term{op: op, valueSort: sortInt, operands: []*term{operand}, mayFail: true, low: minInt, high: maxInt}
	if !operand.maybeNaN && operand.floatLow >= minInt && operand.floatHigh <= maxInt {
		result.mayFail = false
		result.low, result.high = int64(math.Floor(operand.floatLow)), int64(math.Ceil(operand.floatHigh))
	}
	if operand.isConst() && !result.mayFail {
		return g.intConst(int64(roundBy(op, operand.floatValue)))
	}
	return g.intern(result)
}

// roundBy computes floor, ceil or round.
func roundBy(op opcode, number float64) float64 {
	return [...]sema.Func{opFloor: sema.FuncFloor, opCeil: sema.FuncCeil, opRound: sema.FuncRound}[op].Round(number)
}
