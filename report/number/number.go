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
	n, _ := strconv.Atoi(exp) // FormatFloat wrote it
	return n
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

// Of returns the scale for x with this half-width, which is ignored unless it is positive and finite.
func Of(x, half float64) Scale { return To(x, half, MaxDigits) }

// To is Of with at most this number of significant digits.
func To(x, half float64, digits int) Scale {
	if _, special := result.SpecialNumber(x); special {
		return Scale{Trim: true}
	}
	var s Scale
	size := math.Abs(x)
	if half > 0 && !math.IsInf(half, 1) {
		size = max(size, half)
		most := digits - 1 - exponent(size, digits)
		s.place = min(1-exponent(half, 2), most)
		s.capped = s.place == most
	} else {
		s.place = plainDigits - 1 - exponent(size, plainDigits)
		s.Trim = true
	}
	s.sci = size != 0 && (size < 1e-4 || size >= 1e7)
	if !s.sci {
		s.place = max(s.place, 0)
	}
	return s
}

// Format writes x rounded to nearest (dir 0), down (-1) or up (+1). The ends of an interval are rounded outwards, so
// that the printed interval contains the given one.
func (s Scale) Format(x float64, dir int) string {
	if name, special := result.SpecialNumber(x); special {
		return name
	}
	text := s.digits(x)
	shown, _ := strconv.ParseFloat(text, 64) // digits wrote it
	if (x-shown)*float64(dir) > 0 {
		next := x + float64(dir)*math.Pow10(-s.place)
		if next == x { // the last place counts less than doubles tell apart
			next = math.Nextafter(x, math.Inf(dir))
		}
		text = s.digits(next)
	}
	if !s.Trim && !s.capped {
		return text
	}
	mantissa, exp, sci := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if sci {
		return mantissa + "e" + exp
	}
	return mantissa
}

// Interval writes an interval with its ends rounded outwards. If the scale has no decimal place that the width
// justifies, each end has a scale of its own.
func (s Scale) Interval(lo, hi float64) string {
	low, high := s, s
	if s.Trim {
		low, high = Of(lo, 0), Of(hi, 0)
	}
	return "[" + low.Format(lo, -1) + ", " + high.Format(hi, +1) + "]"
}

// digits returns a number with the digits of the scale. A number that rounds to 0 has no sign.
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

// Exact writes a rational for people: the fraction if it is short, and its decimal expansion, marked "~" if that is
// rounded.
func Exact(r *big.Rat) string {
	if text := r.RatString(); r.IsInt() && len(text) <= MaxFraction {
		return text
	}
	var decimal string
	x, _ := r.Float64()
	switch n, finite := r.FloatPrec(); {
	case math.IsInf(x, 0) || x == 0 && r.Sign() != 0: // beyond what doubles can be
		decimal = "~" + new(big.Float).SetRat(r).Text('g', 7)
	case finite && n <= exactDecimals && !r.IsInt():
		decimal = r.FloatString(n)
	default:
		decimal = "~" + Of(x, 0).Format(x, 0)
	}
	if fraction := r.RatString(); len(fraction) <= MaxFraction {
		return fraction + " (" + decimal + ")"
	}
	return decimal
}

// Percent writes a share of 1 as a percentage without rounding: 0.999 is 99.9%.
func Percent(share float64) string {
	if name, special := result.SpecialNumber(share); special {
		return name
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(share, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(exp) // FormatFloat wrote it
	// Moving the point in the text keeps the digits; 100*0.57 is not 57.
	x, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+2), 64)
	return strconv.FormatFloat(x, 'f', -1, 64) + "%"
}

// Duration writes seconds with three significant digits in a suitable unit; it is empty for 0.
func Duration(seconds float64) string {
	switch {
	case !(seconds > 0):
		return ""
	case seconds < 0.001:
		return "<1ms"
	case seconds >= 1e9: // more than time.Duration holds is near
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	unit := time.Second
	if seconds < 100 {
		unit = time.Duration(math.Pow10(exponent(seconds, 3) - 2 + 9))
	}
	return time.Duration(seconds * float64(time.Second)).Round(unit).String()
}
