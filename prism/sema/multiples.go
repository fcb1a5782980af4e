package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// ErrorDecides reports whether an expression for which Decide is false can be decided from float64
// values and OperandError, in every state in which it has a value. This is so if all numbers in it
// are multiples of a fraction that is large compared with the error. Then two compared numbers are
// equal if and only if their float64 values are within the error; and floor rounds the float64
// value plus the error, ceil the value minus the error, and round the value plus the error.
func (d FloatAnalysis) ErrorDecides(e Expr) bool {
	n := numberAnalysis{vars: d.vars}
	m := multiples{1, 1}
	Operands(e, func(x Expr) { m = m.sum(n.multiples(x)) })
	if c, ok := e.(*Call); ok && c.Func == FuncRound {
		m = m.sum(multiples{2, 1}) // it rounds at halves
	}
	// Numbers whose float64 values are within the error are within twice the error.
	return 4*d.OperandError(e)*m.most() <= 1
}

// multiples says that a number is an integer divided by fixed*v, where v is an integer from 1 to
// varying that depends on the state. An infinite field means that nothing is known.
type multiples struct{ fixed, varying float64 }

func (m multiples) most() float64 { return m.fixed * m.varying }

// sum describes the sum or difference of two numbers.
func (m multiples) sum(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), m.varying * o.varying}
}

// leastMultiple returns the least common multiple of two integers from 1 to exactLimit; infinity
// if it is larger than exactLimit.
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

// multiples analyses an expression.
func (n *numberAnalysis) multiples(e Expr) multiples {
	if m, ok := n.multiplesOf.Get(e); ok {
		return m
	}
	return n.multiplesOf.Put(e, n.newMultiples(e))
}

func (n *numberAnalysis) newMultiples(e Expr) multiples {
	unknown := multiples{math.Inf(1), math.Inf(1)}
	if e.Type() == Int {
		return multiples{1, 1}
	}
	switch e := e.(type) {
	case *Const:
		if e.Val.Rat == nil {
			return unknown
		}
		return multiples{exactly(e.Val.Rat.Denom()), 1}
	case *Unary:
		return n.multiples(e.X)
	case *Cond:
		return n.multiples(e.A).either(n.multiples(e.B))
	case *Call:
		if e.Func != FuncMin && e.Func != FuncMax {
			return unknown
		}
		m := n.multiples(e.Args[0])
		for _, a := range e.Args[1:] {
			m = m.either(n.multiples(a))
		}
		return m
	case *Binary:
		x := n.multiples(e.X)
		switch e.Op {
		case syntax.OpAdd, syntax.OpSub:
			return x.sum(n.multiples(e.Y))
		case syntax.OpMul:
			y := n.multiples(e.Y)
			return multiples{x.fixed * y.fixed, x.varying * y.varying}
		case syntax.OpDiv:
			return n.divided(x, e.Y)
		}
	}
	return unknown
}

// divided describes x divided by another number, whose numerator becomes part of the denominator.
func (n *numberAnalysis) divided(x multiples, divisor Expr) multiples {
	if c, ok := divisor.(*Const); ok && c.Val.Rat != nil && c.Val.Rat.Sign() != 0 {
		return multiples{x.fixed * exactly(new(big.Int).Abs(c.Val.Rat.Num())), x.varying}
	}
	y, magnitude := n.multiples(divisor), n.magnitude(divisor)
	return multiples{x.fixed, x.varying * math.Ceil(1.01*(magnitude.most+magnitude.err)*y.most())}
}

// either describes a number that is one of two numbers.
func (m multiples) either(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), max(m.varying, o.varying)}
}

// exactly returns an integer as float64; infinity if it is too large to be exact.
func exactly(i *big.Int) float64 {
	if !i.IsInt64() || i.Int64() > exactLimit {
		return math.Inf(1)
	}
	return float64(i.Int64())
}
