package sema

import "math"

// Log returns the logarithm of x to base b as PRISM computes it, as a quotient
// of natural logarithms: NaN if b is not positive, 1, infinite or NaN.
func Log(x, b float64) float64 {
	if b <= 0 || b == 1 || math.IsInf(b, 0) || math.IsNaN(b) {
		return math.NaN()
	}
	return naturalLog(x) / naturalLog(b)
}

// naturalLog returns the natural logarithm, correctly rounded except in very rare cases. (math.Log
// is wrong for subnormal numbers on amd64 in Go 1.26.)
func naturalLog(x float64) float64 {
	if !ordinary(x) {
		return math.Log(x)
	}
	return logPair(x).hi
}

// Pow returns x to the power of y as Java's Math.pow does: NaN if y is NaN, or if |x| is 1 and y
// is infinite. Results are correctly rounded except in very rare cases and near the ends of the
// float64 range. math.Pow can be a few units in the last place off, which a floor around it shows.
func Pow(x, y float64) float64 {
	if math.IsNaN(y) || math.Abs(x) == 1 && math.IsInf(y, 0) {
		return math.NaN()
	}
	integer := y == math.Trunc(y)
	if y == 0.5 || !ordinary(math.Abs(x)) || math.IsInf(y, 0) || x < 0 && !integer {
		return math.Pow(x, y) // special cases, and the square root
	}
	if p, ok := integerPower(x, y); ok {
		return p
	}
	l := logPair(math.Abs(x)).scale(y)
	if !(math.Abs(l.hi) < 700) {
		return math.Pow(x, y)
	}
	p := expPair(l)
	if x < 0 && math.Mod(y, 2) != 0 {
		return -p
	}
	return p
}

// integerPower multiplies repeatedly if only the last operation rounds. Models have small powers
// of small numbers, for which logarithms take fifty times as long.
func integerPower(x, y float64) (p float64, ok bool) {
	const most = 64
	n := math.Abs(y)
	if n != math.Trunc(n) || !(n >= 1 && n <= most) {
		return 0, false
	}
	p = x
	for ; n > 1; n-- {
		next := p * x
		// Below this limit the rounding error may not be a float64.
		if a := math.Abs(next); !(a > 0x1p-900 && a <= math.MaxFloat64) || math.FMA(p, x, -next) != 0 && (n > 2 || y < 0) {
			return 0, false
		}
		p = next
	}
	if y < 0 {
		p = 1 / p
	}
	return p, true
}

// ordinary reports whether x is positive and finite.
func ordinary(x float64) bool { return x > 0 && x <= math.MaxFloat64 }

// pair is a double-word number: an unevaluated sum of two float64 numbers with about 106 bits,
// where hi is the rounded sum.
type pair struct{ hi, lo float64 }

func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func (p pair) add(q pair) pair {
	s, t := twoSum(p.hi, q.hi), twoSum(p.lo, q.lo)
	s = twoSum(s.hi, s.lo+t.hi)
	return twoSum(s.hi, s.lo+t.lo)
}

func (p pair) mul(q pair) pair {
	h := p.hi * q.hi
	l := math.FMA(p.hi, q.hi, -h) + (p.hi*q.lo + p.lo*q.hi)
	return twoSum(h, l)
}

func (p pair) scale(f float64) pair { return p.mul(pair{f, 0}) }

// div returns p/n for a small integer n.
func (p pair) div(n float64) pair {
	q := p.hi / n
	r := math.FMA(-q, n, p.hi) + p.lo
	return twoSum(q, r/n)
}

// ln2 is the natural logarithm of 2.
func ln2() pair { return pair{math.Ln2, 2.319046813846299558e-17} }

// logPair returns the natural logarithm of an ordinary number.
func logPair(x float64) pair {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	l := logMantissa(m)
	if k == 0 {
		return l
	}
	return ln2().scale(float64(k)).add(l)
}

// logMantissa returns the logarithm of a number between 0.7 and 1.5.
func logMantissa(m float64) pair {
	t := pair{m - 1, 0} // exact
	if math.Abs(t.hi) > 0x1p-12 {
		// One step of Newton's method doubles the precision: y + (m*exp(-y) - 1).
		y := math.Log(m)
		e := expm1Pair(pair{-y, 0})
		r := e.scale(m).add(t) // m*exp(-y) - 1
		return pair{y, 0}.add(r)
	}
	sum := pair{} // t - t²/2 + t³/3 - …
	for n := 10.0; n >= 1; n-- {
		sum = pair{1, 0}.div(n).add(sum.mul(t).scale(-1))
	}
	return sum.mul(t)
}

// expPair returns the exponential of a number between -700 and 700.
func expPair(l pair) float64 {
	n := math.Round(l.hi / math.Ln2)
	e := expm1Pair(l.add(ln2().scale(-n)))
	return math.Ldexp(e.add(pair{1, 0}).hi, int(n))
}

// expm1Pair returns exp(r)-1 for a small r.
func expm1Pair(r pair) pair {
	const halvings = 6
	r = r.scale(1.0 / (1 << halvings))
	p := pair{} // r + r²/2! + r³/3! + …
	for n := 13.0; n >= 1; n-- {
		p = pair{1, 0}.add(p).mul(r).div(n)
	}
	for range halvings {
		p = p.add(p).add(p.mul(p)) // exp(2r)-1
	}
	return p
}
