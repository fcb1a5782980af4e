package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// FloatAnalysis finds expressions with the same Bool or Int in float64 arithmetic as in exact arithmetic, in every state.
type FloatAnalysis struct{ vars []Variable }

// NewFloatAnalysis returns the analysis for a program.
func NewFloatAnalysis(program *Program) FloatAnalysis { return FloatAnalysis{program.Vars} }

// IsAlwaysExact reports whether float64 arithmetic gives the exact result of an expression in every state. The expression is a comparison of numbers,
// floor, ceil or round. For any other expression it returns true.
func (d FloatAnalysis) IsAlwaysExact(expr Expr) bool {
	analysis := numberAnalysis{vars: d.vars}
	switch expr := expr.(type) {
	case *Binary:
		return analysis.isExactComparison(expr)
	case *Call:
		isRounding := expr.Func == FuncFloor || expr.Func == FuncCeil || expr.Func == FuncRound
		return !isRounding || analysis.isExactRounding(expr)
	}
	return true
}

// isExactRounding reports whether float64 arithmetic gives the exact result of floor, ceil or round.
func (n *numberAnalysis) isExactRounding(expr *Call) bool {
	const maxTerm = 1 << 50
	operand := n.quotientOf(expr.Args[0])
	return operand.isKnown && operand.numerator <= maxTerm && operand.denominator <= maxTerm
}

// isExactComparison reports whether float64 arithmetic gives the exact result of a comparison of numbers. It returns true for other
// expressions.
func (n *numberAnalysis) isExactComparison(expr *Binary) bool {
	bothInts := expr.X.Type() == Int && expr.Y.Type() == Int
	if expr.ValueType != Bool || expr.X.Type() == Bool || bothInts {
		return true
	}
	left, right := n.quotientOf(expr.X), n.quotientOf(expr.Y)
	isEquality := expr.Op == syntax.OpEq || expr.Op == syntax.OpNe
	if isEquality && (left.mayBeMinusZero || right.mayBeMinusZero) { // in PRISM, -0.0 differs from 0.0
		return false
	}
	return left.hasSameOrderAs(right)
}

// IsDecided reports whether IsAlwaysExact is true for an expression and all its operands.
func (d FloatAnalysis) IsDecided(expr Expr) bool { return expr == nil || Every(expr, d.IsAlwaysExact) }

// Range returns bounds of an Int expression that hold in every state in which it has a value.
func (d FloatAnalysis) Range(expr Expr) (low, high float64) {
	analysis := numberAnalysis{vars: d.vars}
	bounds := analysis.intRange(expr)
	return bounds.low, bounds.high
}

// Doubtful returns the expressions, among an expression and all its operands, that float64 arithmetic may evaluate wrongly.
func (d FloatAnalysis) Doubtful(expr Expr) []Expr {
	var doubtful []Expr
	Inspect(expr, func(expr Expr) bool {
		if !d.IsAlwaysExact(expr) {
			doubtful = append(doubtful, expr)
		}
		return true
	})
	return doubtful
}

// OperandError returns a bound on the sum of the float64 errors of an expression's operands.
func (d FloatAnalysis) OperandError(expr Expr) float64 {
	sum := 0.0
	VisitOperands(expr, func(operand Expr) { sum += d.Error(operand) })
	return roundingMargin * sum
}

// interval is an interval of float64 numbers.
type interval struct{ low, high float64 }

// point returns the interval that contains one number.
func point(number float64) interval { return interval{number, number} }

// unboundedInterval returns the interval that contains all numbers.
func unboundedInterval() interval { return interval{math.Inf(-1), math.Inf(1)} }

// numberAnalysis caches facts about the numbers in an expression.
type numberAnalysis struct {
	vars        []Variable
	numbers     Memo[NumberFacts]
	quotients   Memo[quotient]
	ranges      Memo[interval]
	multiplesOf Memo[multiples]
}

// quotient describes a number that float64 arithmetic computes as a rounded quotient of two integers, with |numerator| <= num and 0 <=
// |denominator| <= den. ok is false if nothing is known.
type quotient struct {
	isKnown                bool
	isExact                bool // den is the denominator and a power of two, so nothing is rounded
	numerator, denominator float64
	mayBeNegative          bool // the number may be negative
	mayBeMinusZero         bool // the float64 may be -0.0
}

const exactLimit = 1 << 53

