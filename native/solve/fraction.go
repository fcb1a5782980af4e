package solve

import "math/big"

// fraction is a sum of fractions that is reduced to lowest terms only at the end. The denominators of
// the terms mostly divide one another.
type fraction struct {
	numerator, denominator            big.Int
	scratchQuotient, scratchRemainder big.Int // scratch
}

func (fraction *fraction) setZero() {
	fraction.numerator.SetInt64(0)
	fraction.denominator.SetInt64(1)
}

// addQuotient adds numerator/denominator to a fraction over a common denominator. It does not reduce the sum to lowest terms.
func (fraction *fraction) addQuotient(numerator, denominator *big.Int) {
	if fraction.denominator.Cmp(denominator) == 0 {
		fraction.numerator.Add(&fraction.numerator, numerator)
		return
	}
	scale, scratch := &fraction.scratchQuotient, &fraction.scratchRemainder // scale becomes the common denominator divided by denominator
	scale.QuoRem(&fraction.denominator, denominator, scratch)
	isMultiple := scratch.Sign() == 0
	if !isMultiple {
		// Expand the fraction by denominator/gcd, so that its denominator becomes the least common multiple of both denominators.
		gcd := scratch.GCD(nil, nil, &fraction.denominator, denominator)
		scale.Quo(&fraction.denominator, gcd)
		expansion := scratch.Quo(denominator, gcd)
		fraction.numerator.Mul(&fraction.numerator, expansion)
		fraction.denominator.Mul(&fraction.denominator, expansion)
	}
	scaledNumerator := scratch.Mul(numerator, scale)
	fraction.numerator.Add(&fraction.numerator, scaledNumerator)
}

func (fraction *fraction) addFraction(value *big.Rat) {
	fraction.addQuotient(value.Num(), value.Denom())
}

// addProduct adds factor*other, and overwrites other with the product.
func (fraction *fraction) addProduct(factor *big.Rat, other *fraction) {
	other.numerator.Mul(&other.numerator, factor.Num())
	other.denominator.Mul(&other.denominator, factor.Denom())
	fraction.addQuotient(&other.numerator, &other.denominator)
}

// divideBy divides the fraction by divisor, which must not be 0.
func (fraction *fraction) divideBy(divisor *fraction) {
	fraction.numerator.Mul(&fraction.numerator, &divisor.denominator)
	fraction.denominator.Mul(&fraction.denominator, &divisor.numerator)
}

// lowestTerms returns the sum in lowest terms.
func (fraction *fraction) lowestTerms() *big.Rat {
	return new(big.Rat).SetFrac(&fraction.numerator, &fraction.denominator)
}
