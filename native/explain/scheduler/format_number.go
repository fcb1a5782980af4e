package scheduler

import (
	"strconv"
	"strings"
)

// numDigits is the number of significant digits of a probability in a file.
//
// Source: PRISM's -exportmodelprecision, default 16.
const numDigits = 16

// formatNumber formats a positive number as Java's format %.16g does, but without trailing zeros. Java first finds the shortest decimal number that
// identifies the float64, and then rounds it to 16 digits, half up.
func formatNumber(value float64) string {
	mantissa, exponentText, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exponent, _ := strconv.Atoi(exponentText) // cannot fail: FormatFloat wrote the exponent
	if len(digits) > numDigits {
		rounded := roundDigits(digits)
		exponent += len(rounded) - numDigits
		digits = rounded[:numDigits]
	}
	digits = strings.TrimRight(digits, "0")
	switch {
	case exponent < -4 || exponent >= numDigits:
		return scientificText(digits, exponent)
	case exponent < 0:
		return "0." + strings.Repeat("0", -exponent-1) + digits
	case len(digits) <= exponent+1:
		return digits + strings.Repeat("0", exponent+1-len(digits))
	}
	return digits[:exponent+1] + "." + digits[exponent+1:]
}

// roundDigits rounds a sequence of decimal digits to numDigits digits, half up: if the first omitted digit is at least 5, the number is rounded up. If
// all digits are 9 then, the result has one digit more.
func roundDigits(digits string) string {
	rounded := []byte(digits[:numDigits])
	if digits[numDigits] < '5' {
		return string(rounded)
	}
	for i := len(rounded) - 1; i >= 0; i-- {
		rounded[i]++
		if rounded[i] <= '9' {
			return string(rounded)
		}
		rounded[i] = '0'
	}
	return "1" + string(rounded)
}

// scientificText returns a number in scientific notation, such as 1.5e-07. digits are its significant digits without a point.
func scientificText(digits string, exponent int) string {
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	sign := "+"
	if exponent < 0 {
		sign = "-"
		exponent = -exponent
	}
	text := strconv.Itoa(exponent)
	if exponent < 10 {
		text = "0" + text
	}
	return digits + "e" + sign + text
}
