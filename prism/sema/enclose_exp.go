package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// lnTwo encloses the natural logarithm of 2 by 320 of its bits.
func lnTwo() enclosure {
	const digits = "0xb17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8baafa2be7b876206debac98"
	n, _ := new(big.Int).SetString(digits, 0)
	low := roundingDown().SetInt(n)
	high := roundingUp().SetInt(n.Add(n, big.NewInt(1)))
	return enclosure{low: low.SetMantExp(low, -320), high: high.SetMantExp(high, -320)}
}

// exp returns an enclosure of e^x for all numbers x in the given enclosure: an interval that contains all these powers.
func (x enclosure) exp() enclosure {
	if !x.isFinite() {
		return enclosure{isUnbounded: true}
	}
	low := expOf(x.low)
	width := roundingUp().Sub(x.high, x.low)
	if width.Sign() == 0 || !low.isFinite() {
		return low
	}
	one := big.NewFloat(1)
	if width.Cmp(one) < 0 { // exp(low + width) < exp(low) (1 + 2 width)
		factor := width.Add(one, width.SetMantExp(width, 1))
		return newEnclosure(low.low, factor.Mul(factor, low.high))
	}
	high := expOf(x.high)
	if !high.isFinite() {
		return enclosure{isUnbounded: true}
	}
	return enclosure{low: low.low, high: high.high}
}

// expOf returns an enclosure of e^x for the exponent x. With k = floor(x/ln 2) and s = (x - k ln 2)/2^16, it is 2^k * exp(s)^(2^16). The
// Taylor series gives exp(s).
func expOf(exponent *big.Float) enclosure {
	const numTerms, halvings = 14, 16
	approximation, _ := exponent.Float64()
	if !(math.Abs(approximation) < maxBoundExponent/4) {
		if exponent.Sign() < 0 {
			return enclosure{low: new(big.Float), high: smallestBound(1)}
		}
		return enclosure{isUnbounded: true}
	}
	powerOfTwo := math.Floor(approximation / math.Ln2)
	reducedExponent := enclosure{low: exponent, high: exponent}
	if powerOfTwo != 0 {
		reducedExponent = reducedExponent.apply(syntax.OpSub, lnTwo().apply(syntax.OpMul, floatEnclosure(powerOfTwo)))
	}
	reducedExponent = reducedExponent.scale(-halvings)
	// |s| < 2^-16, and so the terms that are left out sum to less than
	// 2|s|^14/14! < 2^-243 |s|.
	scaledSum, scale := floatEnclosure(1), 1.0 // scaledSum is a partial sum of the series, times scale
	for n := numTerms - 1; n >= 1; n-- {
		scale *= float64(n)
		scaledSum = scaledSum.apply(syntax.OpMul, reducedExponent).apply(syntax.OpAdd, floatEnclosure(scale))
	}
	scaledSum = scaledSum.dividedBy(floatEnclosure(scale))
	truncationError := reducedExponent.maxAbs()
	truncationError.SetMantExp(truncationError, 13-boundBits)
	scaledSum = scaledSum.apply(syntax.OpAdd, newEnclosure(roundingDown().Neg(truncationError), truncationError))
	for range halvings {
		scaledSum = scaledSum.apply(syntax.OpMul, scaledSum)
	}
	return scaledSum.scale(int(powerOfTwo))
}

// ln returns an enclosure of the natural logarithm of a positive number.
func (x enclosure) ln() enclosure {
	low := lnOf(x.low)
	if x.isPoint() || !low.isFinite() {
		return low
	}
	high := lnOf(x.high)
	if !high.isFinite() {
		return enclosure{isUnbounded: true}
	}
	return enclosure{low: low.low, high: high.high}
}

// lnOf returns an enclosure of the natural logarithm of a positive number m*2^k. It is k ln 2 + y + ln(1+d), where y approximates ln m, and
// d = m exp(-y) - 1 is tiny.
func lnOf(number *big.Float) enclosure {
	mantissa := new(big.Float)
	exponent := number.MantExp(mantissa)
	approximation, _ := mantissa.Float64()
	if approximation < math.Sqrt2/2 {
		mantissa, exponent, approximation = mantissa.SetMantExp(mantissa, 1), exponent-1, 2*approximation
	}
	approximateLog := math.Log(approximation)
	product := expOf(big.NewFloat(-approximateLog)).apply(syntax.OpMul, enclosure{low: mantissa, high: mantissa})
	difference := product.apply(syntax.OpSub, floatEnclosure(1))
	if difference.maxAbs().Cmp(big.NewFloat(0x1p-44)) > 0 {
		return enclosure{isUnbounded: true} // math.Log is not precise enough; this never happens
	}
	logarithm := lnNearOne(difference).apply(syntax.OpAdd, floatEnclosure(approximateLog))
	if exponent == 0 {
		return logarithm
	}
	return lnTwo().apply(syntax.OpMul, floatEnclosure(float64(exponent))).apply(syntax.OpAdd, logarithm)
}

// lnNearOne returns an enclosure of ln(1+d) for a difference d with |d| <= 2^-44, by the series d - d²/2 + d³/3 - ….
func lnNearOne(difference enclosure) enclosure {
	const numTerms, commonMultiple = 6, 60 // the sum is multiplied by the common multiple of all denominators
	sum := floatEnclosure(0)
	for n := numTerms; n >= 1; n-- {
		coefficient := commonMultiple / n
		if n%2 == 0 {
			coefficient = -coefficient
		}
		sum = sum.apply(syntax.OpMul, difference).apply(syntax.OpAdd, floatEnclosure(float64(coefficient)))
	}
	sum = sum.apply(syntax.OpMul, difference).dividedBy(floatEnclosure(commonMultiple))
	// The terms that are left out sum to less than |d|^7/7 + |d|^8/8 + … < 2^-256 |d|.
	truncationError := difference.maxAbs()
	truncationError.SetMantExp(truncationError, -boundBits)
	return sum.apply(syntax.OpAdd, newEnclosure(roundingDown().Neg(truncationError), truncationError))
}

// scale returns an enclosure of x * 2^k.
func (x enclosure) scale(k int) enclosure {
	return newEnclosure(roundingDown().SetMantExp(x.low, k), roundingUp().SetMantExp(x.high, k))
}

// maxAbs returns the largest absolute value that is enclosed.
func (x enclosure) maxAbs() *big.Float {
	return new(big.Float).Set(larger(roundingUp().Neg(x.low), x.high))
}
