package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

func intArith(op syntax.Op, x, y int64) int64 {
	switch op {
	case syntax.OpAdd:
		return x + y
	case syntax.OpSub:
		return x - y
	}
	return x * y
}

func floatArith(op syntax.Op, x, y float64) float64 {
	switch op {
	case syntax.OpAdd:
		return x + y
	case syntax.OpSub:
		return x - y
	}
	return x * y
}

// sameDouble is equality of doubles in PRISM's explicit engine, which compares
// objects: NaN equals NaN, and 0.0 differs from -0.0.
func sameDouble(x, y float64) bool {
	return math.IsNaN(x) && math.IsNaN(y) || math.Float64bits(x) == math.Float64bits(y)
}

// roundHalfUp rounds to the nearest integer, halves towards positive infinity,
// as Java's Math.round does.
func roundHalfUp(x float64) float64 {
	f := math.Floor(x)
	if x-f >= 0.5 {
		f++
	}
	return f
}

// rat is an exact number; a nil Rat is an unknown one and makes every result unknown.
type rat struct{ *big.Rat }

// rat returns the exact value of a number.
func (v Value) rat() rat { return rat{v.Rat} }

func ratArith(op syntax.Op, x, y rat) rat {
	z := new(big.Rat)
	switch op {
	case syntax.OpAdd:
		z.Add(x.Rat, y.Rat)
	case syntax.OpSub:
		z.Sub(x.Rat, y.Rat)
	default:
		z.Mul(x.Rat, y.Rat)
	}
	return rat{boundedRat(z)}
}

func (r rat) neg() rat { return rat{new(big.Rat).Neg(r.Rat)} }

// quo returns r/s, which is unknown if s is zero.
func (r rat) quo(s rat) rat {
	if s.Sign() == 0 {
		return rat{}
	}
	return rat{boundedRat(new(big.Rat).Quo(r.Rat, s.Rat))}
}

// pow returns r to the power of s, which is unknown if it is not rational or large.
func (r rat) pow(s rat) rat {
	if r.Sign() == 0 && s.Sign() > 0 {
		return r
	}
	if q := s.Denom(); !s.IsInt() && q.IsInt64() && q.Int64() <= maxRoot {
		if x := root(r.Rat, q.Int64()); x != nil {
			return rat{x}.pow(rat{new(big.Rat).SetInt(s.Num())})
		}
	}
	if !s.IsInt() || !s.Num().IsInt64() {
		return rat{}
	}
	n := s.Num().Int64()
	abs := max(n, -n)
	if r.IsInt() && r.Num().CmpAbs(big.NewInt(1)) <= 0 && n > 0 {
		return rat{new(big.Rat).SetInt64(trivialPow(r.Num().Int64(), n))}
	}
	bits := int64(r.Num().BitLen() + r.Denom().BitLen())
	if r.Sign() == 0 && n < 0 || abs < 0 || abs > maxRatBits || abs*bits > 2*maxRatBits {
		return rat{}
	}
	e := big.NewInt(abs)
	num, den := new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil)
	if n < 0 {
		num, den = den, num
	}
	return rat{boundedRat(new(big.Rat).SetFrac(num, den))}
}

// trivialPow is x^n for x in -1..1 and a positive n.
func trivialPow(x, n int64) int64 {
	if n%2 == 0 {
		return x * x
	}
	return x
}

func (r rat) cmp(s rat) int { return r.Cmp(s.Rat) }

// toInt computes floor, ceil or round and reports whether the result fits 32 bits.
func (r rat) toInt(f Func) (int32, bool) {
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	switch f {
	case FuncCeil:
		num.Add(num, den).Sub(num, big.NewInt(1))
	case FuncRound:
		num.Lsh(num, 1).Add(num, den)
		den.Lsh(den, 1)
	}
	i := num.Div(num, den) // Euclidean, which is floor for a positive divisor
	if !i.IsInt64() || i.Int64() < math.MinInt32 || i.Int64() > math.MaxInt32 {
		return 0, false
	}
	return int32(i.Int64()), true
}
