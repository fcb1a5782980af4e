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
type twofold struct{ hi, lo float64 }

// unit2 is more than the relative error of an operation, as long as results are
// not below floor2.
const (
	unit2  = 0x1p-102
	floor2 = 0x1p-900
)

func twofoldOf(x *big.Rat) twofold {
	hi, exact := x.Float64()
	if exact || math.IsInf(hi, 0) {
		return twofold{hi, 0}
	}
	rest := new(big.Rat).SetFloat64(hi)
	lo, _ := rest.Sub(x, rest).Float64()
	return twofold{hi, lo}
}

// rat returns the number as a fraction.
func (x twofold) rat() *big.Rat {
	lo := new(big.Rat).SetFloat64(x.lo)
	return lo.Add(lo, new(big.Rat).SetFloat64(x.hi))
}

func normal(hi, lo float64) twofold {
	s := hi + lo
	return twofold{s, lo - (s - hi)}
}

func (x twofold) plus(y twofold) twofold {
	s := x.hi + y.hi
	t := s - x.hi
	return normal(s, (x.hi-(s-t))+(y.hi-t)+(x.lo+y.lo))
}

func (x twofold) minus(y twofold) twofold { return x.plus(twofold{-y.hi, -y.lo}) }

func (x twofold) times(y twofold) twofold {
	p := x.hi * y.hi
	return normal(p, math.FMA(x.hi, y.hi, -p)+(x.hi*y.lo+x.lo*y.hi))
}

func (x twofold) over(y twofold) twofold {
	q := x.hi / y.hi
	r := x.minus(y.times(twofold{q, 0}))
	return normal(q, r.hi/y.hi)
}

// kept is the number, or zero if it is so small that its digits may be wrong.
func (x twofold) kept() twofold {
	if x.hi < floor2 {
		return twofold{}
	}
	return x
}
