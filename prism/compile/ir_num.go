package compile

import (
	"math"

	"tilecheck/prism/sema"
)

// withoutBounds returns a Double term that may have any value, including NaN.
func withoutBounds(t term) term {
	t.floatLow, t.floatHigh, t.maybeNaN = math.Inf(-1), math.Inf(1), true
	return t
}

// toFloat converts an Int to a Double.
func (g *graph) toFloat(x *term) *term {
	if x.isConst() {
		return g.floatConst(float64(x.intValue))
	}
	return g.intern(term{op: opIntToFloat, sort: sortFloat, operands: []*term{x}, floatLow: float64(x.lo), floatHigh: float64(x.hi)})
}

// floatOperation returns an operation on two Doubles. If the operation is monotonic in each operand, its bounds are the extremes over
// all combinations of the operands' bounds.
func (g *graph) floatOperation(op opcode, x, y *term) *term {
	if x.isConst() && y.isConst() {
		return g.floatConst(evaluateFloats(op, x.floatValue, y.floatValue))
	}
	t := withoutBounds(term{op: op, sort: sortFloat, operands: []*term{x, y}})
	if extremesAtCorners(op, y) && !x.maybeNaN && !y.maybeNaN {
		a, b := evaluateFloats(op, x.floatLow, y.floatLow), evaluateFloats(op, x.floatLow, y.floatHigh)
		c, d := evaluateFloats(op, x.floatHigh, y.floatLow), evaluateFloats(op, x.floatHigh, y.floatHigh)
		if lo, hi := min(a, b, c, d), max(a, b, c, d); lo == lo {
			t.floatLow, t.floatHigh, t.maybeNaN = lo, hi, math.IsInf(lo, 0) || math.IsInf(hi, 0)
		}
	}
	return g.intern(t)
}

// extremesAtCorners reports whether an operation with second operand y is monotonic in each operand. Rounding is monotonic, so this
// also holds in floating-point arithmetic.
func extremesAtCorners(op opcode, y *term) bool {
	switch op {
	case opNumAdd, opNumSub, opNumMul, opNumMin, opNumMax:
		return true
	case opNumDiv:
		return y.floatLow > 0 || y.floatHigh < 0
	}
	return false
}

// evaluateFloats computes an operation on Doubles.
func evaluateFloats(op opcode, x, y float64) float64 {
	switch op {
	case opNumAdd:
		return x + y
	case opNumSub:
		return x - y
	case opNumMul:
		return x * y
	case opNumDiv:
		return x / y
	case opNumMin:
		return min(x, y)
	case opNumMax:
		return max(x, y)
	case opNumPow:
		return sema.Pow(x, y)
	default: // opNumLog
		return sema.Log(x, y)
	}
}

// floatNegation returns -x for a Double.
func (g *graph) floatNegation(x *term) *term {
	if x.isConst() {
		return g.floatConst(-x.floatValue)
	}
	return g.intern(term{op: opNumNeg, sort: sortFloat, operands: []*term{x}, floatLow: -x.floatHigh, floatHigh: -x.floatLow, maybeNaN: x.maybeNaN})
}

// compareFloats returns a comparison of Doubles: opNumSame, opNumLt or opNumLe.
func (g *graph) compareFloats(op opcode, x, y *term) *term {
	if x.isConst() && y.isConst() {
		switch op {
		case opNumSame:
			return g.boolConst(sema.SameFloat(x.floatValue, y.floatValue))
		case opNumLt:
			return g.boolConst(x.floatValue < y.floatValue)
		default:
			return g.boolConst(x.floatValue <= y.floatValue)
		}
	}
	if c := g.compareAsInts(op, x, y); c != nil {
		return c
	}
	return g.intern(term{op: op, sort: sortBool, operands: []*term{x, y}})
}

// compareAsInts replaces a comparison of a converted Int with a constant, such as x <= MAX/2, by a comparison of Ints. It returns nil
// for other comparisons.
func (g *graph) compareAsInts(op opcode, x, y *term) *term {
	const far = 1 << 40
	switch {
	case op == opNumSame && x.isConst():
		return g.compareAsInts(op, y, x)
	case x.op == opIntToFloat && y.isConst() && math.Abs(y.floatValue) < far:
		n := x.operands[0]
		switch {
		case op == opNumLt:
			return g.lt(n, g.intConst(int64(math.Ceil(y.floatValue))))
		case op == opNumLe:
			return g.not(g.lt(g.intConst(int64(math.Floor(y.floatValue))), n))
		case y.floatValue == math.Trunc(y.floatValue) && (y.floatValue != 0 || !math.Signbit(y.floatValue)):
			return g.eq(n, g.intConst(int64(y.floatValue)))
		}
	case y.op == opIntToFloat && x.isConst() && math.Abs(x.floatValue) < far:
		n := y.operands[0]
		if op == opNumLt {
			return g.lt(g.intConst(int64(math.Floor(x.floatValue))), n)
		}
		return g.not(g.lt(n, g.intConst(int64(math.Ceil(x.floatValue)))))
	}
	return nil
}

// toInt returns floor, ceil or round of a Double.
func (g *graph) toInt(op opcode, x *term) *term {
	if x.op == opIntToFloat {
		return x.operands[0]
	}
	t := term{op: op, sort: sortInt, operands: []*term{x}, mayFail: true, lo: minInt, hi: maxInt}
	if !x.maybeNaN && x.floatLow >= minInt && x.floatHigh <= maxInt {
		t.mayFail, t.lo, t.hi = false, int64(math.Floor(x.floatLow)), int64(math.Ceil(x.floatHigh))
	}
	if x.isConst() && !t.mayFail {
		return g.intConst(int64(roundBy(op, x.floatValue)))
	}
	return g.intern(t)
}

// roundBy computes floor, ceil or round.
func roundBy(op opcode, x float64) float64 {
	return [...]sema.Func{opFloor: sema.FuncFloor, opCeil: sema.FuncCeil, opRound: sema.FuncRound}[op].Round(x)
}
