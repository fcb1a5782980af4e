package crosscheck

import (
	"cmp"
	"math"
	"math/big"
)

// probabilityTolerance is the greatest relative difference of equal float64 numbers: writing them to a file and summing in
// another order can change them.
const probabilityTolerance = 1e-9

// quantity is a probability, rate or reward. If fractions are compared, its value is in the field fraction, where nil means
// zero; otherwise it is in the field float.
type quantity struct {
	float    float64
	fraction *big.Rat
}

// asRat returns the fraction; zero if it is nil.
func (q quantity) asRat() *big.Rat { return cmp.Or(q.fraction, new(big.Rat)) }

// plus returns the sum of two quantities.
func (q quantity) plus(other quantity) quantity {
	if q.fraction == nil && other.fraction == nil {
		return quantity{float: q.float + other.float}
	}
	return quantity{fraction: new(big.Rat).Add(q.asRat(), other.asRat())}
}

// times returns the product of two quantities.
func (q quantity) times(other quantity) quantity {
	if q.fraction == nil && other.fraction == nil {
		return quantity{float: q.float * other.float}
	}
	return quantity{fraction: new(big.Rat).Mul(q.asRat(), other.asRat())}
}

// equal reports whether two quantities are equal. Fractions must be exactly equal, and float64 numbers equal up to the relative error
// probabilityTolerance.
func (q quantity) equal(other quantity) bool {
	if q.fraction == nil && other.fraction == nil {
		return q.float == other.float || math.Abs(q.float-other.float) <= probabilityTolerance*max(math.Abs(q.float), math.Abs(other.float))
	}
	return q.asRat().Cmp(other.asRat()) == 0
}

// dividedBy returns the quotient of two quantities. The divisor, other, must not be zero.
func (q quantity) dividedBy(other quantity) quantity {
	if q.fraction == nil && other.fraction == nil {
		return quantity{float: q.float / other.float}
	}
	return quantity{fraction: new(big.Rat).Quo(q.asRat(), other.asRat())}
}

// String returns the quantity in its shortest form, such as 1/3 or 0.25.
func (q quantity) String() string {
	if q.fraction != nil {
		return q.fraction.RatString()
	}
	return number(q.float)
}
