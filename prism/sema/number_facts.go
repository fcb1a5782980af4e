package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// MaxRelErr is the largest accepted relative error of a float64 value. A number with a larger error is computed with fractions.
const MaxRelErr = 0x1p-40

// The range of float64 numbers whose products of a few are neither infinite nor subnormal.
const (
	minMagnitude = 0x1p-900
	maxMagnitude = 0x1p+900
)

// UnitRoundoff is the largest relative error of rounding a number to float64.
const UnitRoundoff = 0x1p-53

// NumberFacts describes the value of a numeric expression, in every state in which it has a value.
type NumberFacts struct {
	// Lo and Hi bound the float64 value. Float64 operations are monotonic, so the bounds of an operation's result need no
	// rounding outwards.
	Lo, Hi float64
	// MinAbs is a lower bound on the absolute value of the float64 value, if that is not zero; 0 if none is known.
	MinAbs float64
	// AbsErr bounds the difference of the float64 value and the exact value. It is infinite if no bound is known.
	AbsErr float64
	// RelErr bounds the difference relative to the exact value. It is NaN if no bound of at most MaxRelErr is known, or if the
	// value may be outside the range of float64. If it is known, the float64 value has the sign of the exact value.
	RelErr float64
}

// unknownFacts says that nothing is known about an expression.
func unknownFacts() NumberFacts {
	return NumberFacts{Lo: math.Inf(-1), Hi: math.Inf(1), AbsErr: math.Inf(1), RelErr: math.NaN()}
}

// SingleValue returns the facts of a float64 number with a known relative error and an unknown absolute error.
func SingleValue(value, relErr float64) NumberFacts {
	facts := NumberFacts{Lo: value, Hi: value, MinAbs: math.Abs(value), AbsErr: math.Inf(1), RelErr: relErr}
	if value == 0 {
		facts.MinAbs = math.Inf(1) // there is no value other than zero
	}
	return facts
}

// maxAbs returns the largest possible absolute value.
func (x NumberFacts) maxAbs() float64 { return max(math.Abs(x.Lo), math.Abs(x.Hi)) }

// withSmallRelErr replaces the relative error by NaN (unknown) if it exceeds MaxRelErr, or if the value may be near overflow or underflow.
func (x NumberFacts) withSmallRelErr() NumberFacts {
	isSmall := x.RelErr <= MaxRelErr // false for NaN
	isInRange := x.maxAbs() <= maxMagnitude && x.MinAbs >= minMagnitude
	if !isSmall || !isInRange {
		x.RelErr = math.NaN()
	}
	return x
}

// Either returns facts that hold for both numbers, and for their minimum and maximum. Float64 arithmetic picks the wrong number only if the
// difference of the numbers is within their errors.
func (x NumberFacts) Either(y NumberFacts) NumberFacts {
	return NumberFacts{
		Lo: min(x.Lo, y.Lo), Hi: max(x.Hi, y.Hi), MinAbs: min(x.MinAbs, y.MinAbs),
		AbsErr: max(x.AbsErr, y.AbsErr),
		RelErr: max(x.RelErr, y.RelErr), // the maximum of NaN and another number is NaN
	}
}

// Facts returns the facts of a numeric expression; nil stands for the constant 1.
func (d FloatAnalysis) Facts(expr Expr) NumberFacts {
	if expr == nil {
		return NumberFacts{Lo: 1, Hi: 1, MinAbs: 1, AbsErr: 0, RelErr: 0}
	}
	analysis := numberAnalysis{vars: d.vars}
	return analysis.numberFacts(expr)
}

// Error returns a bound on the difference between the float64 value of an expression and its exact value, in every state. It is infinite if no bound is known.
// A caller that adds the bound to a float64 value must also allow for the rounding of this sum.
func (d FloatAnalysis) Error(expr Expr) float64 {
	facts := d.Facts(expr)
	isBounded := facts.maxAbs() < math.MaxFloat64 // false for NaN
	switch {
	case !isBounded:
		return math.Inf(1)
	case facts.AbsErr == 0:
		return 0
	default:
		return facts.roundedAbsErr(facts.AbsErr)
	}
}

// roundedAbsErr returns a bound on the absolute error of a result x after its rounding. err is a bound on the error that comes from the errors of the operands
// alone.
func (x NumberFacts) roundedAbsErr(err float64) float64 {
	// The margin covers the rounding of the bound itself, and 2^-1000 covers underflow.
	bound := roundingMargin*err + 2*UnitRoundoff*x.maxAbs() + 0x1p-1000
	if math.IsNaN(bound) { // zero times an unknown error
		return math.Inf(1)
	}
	return bound
}

