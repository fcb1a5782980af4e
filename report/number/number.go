package number

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"tilecheck/result"
)

// The numbers of significant digits for people.
const (
	plainDigits   = 6  // of a number without an interval
	MaxDigits     = 8  // of a number with one, however narrow
	exactDecimals = 12 // longest decimal expansion that is written out
	MaxFraction   = 24 // longest fraction that is shown as one
)

// exponent returns the decimal exponent of a finite x rounded to a number of significant digits; 0 for 0.
func exponent(x float64, digits int) int {
	_, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', digits-1, 64), "e")
	power, _ := strconv.Atoi(exp) // FormatFloat wrote it
	return power
}

// Scale is the last decimal place with which a number and the ends of its interval
// are written for people.
//
// A half-width justifies the digits up to its second significant one: 0.4443
// with a half-width of 0.0412 is written 0.444, with 0.0041 it is 0.4443. No
// half-width means six significant digits without trailing zeros. Never more
// than eight significant digits are shown, or Options.Digits; the machine formats
// have them all.
type Scale struct {
	place int  // the last digit shown counts 10^-place
	sci   bool // d.ddde±dd: the numbers are tiny or huge
	Trim  bool // drop trailing zeros
	// capped says that the half-width justifies more digits than are shown.
	capped bool
}

// Text returns x with six significant digits, without trailing zeros.
func Text(x float64) string { return ScaleOf(x, 0).Format(x, 0) }

// ScaleOf returns the scale for x and the half-width of its interval. A half-width that is not positive and finite is ignored.
func ScaleOf(x, halfWidth float64) Scale { return ScaleWithin(x, halfWidth, MaxDigits) }

// ScaleWithin returns the scale of [ScaleOf], restricted to maxDigits significant digits.
func ScaleWithin(x, halfWidth float64, maxDigits int) Scale {
	if _, special := result.SpecialNumber(x); special {
		return Scale{Trim: true}
	}
	var scale Scale
	size := math.Abs(x)
	if halfWidth > 0 && !math.IsInf(halfWidth, 1) {
		size = max(size, halfWidth)
		maxPlace := maxDigits - 1 - exponent(size, maxDigits)
		scale.place = min(1-exponent(halfWidth, 2), maxPlace)
		scale.capped = scale.place == maxPlace
	} else {
		scale.place = plainDigits - 1 - exponent(size, plainDigits)
		scale.Trim = true
	}
	scale.sci = size != 0 && (size < 1e-4 || size >= 1e7)
	if !scale.sci {
		scale.place = max(scale.place, 0)
	}
	return scale
}

// Format returns x as text in the scale. direction is 0 to round to nearest, -1 to round down and +1 to round up. To print an interval that contains
// the exact one, round its lower end down and its upper end up.
func (s Scale) Format(x float64, direction int) string {
	if name, special := result.SpecialNumber(x); special {
		return name
	}
	text := s.digits(x)
	shown, _ := strconv.ParseFloat(text, 64) // digits wrote it
	if (x-shown)*float64(direction) > 0 {
		next := x + float64(direction)*math.Pow10(-s.place)
		if next == x { // the last place is finer than the distance of neighbouring float64 numbers
			next = math.Nextafter(x, math.Inf(direction))
		}
		text = s.digits(next)
	}
	if !s.Trim && !s.capped {
		return text
	}
	mantissa, power, hasPower := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if hasPower {
		return mantissa + "e" + power
	}
	return mantissa
}

// Interval returns an interval as text, with its ends rounded outwards. A scale without a half-width says nothing about the ends: then each end has
// six significant digits.
func (s Scale) Interval(lower, upper float64) string {
	lowerScale, upperScale := s, s
	if s.Trim {
		lowerScale, upperScale = ScaleOf(lower, 0), ScaleOf(upper, 0)
	}
	return "[" + lowerScale.Format(lower, -1) + ", " + upperScale.Format(upper, +1) + "]"
}

// IntervalBeside is like Interval, but with as many more digits as are needed to show that the interval does not contain x. If the interval contains x, it is
// the text of Interval.
func (s Scale) IntervalBeside(x, lower, upper float64) string {
	isBelow, isAbove := upper < x, lower > x
	const enough = 17 // digits that distinguish all float64 numbers
	for range enough {
		shownLower, _ := strconv.ParseFloat(s.Format(lower, -1), 64) // Format wrote it
		shownUpper, _ := strconv.ParseFloat(s.Format(upper, +1), 64)
		isHidden := isBelow && shownUpper >= x || isAbove && shownLower <= x
		if !isHidden {
			break
		}
		s.place++
	}
	return s.Interval(lower, upper)
}

// digits returns x rounded to nearest in the scale, with trailing zeros. A number that rounds to 0 has no sign.
func (s Scale) digits(x float64) string {
	switch {
	case !s.sci:
		text := strconv.FormatFloat(x, 'f', s.place, 64)
		if positive, negative := strings.CutPrefix(text, "-"); negative && strings.Trim(positive, "0.") == "" {
			return positive
		}
		return text
	case x == 0:
		return "0"
	}
	return strconv.FormatFloat(x, 'e', max(s.place+exponent(x, plainDigits), 0), 64)
}

// Exact returns a rational number as text: 1/6 (~0.166667). It omits a fraction that is too long. The mark "~" stands before a rounded decimal.
func Exact(value *big.Rat) string {
	fraction := value.RatString()
	isShort := len(fraction) <= MaxFraction
	if value.IsInt() && isShort {
		return fraction
	}
	var decimal string
	nearest, _ := value.Float64()
	overflows := math.IsInf(nearest, 0)
	underflows := nearest == 0 && value.Sign() != 0
	switch decimals, isFinite := value.FloatPrec(); {
	case overflows || underflows:
		decimal = "~" + new(big.Float).SetRat(value).Text('g', 7)
	case isFinite && decimals <= exactDecimals && !value.IsInt():
		decimal = value.FloatString(decimals)
	default:
		decimal = "~" + Text(nearest)
	}
	if !isShort {
		return decimal
	}
	return fraction + " (" + decimal + ")"
}

// Percent returns a share as a percentage without rounding: 0.999 becomes 99.9%.
func Percent(share float64) string {
	if name, special := result.SpecialNumber(share); special {
		return name
	}
	mantissa, powerText, _ := strings.Cut(strconv.FormatFloat(share, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(powerText) // FormatFloat wrote it
	// Increasing the exponent in the text keeps the digits. In float64, 100*0.57 is not 57.
	percentage, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(power+2), 64)
	return strconv.FormatFloat(percentage, 'f', -1, 64) + "%"
}

// Duration returns a number of seconds as text, such as 1.23ms: three significant digits with a suitable unit. It returns "" for 0.
func Duration(seconds float64) string {
	switch {
	case !(seconds > 0):
		return ""
	case seconds < 0.001:
		return "<1ms"
	case seconds >= 1e9: // time.Duration would overflow soon
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	unit := time.Second
	if seconds < 100 {
		unit = time.Duration(math.Pow10(exponent(seconds, 3) - 2 + 9))
	}
	return time.Duration(seconds * float64(time.Second)).Round(unit).String()
}
