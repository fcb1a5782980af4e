package sema

import "math"

// Log returns the logarithm of x to base b as PRISM computes it, as a quotient of natural
// logarithms. It is NaN if b is not positive, is 1, infinite or NaN.
func Log(x, b float64) float64 {
	if b <= 0 || b == 1 || math.IsInf(b, 0) || math.IsNaN(b) {
		return math.NaN()
	}
	return naturalLog(x) / naturalLog(b)
}

// naturalLog returns the natural logarithm, correctly rounded except in very rare cases. (math.Log
// is wrong for subnormal numbers on amd64 in Go 1.26.)
func naturalLog(x float64) float64 {
	if !isPositiveFinite(x) {
		return math.Log(x)
	}
	return logDoubleWord(x).hi
}

// Pow returns x to the power of y as Java's Math.pow does: NaN if y is NaN, or if |x| is 1 and y
// is infinite. Results are correctly rounded except in very rare cases and near the ends of the
// float64 range. math.Pow can differ in the last places, which a floor around it makes visible.
func Pow(x, y float64) float64 {
	if math.IsNaN(y) || math.Abs(x) == 1 && math.IsInf(y, 0) {
		return math.NaN()
	}
	integer := y == math.Trunc(y)
	if y == 0.5 || !isPositiveFinite(math.Abs(x)) || math.IsInf(y, 0) || x < 0 && !integer {
		return math.Pow(x, y) // special cases, and the square root
	}
	if power, ok := integerPower(x, y); ok {
		return power
	}
	logarithm := logDoubleWord(math.Abs(x)).scale(y)
	if !(math.Abs(logarithm.hi) < 700) {
		return math.Pow(x, y)
	}
	power := expDoubleWord(logarithm)
	if x < 0 && math.Mod(y, 2) != 0 {
		return -power
	}
	return power
}

// integerPower computes a power with a small integer exponent by multiplications. ok is false if more
// than the last operation would round. It is much faster than logarithms.
func integerPower(x, y float64) (p float64, ok bool) {
	const maxExponent = 64
	factors := math.Abs(y)
	if factors != math.Trunc(factors) || !(factors >= 1 && factors <= maxExponent) {
		return 0, false
	}
	p = x
	for ; factors > 1; factors-- {
		next := p * x
		// Below this limit the rounding error may not be a float64.
		if a := math.Abs(next); !(a > 0x1p-900 && a <= math.MaxFloat64) || math.FMA(p, x, -next) != 0 && (factors > 2 || y < 0) {
			return 0, false
		}
		p = next
	}
	if y < 0 {
		p = 1 / p
	}
	return p, true
}

// isPositiveFinite reports whether x is positive and finite.
func isPositiveFinite(x float64) bool { return x > 0 && x <= math.MaxFloat64 }

// doubleWord is a double-word number: an unevaluated sum of two float64 numbers with about 106 bits,
// where hi is the rounded sum.
//
// Source: Joldes, Muller and Popescu 2017.
type doubleWord struct{ hi, lo float64 }

// twoSum returns the exact sum of two float64 numbers (Knuth's algorithm).
func twoSum(a, b float64) doubleWord {
	sum := a + b
	bPart := sum - a
	return doubleWord{sum, (a - (sum - bPart)) + (b - bPart)}
}

func (p doubleWord) add(q doubleWord) doubleWord {
	s, t := twoSum(p.hi, q.hi), twoSum(p.lo, q.lo)
	s = twoSum(s.hi, s.lo+t.hi)
	return twoSum(s.hi, s.lo+t.lo)
}

func (p doubleWord) mul(q doubleWord) doubleWord {
	h := p.hi * q.hi
	l := math.FMA(p.hi, q.hi, -h) + (p.hi*q.lo + p.lo*q.hi)
	return twoSum(h, l)
}

func (p doubleWord) scale(f float64) doubleWord { return p.mul(doubleWord{f, 0}) }

// div returns p/n for a small integer n.
func (p doubleWord) div(n float64) doubleWord {
	q := p.hi / n
	r := math.FMA(-q, n, p.hi) + p.lo
	return twoSum(q, r/n)
}

// ln2 is the natural logarithm of 2.
func ln2() doubleWord { return doubleWord{math.Ln2, 2.319046813846299558e-17} }

// logDoubleWord returns the natural logarithm of a positive finite number.
func logDoubleWord(x float64) doubleWord {
	mantissa, exponent := math.Frexp(x)
	if mantissa < math.Sqrt2/2 {
		mantissa, exponent = 2*mantissa, exponent-1
	}
	logarithm := logMantissa(mantissa)
	if exponent == 0 {
		return logarithm
	}
	return ln2().scale(float64(exponent)).add(logarithm)
}

// logMantissa returns the natural logarithm of a number between 0.7 and 1.5.
func logMantissa(m float64) doubleWord {
	difference := doubleWord{m - 1, 0} // exact
	if math.Abs(difference.hi) > 0x1p-12 {
		// One step of Newton's method doubles the precision: y + (m*exp(-y) - 1).
		y := math.Log(m)
		correction := expm1DoubleWord(doubleWord{-y, 0})
		r := correction.scale(m).add(difference) // m*exp(-y) - 1
		return doubleWord{y, 0}.add(r)
	}
	sum := doubleWord{} // t - t²/2 + t³/3 - …
	for n := 10.0; n >= 1; n-- {
		sum = doubleWord{1, 0}.div(n).add(sum.mul(difference).scale(-1))
	}
	return sum.mul(difference)
}

// expDoubleWord returns e to the power of a number between -700 and 700.
func expDoubleWord(l doubleWord) float64 {
	twos := math.Round(l.hi / math.Ln2)
	e := expm1DoubleWord(l.add(ln2().scale(-twos)))
	return math.Ldexp(e.add(doubleWord{1, 0}).hi, int(twos))
}

// expm1DoubleWord returns exp(r)-1 for a small r.
func expm1DoubleWord(r doubleWord) doubleWord {
	const halvings = 6
	r = r.scale(1.0 / (1 << halvings))
	p := doubleWord{} // r + r²/2! + r³/3! + …
	for n := 13.0; n >= 1; n-- {
		p = doubleWord{1, 0}.add(p).mul(r).div(n)
	}
	for range halvings {
		p = p.add(p).add(p.mul(p)) // exp(2r)-1
	}
	return p
}
