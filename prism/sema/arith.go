package sema

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// arith returns left+right, left-right or left*right: op is OpAdd, OpSub or OpMul.
func arith[T int64 | float64](op syntax.Op, left, right T) T {
	switch op {
	case syntax.OpAdd:
		return left + right
	case syntax.OpSub:
		return left - right
	}
	return left * right
}

// All evaluators share the operators below. Ints have 32 bits; the error says why an operation
// has no value.

// SameFloat reports whether two float64 numbers are equal in PRISM's explicit engine: NaN equals NaN, and 0.0 differs from -0.0.
func SameFloat(left, right float64) bool {
	return math.Float64bits(left) == math.Float64bits(right) || math.IsNaN(left) && math.IsNaN(right)
}

// Holds reports whether left op right holds for a comparison operator such as OpLe. sign is the sign of left-right.
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

// Narrow converts the result of 64-bit arithmetic to 32 bits. A result that does not fit is an error.
func Narrow(value int64) (int32, error) {
	if value != int64(int32(value)) {
		return 0, overflow(value)
	}
	return int32(value), nil
}

func overflow(value int64) error {
	return fmt.Errorf("integer overflow: %d does not fit 32 bits", value)
}

// Mod returns the remainder of dividend/divisor. The remainder is at least 0; the divisor must be positive.
func Mod(dividend, divisor int32) (int32, error) {
	if divisor <= 0 {
		return 0, fmt.Errorf("modulo with non-positive divisor %d", divisor)
	}
	remainder := dividend % divisor // negative for a negative dividend
	if remainder < 0 {
		remainder += divisor
	}
	return remainder, nil
}

// Mod is the function Mod for the arguments of a call of mod. Its error says whether an index is outside of an array.
func (expr *Call) Mod(dividend, divisor int32) (int32, error) {
	remainder, err := Mod(dividend, divisor)
	if err != nil && expr.Array != "" {
		return 0, fmt.Errorf("index %d is outside of %s", dividend, expr.Array)
	}
	return remainder, err
}

// IntPow returns the integer base^exponent. A negative exponent or a result beyond 32 bits is an error, as in PRISM.
func IntPow(base, exponent int32) (int32, error) {
	switch {
	case exponent < 0:
		return 0, fmt.Errorf("negative exponent %d of an integer power; write the base as a double", exponent)
	case exponent == 0:
		return 1, nil
	case base == 0 || base == 1 || base == -1:
		return int32(trivialPow(int64(base), int64(exponent))), nil
	}
	power := int64(base)
	for range exponent - 1 {
		power *= int64(base)
		if power != int64(int32(power)) {
			return 0, fmt.Errorf("integer overflow: %d^%d does not fit 32 bits", base, exponent)
		}
	}
	return int32(power), nil
}

// Round rounds a number by the function f: floor, ceil or round. As in Java, round(x) is floor(x+0.5), and round(NaN) is 0.
func (f Func) Round(number float64) float64 {
	floor := math.Floor(number)
	switch {
	case f == FuncCeil:
		return math.Ceil(number)
	case f == FuncFloor:
		return floor
	case math.IsNaN(number):
		return 0
	case number-floor >= 0.5:
		return floor + 1
	}
	return floor
}

// ToInt rounds a number to an int by the function f: floor, ceil or round. A result beyond 32 bits is an error.
func (f Func) ToInt(number float64) (int32, error) {
	rounded := f.Round(number)
	isInRange := rounded >= math.MinInt32 && rounded <= math.MaxInt32 // false for NaN
	if !isInRange {
		return 0, f.notRepresentable(DoubleValue(number))
	}
	return int32(rounded), nil
}

func (f Func) notRepresentable(value Value) error {
	return fmt.Errorf("%s(%s) cannot be represented by a 32-bit int", f, value)
}

// rational is a rational number. A nil Rat means that the number is unknown, because it is irrational or its fraction is too large.
type rational struct{ *big.Rat }

// asRat returns the exact value of a number; unknown if the value has no fraction.
func (v Value) asRat() rational { return rational{v.Rat} }

