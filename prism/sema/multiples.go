package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// ErrorDecides reports whether an expression for which Decide is false can be decided from float64
// values and OperandError, in every state in which it has a value. That is so if all numbers in it
// are multiples of a fraction that is large compared with the error. Then two compared numbers are
// equal if and only if their float64 values differ by at most the error. Likewise floor and round
// are the rounding of the float64 value plus the error, and ceil is that of the value minus the error.
func (d FloatAnalysis) ErrorDecides(e Expr) bool {
	analysis := numberAnalysis{vars: d.vars}
	common := multiples{1, 1}
	Operands(e, func(x Expr) { common = common.sum(analysis.multiples(x)) })
	if c, ok := e.(*Call); ok && c.Func == FuncRound {
		common = common.sum(multiples{2, 1}) // it rounds at halves
	}
	// If two float64 values differ by at most the error, the numbers differ by at most twice the error.
	return 4*d.OperandError(e)*common.maxDenominator() <= 1
}

// multiples says that a number is an integer divided by fixed*v, where the integer v depends on the
// state and is between 1 and varying. An infinite field means that nothing is known.
type multiples struct{ fixed, varying float64 }

// maxDenominator returns the largest denominator that the number may have.
func (m multiples) maxDenominator() float64 { return m.fixed * m.varying }

// sum describes the sum or difference of two numbers.
func (m multiples) sum(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), m.varying * o.varying}
}

// leastMultiple returns the least common multiple of two integers, infinity if it is larger than
// exactLimit.
func leastMultiple(x, y float64) float64 {
	if !(x <= exactLimit && y <= exactLimit) {
		return math.Inf(1)
	}
	a, b := int64(x), int64(y)
	for b != 0 {
		a, b = b, a%b
	}
	if z := x / float64(a) * y; z <= exactLimit {
		return z
	}
	return math.Inf(1)
}

// multiples returns the cached result of computeMultiples.
func (n *numberAnalysis) multiples(e Expr) multiples {
	if m, ok := n.multiplesOf.Get(e); ok {
		return m
	}
	return n.multiplesOf.Put(e, n.computeMultiples(e))
}

// computeMultiples determines the denominators that a number may have.
func (n *numberAnalysis) computeMultiples(e Expr) multiples {
	unknown := multiples{math.Inf(1), math.Inf(1)}
	if e.Type() == Int {
		return multiples{1, 1}
	}
	switch e := e.(type) {
	case *Const:
		if e.Val.Rat == nil {
			return unknown
		}
		return multiples{exactFloat(e.Val.Rat.Denom()), 1}
	case *Unary:
		return n.multiples(e.X)
	case *Cond:
		return n.multiples(e.Then).either(n.multiples(e.Else))
	case *Call:
		if e.Func != FuncMin && e.Func != FuncMax {
			return unknown
		}
		result := n.multiples(e.Args[0])
		for _, a := range e.Args[1:] {
			result = result.either(n.multiples(a))
		}
		return result
	case *Binary:
		x := n.multiples(e.X)
		switch e.Op {
		case syntax.OpAdd, syntax.OpSub:
			return x.sum(n.multiples(e.Y))
		case syntax.OpMul:
			y := n.multiples(e.Y)
			return multiples{x.fixed * y.fixed, x.varying * y.varying}
		case syntax.OpDiv:
			return n.quotientMultiples(x, e.Y)
		}
	}
	return unknown
}

// quotientMultiples describes x divided by an expression, whose numerator becomes a factor of the
// denominator.
func (n *numberAnalysis) quotientMultiples(x multiples, divisor Expr) multiples {
	if c, ok := divisor.(*Const); ok && c.Val.Rat != nil && c.Val.Rat.Sign() != 0 {
		return multiples{x.fixed * exactFloat(new(big.Int).Abs(c.Val.Rat.Num())), x.varying}
	}
	y, magnitude := n.multiples(divisor), n.magnitude(divisor)
	return multiples{x.fixed, x.varying * math.Ceil(1.01*(magnitude.maxAbs+magnitude.err)*y.maxDenominator())}
}

// either describes a number that is one of two numbers.
func (m multiples) either(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), max(m.varying, o.varying)}
}

// exactFloat returns an integer as a float64, infinity if it is too large to be exact.
func exactFloat(i *big.Int) float64 {
	if !i.IsInt64() || i.Int64() > exactLimit {
		return math.Inf(1)
	}
	return float64(i.Int64())
}