// dyadicQuotient returns the quotient of an integer of at most numerator, in absolute value, and denominator, a power of two. A
// float64 represents it exactly. negative and minusZero say that the number can be negative, and that it can be -0.0.
func dyadicQuotient(numerator, denominator float64, negative, minusZero bool) quotient {
	areExact := numerator <= exactLimit && denominator <= exactLimit
	if !areExact {
		return quotient{}
	}
	return quotient{isKnown: true, isExact: true, numerator: numerator, denominator: denominator, mayBeNegative: negative, mayBeMinusZero: minusZero}
}

// hasSameOrderAs reports whether the float64 values of two numbers compare as the exact numbers do.
func (first quotient) hasSameOrderAs(second quotient) bool {
	switch {
	case !first.isKnown || !second.isKnown:
		return false
	case first.isExact && second.isExact:
		return true
	}
	// Rounding is monotonic, so equal numbers have equal float64 values. Unequal numbers p/q and r/s differ by at least 1/(q*s).
	// This must exceed both rounding errors, which are at most 2^-53 of the numbers.
	smaller := min(first.maxAbs(), second.maxAbs())
	const margin = 1 << 50
	return first.denominator*second.denominator*max(smaller, 1) <= margin
}

// maxAbs returns a bound on the absolute value of the number.
func (q quotient) maxAbs() float64 {
	if q.isExact {
		return q.numerator / q.denominator
	}
	return q.numerator // the denominator may be as small as 1
}

// quotientOf returns the cached result of computeQuotient.
func (n *numberAnalysis) quotientOf(expr Expr) quotient {
	if result, ok := n.quotients.Get(expr); ok {
		return result
	}
	return n.quotients.Put(expr, n.computeQuotient(expr))
}

// computeQuotient finds two integers whose quotient, rounded once, is the float64 value of an expression, and returns bounds on them. It returns
// the zero quotient if it finds no such integers.
func (n *numberAnalysis) computeQuotient(expr Expr) quotient {
	if expr.Type() == Int {
		bounds, denominator, mayBeMinusZero := n.intRange(expr), 1.0, false
		return dyadicQuotient(bounds.maxAbs(), denominator, bounds.low < 0, mayBeMinusZero)
	}
	switch expr := expr.(type) {
	case *Const:
		return constQuotient(expr.Val)
	case *Unary:
		result := n.quotientOf(expr.X)
		result.mayBeNegative, result.mayBeMinusZero = true, true
		return result
	case *Binary:
		return binaryQuotient(expr.Op, n.quotientOf(expr.X), n.quotientOf(expr.Y))
	case *Cond:
		return eitherQuotient(n.quotientOf(expr.Then), n.quotientOf(expr.Else))
	case *Call:
		if expr.Func != FuncMin && expr.Func != FuncMax {
			return quotient{}
		}
		result := n.quotientOf(expr.Args[0])
		for _, arg := range expr.Args[1:] {
			result = eitherQuotient(result, n.quotientOf(arg))
		}
		return result
	}
	return quotient{}
}

// constQuotient describes a constant as a quotient of integers. It returns the zero quotient, which is not known, if the float64 value of the
// constant is rounded.
func constQuotient(value Value) quotient {
	if value.Rat == nil || math.IsInf(value.Float, 0) {
		return quotient{}
	}
	isExact := new(big.Rat).SetFloat64(value.Float).Cmp(value.Rat) == 0
	if !isExact {
		return quotient{}
	}
	numerator, _ := new(big.Float).SetInt(value.Rat.Num()).Float64()
	denominator, _ := new(big.Float).SetInt(value.Rat.Denom()).Float64()
	isNegative := math.Signbit(value.Float)
	return dyadicQuotient(math.Abs(numerator), denominator, isNegative, isNegative && value.Float == 0)
}

