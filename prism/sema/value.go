package sema

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// maxRatBits bounds the size of exact numbers: if numerator and denominator together need more
// bits, only a float64 is kept.
const maxRatBits = 1 << 14

// BoolValue returns a Bool.
func BoolValue(value bool) Value { return Value{Type: Bool, Bool: value} }

// IntValue returns an Int, which is exact.
func IntValue(i int32) Value {
	return Value{Type: Int, Int: i, Float: float64(i), Rat: new(big.Rat).SetInt64(int64(i))}
}

// DoubleValue returns a Double that is not known to be exact. Its Rat is nil, since inFloat may have
// been rounded. See RatValue.
func DoubleValue(inFloat float64) Value { return Value{Type: Double, Float: inFloat} }

// RatValue returns the Double nearest to a fraction, with Rat set to a copy of the fraction.
func RatValue(fraction *big.Rat) Value {
	inFloat, _ := fraction.Float64()
	return Value{Type: Double, Float: inFloat, Rat: new(big.Rat).Set(fraction)}
}

// String returns the value as PRISM prints it: 3, 1.0E-5, true.
func (v Value) String() string {
	switch v.Type {
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Int:
		return strconv.Itoa(int(v.Int))
	}
	return javaFloat(v.Float)
}

// javaFloat formats a float64 as Java's Double.toString does: with the shortest digits that identify
// the number, at least two, and with an exponent for numbers from 1E7 on or below 1E-3.
func javaFloat(number float64) string {
	switch {
	case math.IsNaN(number):
		return "NaN"
	case math.IsInf(number, 1):
		return "Infinity"
	case math.IsInf(number, -1):
		return "-Infinity"
	}
	magnitude := math.Abs(number)
	withoutExponent := magnitude == 0 || magnitude >= 1e-3 && magnitude < 1e7
	if withoutExponent {
		digits := strconv.FormatFloat(number, 'f', -1, 64)
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		return digits
	}
	digits := strconv.FormatFloat(number, 'e', -1, 64)
	if !strings.Contains(digits, ".") {
		digits = strconv.FormatFloat(number, 'e', 1, 64)
	}
	mantissa, exponent, _ := strings.Cut(digits, "e")
	power, _ := strconv.Atoi(exponent) // FormatFloat writes a well-formed exponent
	return mantissa + "E" + strconv.Itoa(power)
}

// toDouble converts an Int to the Double of the same value.
func (v Value) toDouble() Value {
	if v.Type == Int {
		v.Type, v.Int = Double, 0
	}
	return v
}

// literalValue returns the value of a floating-point literal. Its Rat is the decimal number, or
// nil if that has too many digits. Its Float is the nearest float64, which may be zero or
// infinite.
func literalValue(text string) Value {
	inFloat, _ := strconv.ParseFloat(text, 64) // a range error comes with an infinity, as in Java
	value := DoubleValue(inFloat)
	value.Rat = decimalRat(text)
	return value
}

// maxExponent bounds decimal exponents: 10^maxExponent has fewer than maxRatBits bits.
const maxExponent = 4900

// decimalRat parses a decimal number; nil if it is invalid or its fraction is too large.
func decimalRat(text string) *big.Rat {
	_, exponentText, hasExponent := strings.Cut(strings.ToLower(text), "e")
	if hasExponent {
		exponent, err := strconv.Atoi(exponentText)
		if err != nil || max(exponent, -exponent) > maxExponent {
			return nil
		}
	}
	fraction, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return boundedRat(fraction)
}

// boundedRat returns the fraction, or nil if it is larger than maxRatBits.
func boundedRat(fraction *big.Rat) *big.Rat {
	if fraction.Num().BitLen()+fraction.Denom().BitLen() > maxRatBits {
		return nil
	}
	return fraction
}

// constType converts the type of a constant.
func constType(source syntax.ConstType) Type {
	return [...]Type{syntax.ConstInt: Int, syntax.ConstDouble: Double, syntax.ConstBool: Bool}[source]
}

// convert converts v to type typ if PRISM does: only Int to Double.
func (v Value) convert(typ Type) (Value, bool) {
	if typ == Double {
		v = v.toDouble()
	}
	return v, v.Type == typ
}

// castable reports whether a value of type from can be used where type target is required: an Int as a Double, and a number as a clock.
func castable(target, from Type) bool {
	return target == from || target == Double && from == Int || target == Clock && (from == Int || from == Double)
}
