package sema

import "math"

// Log returns the logarithm of a number to a base, as PRISM's quotient of natural logarithms. It is NaN for a base that is not positive, 1,
// infinite or NaN.
func Log(number, base float64) float64 {
	if base <= 0 || base == 1 || math.IsInf(base, 0) || math.IsNaN(base) {
		return math.NaN()
	}
	return naturalLog(number) / naturalLog(base)
}

// naturalLog returns the natural logarithm, almost always correctly rounded.
func naturalLog(number float64) float64 {
	if !isPositiveFinite(number) {
		return math.Log(number)
	}
	return logDoubleWord(number).hi // math.Log is wrong for subnormal numbers on amd64 (Go 1.26)
}

// Pow returns base^exponent like Java's Math.pow. The result is NaN if the exponent is NaN, or if |base| is 1 and the exponent infinite. It
// is almost always correctly rounded; math.Pow may differ in the last digit.
func Pow(base, exponent float64) float64 {
	if math.IsNaN(exponent) || math.Abs(base) == 1 && math.IsInf(exponent, 0) {
		return math.NaN()
	}
	isSquareRoot := exponent == 0.5
	isUndefined := base < 0 && exponent != math.Trunc(exponent)
	if isSquareRoot || isUndefined || !isPositiveFinite(math.Abs(base)) || math.IsInf(exponent, 0) {
		return math.Pow(base, exponent)
	}
	if power, ok := integerPower(base, exponent); ok {
		return power
	}
	logarithm := logDoubleWord(math.Abs(base)).scale(exponent)
	const maxLogarithm = 700 // exp(700) is a float64, exp(710) is not
	if !(math.Abs(logarithm.hi) < maxLogarithm) {
		return math.Pow(base, exponent)
	}
	power := expDoubleWord(logarithm)
	if base < 0 && math.Mod(exponent, 2) != 0 {
		return -power
	}
	return power
}

// integerPower computes a power with a small integer exponent by repeated multiplication. ok is false if the exponent is not such an integer, or
// if any operation but the last one rounds.
func integerPower(base, exponent float64) (power float64, ok bool) {
	const maxExponent = 64
	numFactors := math.Abs(exponent)
	isSmallInteger := numFactors == math.Trunc(numFactors) && numFactors >= 1 && numFactors <= maxExponent
	if !isSmallInteger {
		return 0, false
	}
	power = base
	for ; numFactors > 1; numFactors-- {
		product := power * base
		magnitude := math.Abs(product)
		// Below 2^-900 the rounding error itself may underflow.
		isInRange := magnitude > 0x1p-900 && magnitude <= math.MaxFloat64 // false for NaN
		if !isInRange {
			return 0, false
		}
		isRounded := math.FMA(power, base, -product) != 0
		isLastOperation := numFactors == 2 && exponent > 0
		if isRounded && !isLastOperation {
			return 0, false
		}
		power = product
	}
	if exponent < 0 {
		power = 1 / power
	}
	return power, true
}

// isPositiveFinite reports whether a number is positive and finite.
func isPositiveFinite(number float64) bool { return number > 0 && number <= math.MaxFloat64 }

// doubleWord is a double-word number: an unevaluated sum of two float64 numbers with about 106 bits,
// where hi is the rounded sum.
//
// Source: Joldes, Muller and Popescu 2017.
type doubleWord struct{ hi, lo float64 }

// twoSum returns the exact sum of two float64 numbers (Knuth's algorithm).
func twoSum(first, second float64) doubleWord {
	sum := first + second
	secondPart := sum - first
	return doubleWord{sum, (first - (sum - secondPart)) + (second - secondPart)}
}

// add returns p+q.
func (p doubleWord) add(q doubleWord) doubleWord {
	s, t := twoSum(p.hi, q.hi), twoSum(p.lo, q.lo)
	s = twoSum(s.hi, s.lo+t.hi)
	return twoSum(s.hi, s.lo+t.lo)
}

// mul returns p*q.
func (p doubleWord) mul(q doubleWord) doubleWord {
	h := p.hi * q.hi
	l := math.FMA(p.hi, q.hi, -h) + (p.hi*q.lo + p.lo*q.hi)
	return twoSum(h, l)
}

// scale returns p times a float64.
func (p doubleWord) scale(factor float64) doubleWord { return p.mul(doubleWord{factor, 0}) }

// div returns p/n for a small integer n.
func (p doubleWord) div(n float64) doubleWord {
	q := p.hi / n
	r := math.FMA(-q, n, p.hi) + p.lo
	return twoSum(q, r/n)
}

// ln2 is the natural logarithm of 2.
func ln2() doubleWord { return doubleWord{math.Ln2, 2.319046813846299558e-17} }

// logDoubleWord returns the natural logarithm of a positive finite number.
func logDoubleWord(number float64) doubleWord {
	mantissa, exponent := math.Frexp(number)
	if mantissa < math.Sqrt2/2 {
		mantissa, exponent = 2*mantissa, exponent-1
	}
	logarithm := logMantissa(mantissa)
	if exponent == 0 {
		return logarithm
	}
	return ln2().scale(float64(exponent)).add(logarithm)
}

// logMantissa returns the natural logarithm of a number between 0.7 and 1.5. For a number close to 1 it sums a series, and otherwise it improves
// math.Log by one step of Newton's method.
func logMantissa(number float64) doubleWord {
	difference := doubleWord{number - 1, 0} // exact
	if math.Abs(difference.hi) > 0x1p-12 {
		// One step of Newton's method doubles the precision: with the approximation a of log(x), it gives a + (x*exp(-a) - 1).
		approximation := math.Log(number)
		expMinus1 := expm1DoubleWord(doubleWord{-approximation, 0}) // exp(-a) - 1
		correction := expMinus1.scale(number).add(difference)       // x*exp(-a) - 1
		return doubleWord{approximation, 0}.add(correction)
	}
	sum := doubleWord{} // t - t²/2 + t³/3 - …
	for n := 10.0; n >= 1; n-- {
		sum = doubleWord{1, 0}.div(n).add(sum.mul(difference).scale(-1))
	}
	return sum.mul(difference)
}

// expDoubleWord returns e^x for a number x between -700 and 700.
func expDoubleWord(number doubleWord) float64 {
	exponent := math.Round(number.hi / math.Ln2) // exp(x) is 2^exponent * exp(x - exponent*ln 2)
	expm1 := expm1DoubleWord(number.add(ln2().scale(-exponent)))
	return math.Ldexp(expm1.add(doubleWord{1, 0}).hi, int(exponent))
}

// expm1DoubleWord returns exp(x)-1 for an x near 0. It sums the series for x/2^6, and then doubles the argument six times.
func expm1DoubleWord(x doubleWord) doubleWord {
	const halvings = 6
	x = x.scale(1.0 / (1 << halvings))
	sum := doubleWord{} // x + x²/2! + x³/3! + …
	for n := 13.0; n >= 1; n-- {
		sum = doubleWord{1, 0}.add(sum).mul(x).div(n)
	}
	for range halvings {
		sum = sum.add(sum).add(sum.mul(sum)) // exp(2x)-1
	}
	return sum
}