// ratArith returns the exact left+right, left-right or left*right: op is OpAdd, OpSub or OpMul. If the fraction is too large, it returns the
// unknown number rational{}.
func ratArith(op syntax.Op, left, right rational) rational {
	result := new(big.Rat)
	switch op {
	case syntax.OpAdd:
		result.Add(left.Rat, right.Rat)
	case syntax.OpSub:
		result.Sub(left.Rat, right.Rat)
	default:
		result.Mul(left.Rat, right.Rat)
	}
	return rational{boundedRat(result)}
}

func (r rational) neg() rational { return rational{new(big.Rat).Neg(r.Rat)} }

// quo returns dividend/divisor; unknown if the divisor is zero.
func (dividend rational) quo(divisor rational) rational {
	if divisor.Sign() == 0 {
		return rational{}
	}
	return rational{boundedRat(new(big.Rat).Quo(dividend.Rat, divisor.Rat))}
}

// pow returns base^exponent. It returns the unknown number rational{} if the result is irrational or its fraction is too large.
func (base rational) pow(exponent rational) rational {
	if base.Sign() == 0 && exponent.Sign() > 0 {
		return base
	}
	if !exponent.IsInt() {
		return base.fractionalPow(exponent)
	}
	if !exponent.Num().IsInt64() {
		return rational{}
	}
	return base.intPow(exponent.Num().Int64())
}

// fractionalPow returns base^(n/d), computed as (d-th root of base)^n. It returns the unknown number rational{} if the root is irrational or d is too
// large.
func (base rational) fractionalPow(exponent rational) rational {
	degree := exponent.Denom()
	if !degree.IsInt64() || degree.Int64() > maxRoot {
		return rational{}
	}
	baseRoot := root(base.Rat, degree.Int64())
	if baseRoot == nil {
		return rational{}
	}
	return rational{baseRoot}.pow(rational{new(big.Rat).SetInt(exponent.Num())})
}

// intPow returns base^exponent. It returns the unknown number rational{} if the fraction of the result is too large, or for a negative power of 0.
func (base rational) intPow(exponent int64) rational {
	isTrivial := base.IsInt() && base.Num().CmpAbs(big.NewInt(1)) <= 0 // -1, 0 or 1
	if isTrivial && exponent > 0 {
		return rational{new(big.Rat).SetInt64(trivialPow(base.Num().Int64(), exponent))}
	}
	if base.Sign() == 0 && exponent < 0 {
		return rational{}
	}
	magnitude := max(exponent, -exponent) // negative if -exponent overflows
	bits := int64(base.Num().BitLen() + base.Denom().BitLen())
	if magnitude < 0 || magnitude > maxRatBits || magnitude*bits > 2*maxRatBits {
		return rational{}
	}
	absExponent := big.NewInt(magnitude)
	numerator := new(big.Int).Exp(base.Num(), absExponent, nil)
	denominator := new(big.Int).Exp(base.Denom(), absExponent, nil)
	power := new(big.Rat).SetFrac(numerator, denominator)
	if exponent < 0 {
		power.Inv(power)
	}
	return rational{boundedRat(power)}
}

// trivialPow returns base^exponent for a base of -1, 0 or 1 and a positive exponent.
func trivialPow(base, exponent int64) int64 {
	if exponent%2 == 0 {
		return base * base
	}
	return base
}

func (left rational) cmp(right rational) int { return left.Cmp(right.Rat) }

// toInt rounds a fraction by floor, ceil or round. It returns false if the result does not fit 32 bits.
func (number rational) toInt(function Func) (int32, bool) {
	numerator, denominator := new(big.Int).Set(number.Num()), new(big.Int).Set(number.Denom())
	switch function {
	case FuncCeil: // ceil(num/den) = floor((num+den-1)/den)
		numerator.Add(numerator, denominator).Sub(numerator, big.NewInt(1))
	case FuncRound: // round(num/den) = floor(num/den + 1/2) = floor((2*num+den)/(2*den))
		numerator.Lsh(numerator, 1).Add(numerator, denominator)
		denominator.Lsh(denominator, 1)
	}
	integer := numerator.Div(numerator, denominator) // Euclidean division, which is floor for a positive divisor
	if !integer.IsInt64() || integer.Int64() < math.MinInt32 || integer.Int64() > math.MaxInt32 {
		return 0, false
	}
	return int32(integer.Int64()), true
}
