package sema

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// maxRatBits limits the size of fractions: the bits of numerator and denominator together.
const maxRatBits = 1 << 14

// BoolValue returns a Bool.
func BoolValue(value bool) Value { return Value{Type: Bool, Bool: value} }

// IntValue returns an Int, which is exact.
func IntValue(i int32) Value {
	return Value{Type: Int, Int: i, Float: float64(i), Rat: new(big.Rat).SetInt64(int64(i))}
}

// DoubleValue returns a Double without an exact value; its Rat is nil.
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

// ExactText returns the value so that --const reads the same value back: as String does, or as a fraction such as 1/3 if the decimal of
// String is rounded.
func (v Value) ExactText() string {
	text := v.String()
	if v.Rat == nil {
		return text
	}
	if decimal, ok := new(big.Rat).SetString(text); ok && decimal.Cmp(v.Rat) == 0 {
		return text
	}
	return v.Rat.RatString()
}

// javaFloat formats a float64 as Java's Double.toString does: the shortest digits that identify the number, at least two. Numbers from 1E7
// on and below 1E-3 have an exponent.
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

// InState returns an Int or a Bool as it is stored in a state: a Bool is 0 or 1.
func (v Value) InState() int32 {
	if v.Type == Bool && v.Bool {
		return 1
	}
	return v.Int
}

// ValueInState returns the value of type Int or Bool that a state stores as the given number.
func ValueInState(valueType Type, stored int32) Value {
	if valueType == Bool {
		return BoolValue(stored == 1)
	}
	return IntValue(stored)
}

// literalValue returns the value of a floating-point literal. Its Rat is the decimal number, or nil if it has too many digits. Its Float is
// the nearest float64, perhaps zero or infinite.
func literalValue(text string) Value {
	inFloat, _ := strconv.ParseFloat(text, 64) // a range error comes with an infinity, as in Java
	value := DoubleValue(inFloat)
	value.Rat = decimalRat(text)
	return value
}

// maxExponent limits decimal exponents: 10^maxExponent has fewer than maxRatBits bits.
const maxExponent = 4900

// decimalRat parses a decimal number; nil if the text is invalid or the fraction too large.
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

// boundedRat returns the fraction, or nil if it has more than maxRatBits bits.
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

// convert converts a value to a type as PRISM does: only an Int to a Double. It returns false if the types do not fit.
func (v Value) convert(valueType Type) (Value, bool) {
	if valueType == Double {
		v = v.toDouble()
	}
	return v, v.Type == valueType
}

// isCastable reports whether a value of one type can be used as another: an Int as a Double, and a number as a clock.
func isCastable(target, from Type) bool {
	return target == from || target == Double && from == Int || target == Clock && (from == Int || from == Double)
}