// roundedRelErr returns a bound on the relative error of a rounded result without underflow. err is the error that the operands cause.
func roundedRelErr(err float64) float64 { return roundingMargin * (err + UnitRoundoff) }

// numberFacts returns the cached result of computeNumber.
func (n *numberAnalysis) numberFacts(expr Expr) NumberFacts {
	if facts, ok := n.numbers.Get(expr); ok {
		return facts
	}
	return n.numbers.Put(expr, n.computeNumber(expr))
}

// computeNumber bounds the value of a numeric expression and its rounding errors, from the bounds of its operands.
func (n *numberAnalysis) computeNumber(expr Expr) NumberFacts {
	if expr.Type() == Int { // integer arithmetic is exact, or fails
		values := n.intRange(expr)
		return NumberFacts{Lo: values.low, Hi: values.high, MinAbs: max(1, values.low, -values.high)}
	}
	switch expr := expr.(type) {
	case *Const:
		return constantFacts(expr)
	case *Unary:
		facts := n.numberFacts(expr.X)
		facts.Lo, facts.Hi = -facts.Hi, -facts.Lo
		return facts
	case *Binary:
		return binaryFacts(expr.Op, n.numberFacts(expr.X), n.numberFacts(expr.Y)).withSmallRelErr()
	case *Cond:
		return n.numberFacts(expr.Then).Either(n.numberFacts(expr.Else))
	case *Call:
		if expr.Func != FuncMin && expr.Func != FuncMax {
			return unknownFacts()
		}
		facts := n.numberFacts(expr.Args[0])
		for _, arg := range expr.Args[1:] {
			facts = facts.Either(n.numberFacts(arg))
		}
		return facts
	}
	return unknownFacts()
}

// constantFacts returns the facts of a constant: its float64 value and the error of this value.
func constantFacts(constant *Const) NumberFacts {
	exact, err := Enclose(constant, nil)
	if err != nil {
		return unknownFacts()
	}
	floatValue := constant.Val.Float
	facts := SingleValue(floatValue, exact.RelativeError(floatValue))
	facts.AbsErr = exact.absoluteError(floatValue)
	return facts.withSmallRelErr()
}

// binaryFacts returns bounds of left op right and of its rounding errors, for an arithmetic operator.
func binaryFacts(op syntax.Op, left, right NumberFacts) NumberFacts {
	switch op {
	case syntax.OpAdd:
		return left.sum(right)
	case syntax.OpSub:
		right.Lo, right.Hi = -right.Hi, -right.Lo
		return left.sum(right)
	case syntax.OpMul:
		return left.product(right)
	case syntax.OpDiv:
		return left.quotient(right)
	}
	return unknownFacts()
}

// product returns bounds of the product of two numbers. Its relative error is about the sum of both relative errors.
func (left NumberFacts) product(right NumberFacts) NumberFacts {
	product := NumberFacts{
		Lo:     min(left.Lo*right.Lo, left.Lo*right.Hi, left.Hi*right.Lo, left.Hi*right.Hi),
		Hi:     max(left.Lo*right.Lo, left.Lo*right.Hi, left.Hi*right.Lo, left.Hi*right.Hi),
		MinAbs: left.MinAbs * right.MinAbs,
		RelErr: roundedRelErr(left.RelErr + right.RelErr),
	}
	absErr := left.maxAbs()*right.AbsErr + right.maxAbs()*left.AbsErr + left.AbsErr*right.AbsErr
	product.AbsErr = product.roundedAbsErr(absErr)
	return product
}

// quotient returns bounds of dividend/divisor. Its absolute error is bounded only if the divisor cannot be close to 0.
func (dividend NumberFacts) quotient(divisor NumberFacts) NumberFacts {
	quotient := NumberFacts{MinAbs: dividend.MinAbs / divisor.maxAbs(), AbsErr: math.Inf(1), RelErr: roundedRelErr(dividend.RelErr + divisor.RelErr)}
	switch {
	case divisor.Lo >= 0:
		quotient.Lo, quotient.Hi = dividend.rangeOfQuotient(max(divisor.Lo, divisor.MinAbs), divisor.Hi)
	case divisor.Hi <= 0:
		quotient.Lo, quotient.Hi = dividend.rangeOfQuotient(divisor.Lo, min(divisor.Hi, -divisor.MinAbs))
	default:
		quotient.Hi = dividend.maxAbs() / divisor.MinAbs
		quotient.Lo = -quotient.Hi
	}
	minDivisor := max(divisor.Lo, -divisor.Hi) // least absolute value of the divisor; not positive if the divisor may be zero
	if minDivisor > 2*divisor.AbsErr {
		absErr := (dividend.AbsErr + quotient.maxAbs()*divisor.AbsErr) / (minDivisor - divisor.AbsErr)
		quotient.AbsErr = quotient.roundedAbsErr(absErr)
	}
	return quotient
}

