package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// IsExactWithError reports whether OperandError is small enough to decide a comparison or rounding in every state. This holds if all numbers are
// multiples of a fraction much larger than the error. Two compared numbers are then equal if and only if their float64 values differ by at
// most the error. floor and round are exact for the float64 value plus the error, and ceil for the value minus the error.
func (d FloatAnalysis) IsExactWithError(expr Expr) bool {
	analysis := numberAnalysis{vars: d.vars}
	commonMultiples := multiples{1, 1}
	VisitOperands(expr, func(operand Expr) { commonMultiples = commonMultiples.sum(analysis.multiples(operand)) })
	if call, ok := expr.(*Call); ok && call.Func == FuncRound {
		commonMultiples = commonMultiples.sum(multiples{2, 1}) // round compares its operand with multiples of 1/2
	}
	// If two float64 values differ by at most the error, the numbers differ by at most twice the error.
	return 4*d.OperandError(expr)*commonMultiples.maxDenominator() <= 1
}

// multiples describes the denominators of the values of an expression. In each state, the value is numerator/(fixedPart*varyingFactor) for integers numerator
// and varyingFactor. Both integers depend on the state, and 1 <= varyingFactor <= maxVarying. An infinite field means that nothing is known.
type multiples struct{ fixedPart, maxVarying float64 }

// maxDenominator returns the largest denominator that the value may have in a state.
func (m multiples) maxDenominator() float64 { return m.fixedPart * m.maxVarying }

// sum describes the denominators of the sum or difference of two expressions.
func (m multiples) sum(other multiples) multiples {
	return multiples{leastMultiple(m.fixedPart, other.fixedPart), m.maxVarying * other.maxVarying}
}

// leastMultiple returns the least common multiple of two positive integers. It returns infinity if a number or the result exceeds exactLimit.
func leastMultiple(left, right float64) float64 {
	if !(left <= exactLimit && right <= exactLimit) {
		return math.Inf(1)
	}
	divisor, remainder := int64(left), int64(right)
	for remainder != 0 {
		divisor, remainder = remainder, divisor%remainder
	}
	if result := left / float64(divisor) * right; result <= exactLimit {
		return result
	}
	return math.Inf(1)
}

// multiples returns the cached result of computeMultiples.
func (n *numberAnalysis) multiples(expr Expr) multiples {
	if m, ok := n.multiplesOf.Get(expr); ok {
		return m
	}
	return n.multiplesOf.Put(expr, n.computeMultiples(expr))
}

// computeMultiples describes the denominators of the values of an expression. An integer has the denominator 1, and a rational constant its own denominator. For
// an operator, it combines the descriptions of the operands.
func (n *numberAnalysis) computeMultiples(expr Expr) multiples {
	if expr.Type() == Int {
		return multiples{1, 1}
	}
	switch expr := expr.(type) {
	case *Const:
		if expr.Val.Rat == nil {
			return unknownMultiples()
		}
		return multiples{exactFloat(expr.Val.Rat.Denom()), 1}
	case *Unary:
		return n.multiples(expr.X)
	case *Cond:
		return n.multiples(expr.Then).union(n.multiples(expr.Else))
	case *Call:
		if expr.Func != FuncMin && expr.Func != FuncMax {
			return unknownMultiples()
		}
		result := n.multiples(expr.Args[0])
		for _, arg := range expr.Args[1:] {
			result = result.union(n.multiples(arg))
		}
		return result
	case *Binary:
		return n.binaryMultiples(expr)
	}
	return unknownMultiples()
}

// unknownMultiples describes an expression if nothing is known about the denominators of its values.
func unknownMultiples() multiples { return multiples{math.Inf(1), math.Inf(1)} }

// binaryMultiples describes the denominators of the results of an infix operator.
func (n *numberAnalysis) binaryMultiples(expr *Binary) multiples {
	left := n.multiples(expr.X)
	switch expr.Op {
	case syntax.OpAdd, syntax.OpSub:
		return left.sum(n.multiples(expr.Y))
	case syntax.OpMul:
		right := n.multiples(expr.Y)
		return multiples{left.fixedPart * right.fixedPart, left.maxVarying * right.maxVarying}
	case syntax.OpDiv:
		return n.quotientMultiples(left, expr.Y)
	}
	return unknownMultiples()
}

// quotientMultiples describes the denominators of the quotient dividend/divisor. The numerator of the divisor becomes a factor of the denominator: of the fixed
// part if the divisor is a constant, and otherwise of the varying factor.
func (n *numberAnalysis) quotientMultiples(dividend multiples, divisor Expr) multiples {
	if constant, ok := divisor.(*Const); ok && constant.Val.Rat != nil && constant.Val.Rat.Sign() != 0 {
		return multiples{dividend.fixedPart * exactFloat(new(big.Int).Abs(constant.Val.Rat.Num())), dividend.maxVarying}
	}
	divisorFacts := n.numberFacts(divisor)
	maxDivisor := divisorFacts.maxAbs() + divisorFacts.AbsErr
	maxNumerator := math.Ceil(roundingMargin * maxDivisor * n.multiples(divisor).maxDenominator())
	return multiples{dividend.fixedPart, dividend.maxVarying * maxNumerator}
}

// union describes the denominators of an expression whose value in each state is the value of one of two expressions.
func (m multiples) union(other multiples) multiples {
	return multiples{leastMultiple(m.fixedPart, other.fixedPart), max(m.maxVarying, other.maxVarying)}
}

// exactFloat returns an integer as a float64; infinity if it is larger than exactLimit.
func exactFloat(i *big.Int) float64 {
	if !i.IsInt64() || i.Int64() > exactLimit {
		return math.Inf(1)
	}
	return float64(i.Int64())
}
