package scheduler

import (
	"strconv"
	"strings"
)

// precision is the number of significant digits of a probability in a file.
//
// Source: PRISM's -exportmodelprecision, default 16.
const precision = 16

// number formats a positive number as PRISM does: Java's %.16g, which rounds
// the shortest decimal that stands for the number, halves up, without the
// zeros at its end.
func number(x float64) string {
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	point, _ := strconv.Atoi(exp) // FormatFloat wrote it
	if len(digits) > precision {
		rounded := round(digits)
		point += len(rounded) - precision
		digits = rounded[:precision]
	}
	digits = strings.TrimRight(digits, "0")
	switch {
	case point < -4 || point >= precision:
		return scientific(digits, point)
	case point < 0:
		return "0." + strings.Repeat("0", -point-1) + digits
	case len(digits) <= point+1:
		return digits + strings.Repeat("0", point+1-len(digits))
	}
	return digits[:point+1] + "." + digits[point+1:]
}

// round rounds digits to precision; there may be one more, before them.
func round(digits string) string {
	head := []byte(digits[:precision])
	if digits[precision] < '5' {
		return string(head)
	}
	for i := len(head) - 1; i >= 0; i-- {
		if head[i]++; head[i] <= '9' {
			return string(head)
		}
		head[i] = '0'
	}
	return "1" + string(head)
}

func scientific(digits string, exp int) string {
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	sign := "+"
	if exp < 0 {
		sign, exp = "-", -exp
	}
	text := strconv.Itoa(exp)
	if exp < 10 {
		text = "0" + text
	}
	return digits + "e" + sign + text
}
