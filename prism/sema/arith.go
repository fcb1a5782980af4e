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

// SameFloat is equality of float64 numbers in PRISM's explicit engine, which compares objects: NaN
// equals NaN, and 0.0 differs from -0.0.
func SameFloat(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// Holds reports whether x op y holds, where c is the sign of x-y.
func Holds(op syntax.Op, c int) bool {
	switch op {
	case syntax.OpEq:
		return c == 0
	case syntax.OpNe:
		return c != 0
	case syntax.OpLt:
		return c < 0
	case syntax.OpLe:
		return c <= 0
	case syntax.OpGt:
		return c > 0
	}
	return c >= 0
}

// Narrow converts x to an Int; an overflow is an error.
func Narrow(x int64) (int32, error) {
	if x != int64(int32(x)) {
		return 0, overflow(x)
	}
	return int32(x), nil
}

func overflow(x int64) error { return fmt.Errorf("integer overflow: %d does not fit 32 bits", x) }

// Mod returns the non-negative remainder of x/y.
func Mod(x, y int32) (int32, error) {
	if y <= 0 {
		return 0, fmt.Errorf("modulo with non-positive divisor %d", y)
	}
	if x %= y; x < 0 {
		x += y
	}
	return x, nil
}

// IntPow is PRISM's integer power.
func IntPow(x, n int32) (int32, error) {
	switch {
	case n < 0:
		return 0, fmt.Errorf("negative exponent %d of an integer power; write the base as a double", n)
	case n == 0:
		return 1, nil
	case x == 0 || x == 1 || x == -1:
		return int32(trivialPow(int64(x), int64(n))), nil
	}
	p := int64(x)
	for range n - 1 {
		if p *= int64(x); p != int64(int32(p)) {
			return 0, fmt.Errorf("integer overflow: %d^%d does not fit 32 bits", x, n)
		}
	}
	return int32(p), nil
}

// Round computes floor, ceil or round as Java does: round rounds halves up and returns 0 for NaN.
func (f Func) Round(x float64) float64 {
	low := math.Floor(x)
	switch {
	case f == FuncCeil:
		return math.Ceil(x)
	case f == FuncFloor:
		return low
	case x != x:
		return 0
	case x-low >= 0.5:
		return low + 1
	}
	return low
}

// ToInt computes floor, ceil or round as an Int.
func (f Func) ToInt(x float64) (int32, error) {
	y := f.Round(x)
	if !(y >= math.MinInt32 && y <= math.MaxInt32) {
		return 0, f.noInt(DoubleValue(x))
	}
	return int32(y), nil
}

func (f Func) noInt(x Value) error {
	return fmt.Errorf("%s(%s) cannot be represented by a 32-bit int", f, x)
}

// rat is an exact number. A nil Rat is an unknown number, and makes every result unknown.
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

// trivialPow returns x^n for x in -1..1 and positive n.
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
