package solve

import (
	"math"
	"math/big"
)

// doubleWord is an unevaluated sum hi + lo of two float64, with |lo| at most half an ulp of hi. All
// values here are nonnegative.
//
// Source: Dekker (1971); error bounds 3u^2, 5u^2 and 15u^2 with u = 2^-53 from Joldes, Muller and
// Popescu, Tight and rigorous error bounds for basic building blocks of double-word arithmetic (2017).
type doubleWord struct{ hi, lo float64 }

// doubleWordUnit exceeds the relative error of one operation, for results of at least
// doubleWordFloor.
const (
	doubleWordUnit  = 0x1p-102
	doubleWordFloor = 0x1p-900
)

// newDoubleWord rounds a fraction to a double-word number.
func newDoubleWord(fraction *big.Rat) doubleWord {
	hi, isExact := fraction.Float64()
	if isExact || math.IsInf(hi, 0) {
		return doubleWord{hi, 0}
	}
	remainder := new(big.Rat).SetFloat64(hi)
	remainder.Sub(fraction, remainder)
	lo, _ := remainder.Float64()
	return doubleWord{hi, lo}
}

// fraction returns the exact value.
func (x doubleWord) fraction() *big.Rat {
	sum := new(big.Rat).SetFloat64(x.lo)
	return sum.Add(sum, new(big.Rat).SetFloat64(x.hi))
}

// fastTwoSum returns the exact sum of two numbers. The first must have at least the absolute value of the second.
func fastTwoSum(large, small float64) doubleWord {
	sum := large + small
	return doubleWord{sum, small - (sum - large)}
}

func (x doubleWord) add(y doubleWord) doubleWord {
	s := x.hi + y.hi
	t := s - x.hi
	return fastTwoSum(s, (x.hi-(s-t))+(y.hi-t)+(x.lo+y.lo))
}

func (x doubleWord) sub(y doubleWord) doubleWord { return x.add(doubleWord{-y.hi, -y.lo}) }

func (x doubleWord) mul(y doubleWord) doubleWord {
	product := x.hi * y.hi
	return fastTwoSum(product, math.FMA(x.hi, y.hi, -product)+(x.hi*y.lo+x.lo*y.hi))
}

func (x doubleWord) quo(y doubleWord) doubleWord {
	quotient := x.hi / y.hi
	remainder := x.sub(y.mul(doubleWord{quotient, 0}))
	return fastTwoSum(quotient, remainder.hi/y.hi)
}

// flush returns x, or zero if x is below doubleWordFloor, where its digits may be wrong.
func (x doubleWord) flush() doubleWord {
	if x.hi < doubleWordFloor {
		return doubleWord{}
	}
	return x
}
