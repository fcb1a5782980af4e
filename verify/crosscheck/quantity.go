package crosscheck

import (
	"cmp"
	"math"
	"math/big"
)

// probabilityTolerance is the greatest relative difference of equal float64 numbers: writing them to a file and summing in
// another order can change them.
const probabilityTolerance = 1e-9

// quantity is a probability, rate or reward. If fractions are compared it is the fraction r (nil is zero), otherwise
// the float64 f.
type quantity struct {
	float    float64
	fraction *big.Rat
}

// rat returns the fraction; zero if it is nil.
func (q quantity) rat() *big.Rat { return cmp.Or(q.fraction, new(big.Rat)) }

// plus returns q+p.
func (q quantity) plus(p quantity) quantity {
	if q.fraction == nil && p.fraction == nil {
		return quantity{float: q.float + p.float}
	}
	return quantity{fraction: new(big.Rat).Add(q.rat(), p.rat())}
}

// times returns q*p.
func (q quantity) times(p quantity) quantity {
	if q.fraction == nil && p.fraction == nil {
		return quantity{float: q.float * p.float}
	}
	return quantity{fraction: new(big.Rat).Mul(q.rat(), p.rat())}
}

// equal reports whether two quantities are equal: fractions exactly, float64 numbers up to probabilityTolerance.
func (q quantity) equal(p quantity) bool {
	if q.fraction == nil && p.fraction == nil {
		return q.float == p.float || math.Abs(q.float-p.float) <= probabilityTolerance*max(math.Abs(q.float), math.Abs(p.float))
	}
	return q.rat().Cmp(p.rat()) == 0
}

// dividedBy returns q/p; p must not be zero.
func (q quantity) dividedBy(p quantity) quantity {
	if q.fraction == nil && p.fraction == nil {
		return quantity{float: q.float / p.float}
	}
	return quantity{fraction: new(big.Rat).Quo(q.rat(), p.rat())}
}

// String returns the number in the shortest form.
func (q quantity) String() string {
	if q.fraction != nil {
		return q.fraction.RatString()
	}
	return number(q.float)
}
