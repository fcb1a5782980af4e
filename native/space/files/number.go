package files

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
)

// appendFloat appends a number to a text in the form in which PRISM writes it: with at most precision significant digits, and no trailing
// zeros. Like Java, it rounds the shortest decimal that stands for the float64, and rounds halves up.
//
// Source: Java's Formatter, which PRISM uses; reference, section 6.
func appendFloat(text []byte, precision int, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(text, "NaN"...)
	case math.IsInf(value, 0):
		return append(append(text, signText(value)...), "Infinity"...)
	}
	text = append(text, signText(value)...)
	if value == 0 {
		return append(text, '0')
	}
	digits, exponent := significantDigits(math.Abs(value), precision)
	if exponent < -4 || exponent >= precision {
		return appendScientific(text, digits, exponent)
	}
	return appendPlain(text, digits, exponent)
}

// signText returns "-" for a negative number, including negative zero; otherwise "".
func signText(value float64) string {
	if math.Signbit(value) {
		return "-"
	}
	return ""
}

// significantDigits returns at most precision decimal digits of a positive number, without trailing zeros. exponent is the decimal exponent
// of the first digit.
func significantDigits(value float64, precision int) (digits []byte, exponent int) {
	text := strconv.AppendFloat(make([]byte, 0, 32), value, 'e', -1, 64) // such as 1.25e-03
	exponentIndex := bytes.IndexByte(text, 'e')
	exponent, _ = strconv.Atoi(string(text[exponentIndex+1:]))
	digits = text[:1]
	if exponentIndex > 2 {
		digits = append(digits, text[2:exponentIndex]...)
	}
	if len(digits) > precision {
		roundsUp := digits[precision] >= '5'
		digits = digits[:precision]
		if roundsUp && incrementLast(digits) {
			exponent++
		}
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exponent
}

// incrementLast adds one to the last digit of a decimal number. A digit 9 becomes 0 with a carry to the digit before it. If all digits were
// 9, the digits become 10...0, without the last zero, and it returns true, because the number became the next power of ten.
func incrementLast(digits []byte) bool {
	for position := len(digits) - 1; position >= 0; position-- {
		if digits[position] < '9' {
			digits[position]++
			return false
		}
		digits[position] = '0'
	}
	digits[0] = '1'
	return true
}

// appendScientific appends a number with an exponent, such as 1.5e+20, to a text. exponent is the decimal exponent of the first digit.
func appendScientific(text, digits []byte, exponent int) []byte {
	text = append(text, digits[0])
	if len(digits) > 1 {
		text = append(append(text, '.'), digits[1:]...)
	}
	sign := byte('+')
	if exponent < 0 {
		sign, exponent = '-', -exponent
	}
	text = append(text, 'e', sign)
	if exponent < 10 {
		text = append(text, '0')
	}
	return strconv.AppendInt(text, int64(exponent), 10)
}

// appendPlain appends a number without an exponent, such as 0.015, to a text. exponent is the decimal exponent of the first digit.
func appendPlain(text, digits []byte, exponent int) []byte {
	if exponent < 0 {
		text = append(text, "0."...)
		text = appendZeros(text, -exponent-1)
		return append(text, digits...)
	}
	wholeDigits := exponent + 1
	if len(digits) <= wholeDigits {
		return appendZeros(append(text, digits...), wholeDigits-len(digits))
	}
	text = append(text, digits[:wholeDigits]...)
	text = append(text, '.')
	return append(text, digits[wholeDigits:]...)
}

// appendZeros appends n zeros.
func appendZeros(text []byte, count int) []byte {
	for range count {
		text = append(text, '0')
	}
	return text
}

// number is a weight or reward. fraction is its value as a fraction, nil if it has none; then float is
// its value.
type number struct {
	float    float64
	fraction *big.Rat
}

// isZero reports whether the number is zero.
func (value number) isZero() bool {
	return value.float == 0 && (value.fraction == nil || value.fraction.Sign() == 0)
}
