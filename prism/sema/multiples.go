package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// SlackDecides reports whether the doubles of an expression that Decide denies
// decide it together with Slack, in every state in which it has a value. Two
// numbers that are compared are then equal wherever their doubles are within
// Slack of each other, and a number that is rounded is then the floor of its
// double plus Slack, the ceiling of its double minus Slack, or what its double
// plus Slack is rounded to: all numbers are multiples of some fraction that is
// large beside Slack.
func (d Doubles) SlackDecides(e Expr) bool {
	n := numbers{vars: d.vars}
	m := multiples{1, 1}
	Operands(e, func(x Expr) { m = m.sum(n.multiples(x)) })
	if c, ok := e.(*Call); ok && c.Func == FuncRound {
		m = m.sum(multiples{2, 1}) // it rounds at halves
	}
	// What doubles have within Slack is within twice that.
	return 4*d.Slack(e)*m.most() <= 1
}

// multiples says that a number is an integer divided by fixed*v, for an integer v
// from 1 to varying that depends on the state. Nothing is known if one is infinite.
type multiples struct{ fixed, varying float64 }

func (m multiples) most() float64 { return m.fixed * m.varying }

// sum returns what is known of the sum or difference of two numbers.
func (m multiples) sum(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), m.varying * o.varying}
}

// leastMultiple returns the least common multiple of two integers from 1 to
// exactLimit, infinity if it is larger.
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

// multiples analyses a number.
func (n *numbers) multiples(e Expr) multiples {
	if m, ok := n.grains.Get(e); ok {
		return m
	}
	return n.grains.Put(e, n.newMultiples(e))
}

func (n *numbers) newMultiples(e Expr) multiples {
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
			return n.quotient(x, e.Y)
		}
	}
	return unknown
}

// quotient divides by the numerator of a number, which becomes part of the denominator.
func (n *numbers) quotient(x multiples, divisor Expr) multiples {
	if c, ok := divisor.(*Const); ok && c.Val.Rat != nil && c.Val.Rat.Sign() != 0 {
		return multiples{x.fixed * exactly(new(big.Int).Abs(c.Val.Rat.Num())), x.varying}
	}
	y, size := n.multiples(divisor), n.size(divisor)
	return multiples{x.fixed, x.varying * math.Ceil(1.01*(size.most+size.err)*y.most())}
}

// either returns what is known of one of two numbers.
func (m multiples) either(o multiples) multiples {
	return multiples{leastMultiple(m.fixed, o.fixed), max(m.varying, o.varying)}
}

// exactly returns an integer, infinity if not every integer of its size is a double.
func exactly(i *big.Int) float64 {
	if !i.IsInt64() || i.Int64() > exactLimit {
		return math.Inf(1)
	}
	return float64(i.Int64())
}
