package sema

import (
	"cmp"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// enclosure encloses the value of a number. A finite number lies between low and high. Without bounds the number is an infinity or NaN,
// specialValue. If unbounded is set, the number is unknown and may be NaN.
type enclosure struct {
	low, high    *big.Float
	specialValue float64
	isUnbounded  bool
}

const (
	// boundBits is the precision of the bounds. If a bound exceeds 2^maxBoundExponent, the enclosure is unbounded. A bound below
	// 2^-maxBoundExponent is rounded to that or to zero. So no operation on bounds leaves the range of a big.Float.
	boundBits        = 256
	maxBoundExponent = 1 << 24
)

// roundingDown returns a new number whose operations round down.
func roundingDown() *big.Float { return new(big.Float).SetPrec(boundBits).SetMode(big.ToNegativeInf) }

// roundingUp returns a new number whose operations round up.
func roundingUp() *big.Float { return new(big.Float).SetPrec(boundBits).SetMode(big.ToPositiveInf) }

// newEnclosure returns the enclosure with the bounds low, which was rounded down, and high, which was rounded up. Without a bound that can be
// represented, the enclosure is unbounded.
func newEnclosure(low, high *big.Float) enclosure {
	if low.IsInf() || high.IsInf() || low.MantExp(nil) > maxBoundExponent || high.MantExp(nil) > maxBoundExponent {
		return enclosure{isUnbounded: true}
	}
	// Move a bound that is too close to zero outwards.
	if low.MantExp(nil) < -maxBoundExponent {
		low = smallestBound(min(low.Sign(), 0))
	}
	if high.MantExp(nil) < -maxBoundExponent {
		high = smallestBound(max(high.Sign(), 0))
	}
	return enclosure{low: low, high: high}
}

// smallestBound returns the bound with a sign that is nearest to zero; 0 for the sign 0.
func smallestBound(sign int) *big.Float {
	return new(big.Float).SetMantExp(big.NewFloat(float64(sign)), -maxBoundExponent)
}

// rationalEnclosure encloses a fraction.
func rationalEnclosure(fraction *big.Rat) enclosure {
	return enclosure{low: roundingDown().SetRat(fraction), high: roundingUp().SetRat(fraction)}
}

// floatEnclosure encloses a float64.
func floatEnclosure(float float64) enclosure {
	if math.IsInf(float, 0) || math.IsNaN(float) {
		return enclosure{specialValue: float}
	}
	return enclosure{low: roundingDown().SetFloat64(float), high: roundingUp().SetFloat64(float)}
}

// smaller returns the smaller of two numbers.
func smaller(left, right *big.Float) *big.Float {
	if right.Cmp(left) < 0 {
		return right
	}
	return left
}

// larger returns the larger of two numbers.
func larger(left, right *big.Float) *big.Float {
	if right.Cmp(left) > 0 {
		return right
	}
	return left
}

// isFinite reports whether the number is known to be finite.
func (x enclosure) isFinite() bool { return x.low != nil }

// isPoint reports whether both bounds are equal, so that the number is known exactly.
func (x enclosure) isPoint() bool { return x.isFinite() && x.low.Cmp(x.high) == 0 }

// sign returns the sign of both bounds; ok is false if the signs differ.
func (x enclosure) sign() (sign int, ok bool) { return x.low.Sign(), x.low.Sign() == x.high.Sign() }

// toInterval returns the narrowest interval of float64 numbers that contains the number.
func (x enclosure) toInterval() interval {
	switch {
	case x.isUnbounded:
		return unboundedInterval()
	case !x.isFinite():
		return point(x.specialValue)
	}
	low, accuracy := x.low.Float64()
	if accuracy == big.Above {
		low = math.Nextafter(low, math.Inf(-1))
	}
	high, accuracy := x.high.Float64()
	if accuracy == big.Below {
		high = math.Nextafter(high, math.Inf(1))
	}
	return interval{low, high}
}

// applyToFloats applies a float64 operation to two numbers, at least one of which is an infinity or NaN. Of a finite number only the sign matters, so the
// operation is applied to numbers with these signs. If different possible signs give different results, the result is unbounded.
func applyToFloats(left, right enclosure, operation func(left, right float64) float64) enclosure {
	if left.isUnbounded || right.isUnbounded {
		return enclosure{isUnbounded: true}
	}
	result := operation(left.signs()[0], right.signs()[0])
	for _, leftSign := range left.signs() {
		for _, rightSign := range right.signs() {
			signResult := operation(leftSign, rightSign)
			bothNaN := math.IsNaN(result) && math.IsNaN(signResult)
			if signResult != result && !bothNaN {
				return enclosure{isUnbounded: true}
			}
		}
	}
	return floatEnclosure(result)
}

// signs returns the signs of both bounds. For an infinity or NaN it returns the number itself, twice.
func (x enclosure) signs() [2]float64 {
	if !x.isFinite() {
		return [2]float64{x.specialValue, x.specialValue}
	}
	return [2]float64{float64(x.low.Sign()), float64(x.high.Sign())}
}

// neg returns the enclosure of -x.
func (x enclosure) neg() enclosure {
	if !x.isFinite() {
		return enclosure{specialValue: -x.specialValue, isUnbounded: x.isUnbounded}
	}
	return enclosure{low: roundingDown().Neg(x.high), high: roundingUp().Neg(x.low)}
}

// apply returns an enclosure of left+right, left-right or left*right, by interval arithmetic.
func (left enclosure) apply(op syntax.Op, right enclosure) enclosure {
	switch {
	case !left.isFinite() || !right.isFinite():
		return applyToFloats(left, right, func(first, second float64) float64 { return arith(op, first, second) })
	case op == syntax.OpAdd:
		return newEnclosure(roundingDown().Add(left.low, right.low), roundingUp().Add(left.high, right.high))
	case op == syntax.OpSub:
		return newEnclosure(roundingDown().Sub(left.low, right.high), roundingUp().Sub(left.high, right.low))
	case left.low.Sign() >= 0 && right.low.Sign() >= 0:
		return newEnclosure(roundingDown().Mul(left.low, right.low), roundingUp().Mul(left.high, right.high))
	}
	return boundsOfCorners(left, right, (*big.Float).Mul)
}

// boundsOfCorners returns an enclosure of a product or quotient of two enclosures. Its bounds are the least and the greatest result for the four
// combinations of their bounds.
func boundsOfCorners(left, right enclosure, operation func(result, left, right *big.Float) *big.Float) enclosure {
	low, high := operation(roundingDown(), left.low, right.low), operation(roundingUp(), left.low, right.low)
	if left.isPoint() && right.isPoint() {
		return newEnclosure(low, high)
	}
	for _, corner := range [][2]*big.Float{{left.low, right.high}, {left.high, right.low}, {left.high, right.high}} {
		low = smaller(low, operation(roundingDown(), corner[0], corner[1]))
		high = larger(high, operation(roundingUp(), corner[0], corner[1]))
	}
	return newEnclosure(low, high)
}

// dividedBy returns an enclosure of left/right. It is unbounded if the sign of right is unknown.
func (left enclosure) dividedBy(right enclosure) enclosure {
	if !left.isFinite() || !right.isFinite() {
		return applyToFloats(left, right, func(first, second float64) float64 { return first / second })
	}
	switch sign, ok := right.sign(); {
	case !ok:
		return enclosure{isUnbounded: true}
	case sign == 0: // 1/0 is an infinity
		return applyToFloats(left, right, func(first, second float64) float64 { return first / second })
	}
	if left.low.Sign() >= 0 && right.low.Sign() > 0 {
		return newEnclosure(roundingDown().Quo(left.low, right.high), roundingUp().Quo(left.high, right.low))
	}
	return boundsOfCorners(left, right, (*big.Float).Quo)
}

// pow returns an enclosure of base^exponent. floatResult is the result in float64 arithmetic. pow returns floatResult itself where a power has no finite value
// or an operand has none, such as 0^-1 and (-2)^0.5, because float64 arithmetic defines these cases.
func (base enclosure) pow(exponent enclosure, floatResult float64) enclosure {
	if !base.isFinite() || !exponent.isFinite() {
		if base.isRange() || exponent.isRange() {
			return enclosure{isUnbounded: true}
		}
		return floatEnclosure(floatResult)
	}
	sign, hasSign := base.sign()
	if hasSign && sign > 0 {
		isSquareRoot := exponent.isPoint() && exponent.low.Cmp(big.NewFloat(0.5)) == 0
		if isSquareRoot {
			return newEnclosure(roundingDown().Sqrt(base.low), roundingUp().Sqrt(base.high))
		}
		return base.ln().apply(syntax.OpMul, exponent).exp()
	}
	// The base is not known to be positive.
	isSpecial := math.IsInf(floatResult, 0) || math.IsNaN(floatResult)
	if base.isPoint() && exponent.isPoint() && isSpecial { // 0^-1 and (-2)^0.5
		return floatEnclosure(floatResult)
	}
	if hasSign && sign < 0 && exponent.isPoint() && exponent.low.IsInt() {
		power := base.neg().pow(exponent, floatResult)
		if intExponent, _ := exponent.low.Int(nil); intExponent.Bit(0) != 0 {
			return power.neg()
		}
		return power
	}
	return enclosure{isUnbounded: true}
}

// isRange reports whether an enclosure contains several numbers.
func (number enclosure) isRange() bool {
	return number.isUnbounded || number.isFinite() && !number.isPoint()
}

// log returns an enclosure of the logarithm of a number to a base. floatResult is the result in float64 arithmetic. log returns floatResult itself if an
// operand is an infinity or NaN, because float64 arithmetic defines these cases.
func (number enclosure) log(base enclosure, floatResult float64) enclosure {
	if number.isUnbounded || base.isUnbounded {
		return enclosure{isUnbounded: true}
	}
	if !number.isFinite() || !base.isFinite() {
		if number.isRange() || base.isRange() {
			return enclosure{isUnbounded: true}
		}
		return floatEnclosure(floatResult)
	}
	one := big.NewFloat(1)
	isInvalidBase := base.isPoint() && (base.low.Sign() <= 0 || base.low.Cmp(one) == 0)
	isNegative := number.isPoint() && number.low.Sign() < 0
	isZero := number.isPoint() && number.low.Sign() == 0
	switch {
	case isInvalidBase || isNegative:
		return floatEnclosure(math.NaN())
	case isZero && base.isPoint():
		return floatEnclosure(math.Inf(-base.low.Cmp(one)))
	case number.low.Sign() > 0 && base.low.Sign() > 0:
		return number.ln().dividedBy(base.ln())
	}
	return enclosure{isUnbounded: true}
}

// compare evaluates the comparison left op right. ok is false if the enclosures overlap and do not determine the result.
func (left enclosure) compare(op syntax.Op, right enclosure) (holds, ok bool) {
	leftNaN, rightNaN := math.IsNaN(left.specialValue), math.IsNaN(right.specialValue)
	switch {
	case left.isUnbounded || right.isUnbounded:
		return false, false
	case leftNaN || rightNaN: // NaN equals NaN in PRISM
		areEqual := leftNaN && rightNaN
		return op == syntax.OpEq && areEqual || op == syntax.OpNe && !areEqual, true
	case !left.isFinite() || !right.isFinite(): // an infinity
		return Holds(op, cmp.Compare(left.specialValue, right.specialValue)), true
	case left.high.Cmp(right.low) < 0:
		return Holds(op, -1), true
	case left.low.Cmp(right.high) > 0:
		return Holds(op, +1), true
	case left.isPoint() && right.isPoint():
		return Holds(op, 0), true
	}
	return false, false
}

// root returns the root of a positive fraction; nil if the root is irrational. A degree of 2 means the square root.
func root(fraction *big.Rat, degree int64) *big.Rat {
	numerator, denominator := intRoot(fraction.Num(), degree), intRoot(fraction.Denom(), degree)
	if fraction.Sign() <= 0 || numerator == nil || denominator == nil {
		return nil
	}
	return new(big.Rat).SetFrac(numerator, denominator)
}

// intRoot returns the root of a positive integer, with the given degree. It returns nil if the root is not an integer. Newton's method approaches
// the root from above.
func intRoot(power *big.Int, rootDegree int64) *big.Int {
	if power.Sign() <= 0 {
		return nil
	}
	candidate := new(big.Int).Lsh(big.NewInt(1), uint(int64(power.BitLen())/rootDegree+1)) // above the root
	degree, degreeMinus1 := big.NewInt(rootDegree), big.NewInt(rootDegree-1)
	for {
		better := new(big.Int).Exp(candidate, degreeMinus1, nil)
		better.Quo(power, better)
		better.Add(better, new(big.Int).Mul(degreeMinus1, candidate)).Quo(better, degree)
		if better.Cmp(candidate) >= 0 {
			break
		}
		candidate = better
	}
	if new(big.Int).Exp(candidate, degree, nil).Cmp(power) != 0 {
		return nil
	}
	return candidate
}

// maxRoot is the largest denominator that is tried for an exponent or a logarithm.
const maxRoot = 12

// log returns the logarithm of a number to a base, if it is a fraction n/d with a small denominator d: then number^d = base^n. Otherwise it
// returns the unknown number rational{}.
func (number rational) log(base rational) rational {
	isOne := base.IsInt() && base.Num().IsInt64() && base.Num().Int64() == 1
	if number.Sign() <= 0 || base.Sign() <= 0 || isOne {
		return rational{}
	}
	numberFloat, _ := number.Float64()
	baseFloat, _ := base.Float64()
	logarithm := Log(numberFloat, baseFloat)
	if !(math.Abs(logarithm) < maxRatBits) {
		return rational{}
	}
	const maxDistance = 1e-6 // of the rounded numerator
	for denominator := int64(1); denominator <= maxRoot; denominator++ {
		product := logarithm * float64(denominator)
		numerator := int64(math.Round(product))
		if math.Abs(product-float64(numerator)) > maxDistance {
			continue
		}
		numberPower, basePower := number.pow(rational{big.NewRat(denominator, 1)}), base.pow(rational{big.NewRat(numerator, 1)})
		if numberPower.Rat != nil && basePower.Rat != nil && numberPower.cmp(basePower) == 0 {
			return rational{big.NewRat(numerator, denominator)}
		}
	}
	return rational{}
}
