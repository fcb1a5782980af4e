package interval

import "math/big"

// Number is a number in an interval. Exact is the number as a fraction, and nil if the fraction is not known or the number is infinite.
type Number struct {
	Interval
	Exact *big.Rat
}

// Fraction returns a number that is known exactly, in the smallest interval around it.
func Fraction(r *big.Rat) Number { return Number{Around(r), r} }

// Nearest returns the float64 nearest to the exact number, or the middle of the interval if the fraction is not known.
func (x Number) Nearest() float64 {
	if x.Exact != nil {
		nearest, _ := x.Exact.Float64()
		return nearest
	}
	return x.Lo + x.Width()/2
}

// MayEqual reports whether two numbers are equal; if a fraction is not known, whether the intervals have a number in common.
func (x Number) MayEqual(other Number) bool {
	if x.Exact != nil && other.Exact != nil {
		return x.Exact.Cmp(other.Exact) == 0
	}
	return x.Lo <= other.Hi && other.Lo <= x.Hi
}
