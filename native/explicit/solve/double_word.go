package solve

import (
	"math"
	"math/big"
)

// twofold is a number that is the sum of two doubles, the second of which is what
// the first lacks. All of them are non-negative here.
//
// Source: Dekker (1971); the bounds of the errors are those of Joldes, Muller and
// Popescu, Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic (2017): 3 u^2, 5 u^2 and 15 u^2 for u = 2^-53.
type doubleWord struct{ hi, lo float64 }

// unit2 is more than the relative error of an operation, as long as results are
// not below floor2.
const (
	doubleWordUnit  = 0x1p-102
	doubleWordFloor = 0x1p-900
)

func newDoubleWord(x *big.Rat) doubleWord {
	hi, exact := x.Float64()
	if exact || math.IsInf(hi, 0) {
		return doubleWord{hi, 0}
	}
	rest := new(big.Rat).SetFloat64(hi)
	lo, _ := rest.Sub(x, rest).Float64()
	return doubleWord{hi, lo}
}

// rat returns the number as a fraction.
func (x doubleWord) rat() *big.Rat {
	lo := new(big.Rat).SetFloat64(x.lo)
	return lo.Add(lo, new(big.Rat).SetFloat64(x.hi))
}

func fastTwoSum(hi, lo float64) doubleWord {
	s := hi + lo
	return doubleWord{s, lo - (s - hi)}
}

func (x doubleWord) add(y doubleWord) doubleWord {
	s := x.hi + y.hi
	t := s - x.hi
	return fastTwoSum(s, (x.hi-(s-t))+(y.hi-t)+(x.lo+y.lo))
}

func (x doubleWord) sub(y doubleWord) doubleWord { return x.add(doubleWord{-y.hi, -y.lo}) }

func (x doubleWord) mul(y doubleWord) doubleWord {
	p := x.hi * y.hi
	return fastTwoSum(p, math.FMA(x.hi, y.hi, -p)+(x.hi*y.lo+x.lo*y.hi))
}

func (x doubleWord) quo(y doubleWord) doubleWord {
	q := x.hi / y.hi
	r := x.sub(y.mul(doubleWord{q, 0}))
	return fastTwoSum(q, r.hi/y.hi)
}

// kept is the number, or zero if it is so small that its digits may be wrong.
func (x doubleWord) flush() doubleWord {
	if x.hi < doubleWordFloor {
		return doubleWord{}
	}
	return x
}
