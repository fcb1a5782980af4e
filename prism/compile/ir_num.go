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
	return g.intern(term{op: opIntToFloat, sort: sortFloat, operands: []*term{operand}, floatLow: float64(operand.low), floatHigh: float64(operand.high)})
}

// floatOperation returns the term of an operation on two Doubles. If the operation is monotonic in each operand, its lowest and its
// highest value are among its values for the four combinations of the operands' bounds.
func (g *graph) floatOperation(op opcode, left, right *term) *term {
	if left.isConst() && right.isConst() {
		return g.floatConst(evaluateFloats(op, left.floatValue, right.floatValue))
	}
	result := withoutBounds(term{op: op, sort: sortFloat, operands: []*term{left, right}})
	if extremesAtCorners(op, right) && !left.maybeNaN && !right.maybeNaN {
		lowLow, lowHigh := evaluateFloats(op, left.floatLow, right.floatLow), evaluateFloats(op, left.floatLow, right.floatHigh)
		highLow, highHigh := evaluateFloats(op, left.floatHigh, right.floatLow), evaluateFloats(op, left.floatHigh, right.floatHigh)
		lowest, highest := min(lowLow, lowHigh, highLow, highHigh), max(lowLow, lowHigh, highLow, highHigh)
		if !math.IsNaN(lowest) {
			result.floatLow, result.floatHigh = lowest, highest
			result.maybeNaN = math.IsInf(lowest, 0) || math.IsInf(highest, 0)
		}
	}
	return g.intern(result)
}

// extremesAtCorners reports whether an operation with second operand divisor is monotonic in each operand. Rounding is monotonic, so this
// also holds in floating-point arithmetic.
func extremesAtCorners(op opcode, divisor *term) bool {
	switch op {
	case opNumAdd, opNumSub, opNumMul, opNumMin, opNumMax:
		return true
	case opNumDiv:
		return divisor.floatLow > 0 || divisor.floatHigh < 0
	}
	return false
}

// evaluateFloats computes an operation on Doubles.
func evaluateFloats(op opcode, left, right float64) float64 {
	switch op {
	case opNumAdd:
		return left + right
	case opNumSub:
		return left - right
	case opNumMul:
		return left * right
	case opNumDiv:
		return left / right
	case opNumMin:
		return min(left, right)
	case opNumMax:
		return max(left, right)
	case opNumPow:
		return sema.Pow(left, right)
	default: // opNumLog
		return sema.Log(left, right)
	}
}

// floatNegation returns -operand for a Double.
func (g *graph) floatNegation(operand *term) *term {
	if operand.isConst() {
		return g.floatConst(-operand.floatValue)
	}
	return g.intern(term{op: opNumNeg, sort: sortFloat, operands: []*term{operand}, floatLow: -operand.floatHigh, floatHigh: -operand.floatLow, maybeNaN: operand.maybeNaN})
}

// compareFloats returns the term of a comparison of two Doubles. op is opNumSame, opNumLt or opNumLe.
func (g *graph) compareFloats(op opcode, left, right *term) *term {
	if left.isConst() && right.isConst() {
		switch op {
		case opNumSame:
			return g.boolConst(sema.SameFloat(left.floatValue, right.floatValue))
		case opNumLt:
			return g.boolConst(left.floatValue < right.floatValue)
		default:
			return g.boolConst(left.floatValue <= right.floatValue)
		}
	}
	if comparison := g.compareAsInts(op, left, right); comparison != nil {
		return comparison
	}
	return g.intern(term{op: op, sort: sortBool, operands: []*term{left, right}})
}

// compareAsInts returns a comparison of Ints that is equivalent to a comparison of Doubles, if one operand is a converted Int and the
// other a constant: x <= 2.5 becomes x <= 2. It returns nil for other comparisons, and for constants that are too far from all Ints.
func (g *graph) compareAsInts(op opcode, left, right *term) *term {
	const far = 1 << 40
	isNear := func(term *term) bool { return term.isConst() && math.Abs(term.floatValue) < far }
	switch {
	case op == opNumSame && left.isConst():
		return g.compareAsInts(op, right, left)
	case left.op == opIntToFloat && isNear(right):
		return g.compareIntWith(op, left.operands[0], right.floatValue)
	case right.op == opIntToFloat && isNear(left):
		number := right.operands[0]
		if op == opNumLt {
			return g.lessThan(g.intConst(int64(math.Floor(left.floatValue))), number)
		}
		return g.not(g.lessThan(number, g.intConst(int64(math.Ceil(left.floatValue)))))
	}
	return nil
}

// compareIntWith returns the comparison of an Int with a Double as one of Ints; nil if the comparison is for equality and the Double is
// no Int or -0.
func (g *graph) compareIntWith(op opcode, number *term, bound float64) *term {
	switch op {
	case opNumLt:
		return g.lessThan(number, g.intConst(int64(math.Ceil(bound))))
	case opNumLe:
		return g.not(g.lessThan(g.intConst(int64(math.Floor(bound))), number))
	}
	isMinusZero := bound == 0 && math.Signbit(bound)
	if bound != math.Trunc(bound) || isMinusZero {
		return nil
	}
	return g.equal(number, g.intConst(int64(bound)))
}

// toInt returns the term of floor, ceil or round of a Double. It may fail unless the bounds of the operand show that the result is an
// Int.
func (g *graph) toInt(op opcode, operand *term) *term {
	if operand.op == opIntToFloat {
		return operand.operands[0]
	}
	result := term{op: op, sort: sortInt, operands: []*term{operand}, mayFail: true, low: minInt, high: maxInt}
	if !operand.maybeNaN && operand.floatLow >= minInt && operand.floatHigh <= maxInt {
		result.mayFail, result.low, result.high = false, int64(math.Floor(operand.floatLow)), int64(math.Ceil(operand.floatHigh))
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
