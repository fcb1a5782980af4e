package files

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
)

// appendFloat appends a number as PRISM exports it, with at most precision significant digits and no trailing
// zeros. Like Java, it rounds the shortest decimal of the float64, with halves rounded up.
//
// Source: Java's Formatter, which PRISM uses; reference, section 6.
func appendFloat(dst []byte, precision int, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(dst, "NaN"...)
	case math.IsInf(value, 0):
		return append(append(dst, signText(value)...), "Infinity"...)
	}
	dst = append(dst, signText(value)...)
	if value == 0 {
		return append(dst, '0')
	}
	digits, exp := significantDigits(math.Abs(value), precision)
	if exp < -4 || exp >= precision {
		return appendScientific(dst, digits, exp)
	}
	return appendPlain(dst, digits, exp)
}

// signText returns "-" for a negative number, including negative zero; otherwise "".
func signText(value float64) string {
	if math.Signbit(value) {
		return "-"
	}
	return ""
}

// significantDigits returns at most precision digits of value, without trailing zeros. exp is the decimal exponent
// of the first digit.
func significantDigits(value float64, precision int) (digits []byte, exp int) {
	text := strconv.AppendFloat(make([]byte, 0, 32), value, 'e', -1, 64) // such as 1.25e-03
	exponentAt := bytes.IndexByte(text, 'e')
	exp, _ = strconv.Atoi(string(text[exponentAt+1:]))
	digits = text[:1]
	if exponentAt > 2 {
		digits = append(digits, text[2:exponentAt]...)
	}
	if len(digits) > precision {
		roundsUp := digits[precision] >= '5'
		digits = digits[:precision]
		if roundsUp && roundUp(digits) {
			exp++
		}
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exp
}

// roundUp adds one to the last digit, with carries. It returns true if all digits were 9, and the number became
// the next power of ten.
func roundUp(digits []byte) bool {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return false
		}
		digits[i] = '0'
	}
	digits[0] = '1'
	return true
}

// appendScientific appends a number in the form 1.5e+20. exp is the exponent of the first digit.
func appendScientific(dst, digits []byte, exp int) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	sign := byte('+')
	if exp < 0 {
		sign, exp = '-', -exp
	}
	dst = append(dst, 'e', sign)
	if exp < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(exp), 10)
}

// appendPlain appends a number without exponent. exp is the decimal exponent of the first digit.
func appendPlain(dst, digits []byte, exp int) []byte {
	if exp < 0 {
		dst = append(dst, "0."...)
		dst = appendZeros(dst, -exp-1)
		return append(dst, digits...)
	}
	wholeDigits := exp + 1
	if len(digits) <= wholeDigits {
		return appendZeros(append(dst, digits...), wholeDigits-len(digits))
	}
	dst = append(dst, digits[:wholeDigits]...)
	dst = append(dst, '.')
	return append(dst, digits[wholeDigits:]...)
}

// appendZeros appends n zeros.
func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// number is a weight or reward. rat is its value as a fraction, nil if it has none; then float is
// its value.
type number struct {
	float float64
	rat   *big.Rat
}

// isZero reports whether the number is zero.
func (value number) isZero() bool {
	return value.float == 0 && (value.rat == nil || value.rat.Sign() == 0)
}