// binaryQuotient describes the result of an arithmetic operation as a quotient of integers. Both operands must be exact in float64 arithmetic.
func binaryQuotient(op syntax.Op, left, right quotient) quotient {
	if !left.isKnown || !right.isKnown || !left.isExact || !right.isExact {
		return quotient{}
	}
	if op == syntax.OpAdd || op == syntax.OpSub {
		denominator := max(left.denominator, right.denominator) // the common denominator, because both are powers of two
		numerator := left.numerator*(denominator/left.denominator) + right.numerator*(denominator/right.denominator)
		mayBeNegative := op == syntax.OpSub || left.mayBeNegative || right.mayBeNegative
		return dyadicQuotient(numerator, denominator, mayBeNegative, left.mayBeMinusZero)
	}
	mayBeNegative := left.mayBeNegative || right.mayBeNegative || left.mayBeMinusZero || right.mayBeMinusZero
	switch op {
	case syntax.OpMul:
		return dyadicQuotient(left.numerator*right.numerator, left.denominator*right.denominator, mayBeNegative, mayBeNegative)
	case syntax.OpDiv:
		numerator, denominator := left.numerator*right.denominator, left.denominator*right.numerator
		areExact := numerator <= exactLimit && denominator <= exactLimit
		return quotient{isKnown: areExact, numerator: numerator, denominator: denominator, mayBeNegative: mayBeNegative, mayBeMinusZero: mayBeNegative}
	}
	return quotient{}
}

// eitherQuotient describes a number that is one of two numbers, as a quotient of integers. Both numbers must be exact in float64 arithmetic.
func eitherQuotient(left, right quotient) quotient {
	if !left.isKnown || !right.isKnown || !left.isExact || !right.isExact {
		return quotient{}
	}
	denominator := max(left.denominator, right.denominator) // the common denominator, because both are powers of two
	numerator := max(left.numerator*(denominator/left.denominator), right.numerator*(denominator/right.denominator))
	return dyadicQuotient(numerator, denominator, left.mayBeNegative || right.mayBeNegative, left.mayBeMinusZero || right.mayBeMinusZero)
}

// intRange returns bounds of an Int expression.
func (n *numberAnalysis) intRange(expr Expr) interval {
	if bounds, ok := n.ranges.Get(expr); ok {
		return bounds
	}
	return n.ranges.Put(expr, n.computeIntRange(expr))
}

// computeIntRange returns bounds of an Int expression that hold in every state.
func (n *numberAnalysis) computeIntRange(expr Expr) interval {
	int32Range := interval{math.MinInt32, math.MaxInt32}
	result := int32Range
	switch expr := expr.(type) {
	case *Const:
		return point(float64(expr.Val.Int))
	case *Var:
		variable := &n.vars[expr.Slot]
		return interval{float64(variable.Low), float64(variable.High)}
	case *Unary:
		bounds := n.intRange(expr.X)
		result = interval{-bounds.high, -bounds.low}
	case *Binary:
		result = operationRange(expr.Op, n.intRange(expr.X), n.intRange(expr.Y))
	case *Cond:
		thenRange, elseRange := n.intRange(expr.Then), n.intRange(expr.Else)
		result = interval{min(thenRange.low, elseRange.low), max(thenRange.high, elseRange.high)}
	case *Call:
		result = n.callRange(expr)
	}
	return interval{max(result.low, int32Range.low), min(result.high, int32Range.high)}
}

// operationRange returns bounds of left+right, left-right or left*right, by interval arithmetic. The caller cuts off bounds beyond 32 bits, so
// their rounding does not matter.
func operationRange(op syntax.Op, left, right interval) interval {
	switch op {
	case syntax.OpAdd:
		return interval{left.low + right.low, left.high + right.high}
	case syntax.OpSub:
		return interval{left.low - right.high, left.high - right.low}
	case syntax.OpMul:
		lowLow, lowHigh := left.low*right.low, left.low*right.high
		highLow, highHigh := left.high*right.low, left.high*right.high
		return interval{min(lowLow, lowHigh, highLow, highHigh), max(lowLow, lowHigh, highLow, highHigh)}
	}
	return unboundedInterval()
}

// callRange returns bounds of a call of min, max or mod that hold in every state. It returns an unbounded interval for other functions.
func (n *numberAnalysis) callRange(expr *Call) interval {
	switch expr.Func {
	case FuncMod: // the remainder is less than the divisor
		return interval{0, n.intRange(expr.Args[1]).high}
	case FuncMin, FuncMax:
	default:
		return unboundedInterval()
	}
	result := n.intRange(expr.Args[0])
	for _, arg := range expr.Args[1:] {
		bounds := n.intRange(arg)
		if expr.Func == FuncMin {
			result = interval{min(result.low, bounds.low), min(result.high, bounds.high)}
		} else {
			result = interval{max(result.low, bounds.low), max(result.high, bounds.high)}
		}
	}
	return result
}

// maxAbs returns the largest absolute value.
func (x interval) maxAbs() float64 { return max(math.Abs(x.low), math.Abs(x.high)) }
