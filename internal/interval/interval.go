// Package interval has intervals of float64 numbers that contain a number which is not known exactly, and their arithmetic. Every
// operation rounds outwards, so that the result contains the result of the operation on the numbers.
//
// It is not for intervals of probabilities in models, and not for confidence intervals (package stats).
package interval

import (
	"math"
	"math/big"
)

// Interval is a closed interval of numbers.
type Interval struct{ Lo, Hi float64 }

// Point returns the interval that contains only x.
func Point(x float64) Interval { return Interval{x, x} }

// Around returns the smallest interval that contains a fraction. If the fraction exceeds the range of float64, one
// end is infinite and the other is the largest finite number.
func Around(fraction *big.Rat) Interval {
	nearest, exact := fraction.Float64()
	switch {
	case exact:
		return Point(nearest)
	case math.IsInf(nearest, 0):
		largest := math.Copysign(math.MaxFloat64, nearest)
		return Interval{min(nearest, largest), max(nearest, largest)}
	case new(big.Rat).SetFloat64(nearest).Cmp(fraction) < 0:
		return Interval{nearest, Above(nearest)}
	default:
		return Interval{Below(nearest), nearest}
	}
}

// Between returns the smallest interval that contains all numbers from lower to upper. nil stands for infinity.
func Between(lower, upper *big.Rat) Interval {
	x := Point(math.Inf(1))
	if lower != nil {
		x.Lo = Around(lower).Lo
	}
	if upper != nil {
		x.Hi = Around(upper).Hi
	}
	return x
}

// Below returns the next smaller float64 number.
func Below(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// Above returns the next larger float64 number.
func Above(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// Contains reports whether x is in the interval.
func (x Interval) Contains(y float64) bool { return x.Lo <= y && y <= x.Hi }

// ContainsFraction reports whether r is in the interval, whose ends are finite.
func (x Interval) ContainsFraction(r *big.Rat) bool {
	return r.Cmp(new(big.Rat).SetFloat64(x.Lo)) >= 0 && r.Cmp(new(big.Rat).SetFloat64(x.Hi)) <= 0
}

// Width returns the difference of the ends.
func (x Interval) Width() float64 { return x.Hi - x.Lo }

// isZero reports whether the interval contains only zero.
func (x Interval) isZero() bool { return x.Lo == 0 && x.Hi == 0 }

// Plus returns an interval for the sum of two numbers.
func (x Interval) Plus(summand Interval) Interval {
	switch {
	case x.isZero():
		return summand
	case summand.isZero():
		return x
	}
	return Interval{Below(x.Lo + summand.Lo), Above(x.Hi + summand.Hi)}
}

// Times returns an interval for the product of two numbers of at least zero.
func (x Interval) Times(factor Interval) Interval {
	if x.isZero() || factor.isZero() {
		return Interval{}
	}
	return Interval{max(0, Below(x.Lo*factor.Lo)), Above(x.Hi * factor.Hi)}
}
