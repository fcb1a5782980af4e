package sema

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// arith computes x+y, x-y or x*y.
func arith[T int64 | float64](op syntax.Op, x, y T) T {
	switch op {
	case syntax.OpAdd:
		return x + y
	case syntax.OpSub:
		return x - y
	}
	return x * y
}

// All evaluators share the operators below. Ints have 32 bits; the error says why an operation
// has no value.

// SameFloat compares two float64 numbers as PRISM's explicit engine does, which compares objects:
// NaN equals NaN, and 0.0 differs from -0.0.
func SameFloat(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// Holds reports whether x op y holds, where sign is the sign of x-y.
func Holds(op syntax.Op, sign int) bool {
	switch op {
	case syntax.OpEq:
		return sign == 0
	case syntax.OpNe:
		return sign != 0
	case syntax.OpLt:
		return sign < 0
	case syntax.OpLe:
		return sign <= 0
	case syntax.OpGt:
		return sign > 0
	}
	return sign >= 0
}

// Narrow converts a result of 64-bit arithmetic to an Int. It is an error if it does not fit 32 bits.
func Narrow(x int64) (int32, error) {
	if x != int64(int32(x)) {
		return 0, overflow(x)
	}
	return int32(x), nil
}

func overflow(x int64) error { return fmt.Errorf("integer overflow: %d does not fit 32 bits", x) }

// Mod returns the remainder of x/y, which is never negative. A divisor that is not positive is an error.
func Mod(x, y int32) (int32, error) {
	if y <= 0 {
		return 0, fmt.Errorf("modulo with non-positive divisor %d", y)
	}
	if x %= y; x < 0 {
		x += y
	}
	return x, nil
}

// IntPow returns x to the power of n, as PRISM computes it for two ints: a negative exponent or a
// result beyond 32 bits is an error.
func IntPow(x, n int32) (int32, error) {
	switch {
	case n < 0:
		return 0, fmt.Errorf("negative exponent %d of an integer power; write the base as a double", n)
	case n == 0:
		return 1, nil
	case x == 0 || x == 1 || x == -1:
		return int32(trivialPow(int64(x), int64(n))), nil
	}
	power := int64(x)
	for range n - 1 {
		if power *= int64(x); power != int64(int32(power)) {
			return 0, fmt.Errorf("integer overflow: %d^%d does not fit 32 bits", x, n)
		}
	}
	return int32(power), nil
}

// Round computes the function f, which is floor, ceil or round, as Java does: round rounds halves up
// and returns 0 for NaN.
func (f Func) Round(x float64) float64 {
	floor := math.Floor(x)
	switch {
	case f == FuncCeil:
		return math.Ceil(x)
	case f == FuncFloor:
		return floor
	case x != x:
		return 0
	case x-floor >= 0.5:
		return floor + 1
	}
	return floor
}

// ToInt computes the function f, which is floor, ceil or round. It is an error if the result does not
// fit 32 bits.
func (f Func) ToInt(x float64) (int32, error) {
	y := f.Round(x)
	if !(y >= math.MinInt32 && y <= math.MaxInt32) {
		return 0, f.notRepresentable(DoubleValue(x))
	}
	return int32(y), nil
}

func (f Func) notRepresentable(x Value) error {
	return fmt.Errorf("%s(%s) cannot be represented by a 32-bit int", f, x)
}

// rat is a rational number. If Rat is nil, the number is unknown: it is irrational, or its fraction
// too large.
type rat struct{ *big.Rat }

// rat returns the exact value of a number, unknown if it has none.
func (v Value) rat() rat { return rat{v.Rat} }

// ratArith computes x+y, x-y or x*y exactly; unknown if the fraction becomes too large.
func ratArith(op syntax.Op, x, y rat) rat {
	result := new(big.Rat)
	switch op {
	case syntax.OpAdd:
		result.Add(x.Rat, y.Rat)
	case syntax.OpSub:
		result.Sub(x.Rat, y.Rat)
	default:
		result.Mul(x.Rat, y.Rat)
	}
	return rat{boundedRat(result)}
}

func (r rat) neg() rat { return rat{new(big.Rat).Neg(r.Rat)} }

// quo returns r/s; unknown if s is zero.
func (r rat) quo(s rat) rat {
	if s.Sign() == 0 {
		return rat{}
	}
	return rat{boundedRat(new(big.Rat).Quo(r.Rat, s.Rat))}
}

// pow returns r to the power of s; unknown if that is irrational or too large.
func (r rat) pow(s rat) rat {
	if r.Sign() == 0 && s.Sign() > 0 {
		return r
	}
	if degree := s.Denom(); !s.IsInt() && degree.IsInt64() && degree.Int64() <= maxRoot {
		if x := root(r.Rat, degree.Int64()); x != nil {
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
	exponent := big.NewInt(abs)
	num, den := new(big.Int).Exp(r.Num(), exponent, nil), new(big.Int).Exp(r.Denom(), exponent, nil)
	if n < 0 {
		num, den = den, num
	}
	return rat{boundedRat(new(big.Rat).SetFrac(num, den))}
}

// trivialPow returns x^n for x in -1..1 and positive n.
func trivialPow(x, n int64) int64 {
	if n%2 == 0 {
		return x * x
	}
	return x
}

func (r rat) cmp(s rat) int { return r.Cmp(s.Rat) }

// toInt computes floor, ceil or round of a fraction, and reports whether the result fits 32 bits.
func (r rat) toInt(f Func) (int32, bool) {
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	switch f {
	case FuncCeil:
		num.Add(num, den).Sub(num, big.NewInt(1))
	case FuncRound:
		num.Lsh(num, 1).Add(num, den)
		den.Lsh(den, 1)
	}
	integer := num.Div(num, den) // Euclidean, which is floor for a positive divisor
	if !integer.IsInt64() || integer.Int64() < math.MinInt32 || integer.Int64() > math.MaxInt32 {
		return 0, false
	}
	return int32(integer.Int64()), true
}
