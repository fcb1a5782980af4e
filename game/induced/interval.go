package induced

import (
	"math"
	"math/big"
)

// Interval is an interval that contains a non-negative number.
type Interval struct{ Lo, Hi float64 }

// Width returns the difference of the ends.
func (x Interval) Width() float64 { return x.Hi - x.Lo }

// Contains reports whether a number is in the interval.
func (x Interval) Contains(r *big.Rat) bool {
	lo, hi := new(big.Rat).SetFloat64(x.Lo), new(big.Rat).SetFloat64(x.Hi)
	return r.Cmp(lo) >= 0 && r.Cmp(hi) <= 0
}

// intervalOf returns an interval around r: a single number if r is a float64, otherwise one that is at most three float64 wide.
func intervalOf(r *big.Rat) Interval {
	x, exact := r.Float64()
	if exact {
		return Interval{x, x}
	}
	return Interval{down(x), up(x)}
}

// add returns an interval for the sum, rounded outwards: a floating-point sum has an error of at most half a unit in the last place.
func (x Interval) add(y Interval) Interval {
	switch {
	case x.Hi == 0:
		return y
	case y.Hi == 0:
		return x
	}
	return Interval{down(x.Lo + y.Lo), up(x.Hi + y.Hi)}
}

func (x Interval) mul(y Interval) Interval {
	if x.Hi == 0 || y.Hi == 0 {
		return Interval{}
	}
	return Interval{down(x.Lo * y.Lo), up(x.Hi * y.Hi)}
}

func down(x float64) float64 { return max(0, math.Nextafter(x, 0)) }

func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