// rangeOfQuotient returns bounds of x/divisor for all divisors between low and high, which have the same sign.
func (x NumberFacts) rangeOfQuotient(low, high float64) (lo, hi float64) {
	return min(x.Lo/low, x.Lo/high, x.Hi/low, x.Hi/high), max(x.Lo/low, x.Lo/high, x.Hi/low, x.Hi/high)
}

// sumMargin is a margin for the least absolute value of a sum, relative to the absolute values of its operands. It covers the relative
// errors of the operands, which are at most MaxRelErr (about 1e-12).
const sumMargin = 1e-9

// sum returns the facts of left+right. Its relative error is bounded unless cancellation may make the sum almost 0.
func (left NumberFacts) sum(right NumberFacts) NumberFacts {
	sum := NumberFacts{Lo: left.Lo + right.Lo, Hi: left.Hi + right.Hi, RelErr: math.NaN()}
	sum.AbsErr = sum.roundedAbsErr(left.AbsErr + right.AbsErr)
	haveSameSign := left.Lo >= 0 && right.Lo >= 0 || left.Hi <= 0 && right.Hi <= 0
	if haveSameSign {
		sum.MinAbs, sum.RelErr = min(left.MinAbs, right.MinAbs), roundedRelErr(max(left.RelErr, right.RelErr))
		return sum
	}
	// Cancellation may enlarge the relative error: the sum may be much smaller than the operands.
	operandMagnitude := left.maxAbs() + right.maxAbs()
	minMagnitude := max(sum.Lo, -sum.Hi) - sumMargin*operandMagnitude
	if minMagnitude > 0 {
		maxRelErr := (left.RelErr*left.maxAbs() + right.RelErr*right.maxAbs()) / minMagnitude
		sum.MinAbs, sum.RelErr = minMagnitude, roundedRelErr(maxRelErr)
	}
	return sum
}

// roundingMargin is a factor that makes an upper bound of a few float64 operations safe from their rounding errors.
const roundingMargin = 1.01

// RelativeError returns an upper bound on the relative difference between a float64 and the exact value. It is infinite if exactly one of them is
// 0, or if the float64 is not finite.
func RelativeError(float float64, exact *big.Rat) float64 {
	difference := distance(float, exact)
	switch {
	case difference == nil:
		return math.Inf(1)
	case difference.Sign() == 0:
		return 0
	case exact.Sign() == 0 || float == 0:
		return math.Inf(1)
	}
	quotient, _ := difference.Quo(difference, new(big.Rat).Abs(exact)).Float64()
	return roundingMargin * quotient
}

// distance returns the absolute difference of a float64 and a fraction. It returns nil if the float64 is not finite.
func distance(float float64, fraction *big.Rat) *big.Rat {
	difference := new(big.Rat).SetFloat64(float)
	if difference == nil {
		return nil
	}
	difference.Sub(difference, fraction)
	return difference.Abs(difference)
}

// RelativeError returns an upper bound on the relative difference between a float64 and the enclosed number. It is infinite if the enclosure
// contains both signs or is not finite.
func (x Enclosed) RelativeError(float float64) float64 {
	lo, hi, ok := x.Bounds()
	if !ok || lo.Sign() != hi.Sign() {
		return math.Inf(1)
	}
	return max(RelativeError(float, lo), RelativeError(float, hi))
}

// absoluteError returns an upper bound on the difference between a float64 and the enclosed number; infinite if a number is not finite.
func (x Enclosed) absoluteError(number float64) float64 {
	low, high, ok := x.Bounds()
	if !ok || math.IsInf(number, 0) || math.IsNaN(number) {
		return math.Inf(1)
	}
	fromLow, _ := distance(number, low).Float64()
	fromHigh, _ := distance(number, high).Float64()
	return roundingMargin * max(fromLow, fromHigh)
}
