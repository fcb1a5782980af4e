package solve

import "math/big"

// fraction is a sum of fractions that is reduced to lowest terms only at the end. The denominators of
// the terms mostly divide one another.
type fraction struct {
	numerator, denominator            big.Int
	scratchQuotient, scratchRemainder big.Int // scratch
}

func (f *fraction) setZero() {
	f.numerator.SetInt64(0)
	f.denominator.SetInt64(1)
}

// addQuotient adds numerator/denominator to f over a common denominator. It does not reduce the sum to lowest terms.
func (f *fraction) addQuotient(numerator, denominator *big.Int) {
	if f.denominator.Cmp(denominator) == 0 {
		f.numerator.Add(&f.numerator, numerator)
		return
	}
	scale, scratch := &f.scratchQuotient, &f.scratchRemainder // scale is the common denominator divided by denominator
	scale.QuoRem(&f.denominator, denominator, scratch)
	isMultiple := scratch.Sign() == 0
	if !isMultiple {
		// Expand the fraction by denominator/gcd. Its denominator becomes the least common multiple.
		gcd := scratch.GCD(nil, nil, &f.denominator, denominator)
		scale.Quo(&f.denominator, gcd)
		expansion := scratch.Quo(denominator, gcd)
		f.numerator.Mul(&f.numerator, expansion)
		f.denominator.Mul(&f.denominator, expansion)
	}
	scaledNumerator := scratch.Mul(numerator, scale)
	f.numerator.Add(&f.numerator, scaledNumerator)
}

func (f *fraction) addFraction(value *big.Rat) { f.addQuotient(value.Num(), value.Denom()) }

// addProduct adds factor*other, and overwrites other with the product.
func (f *fraction) addProduct(factor *big.Rat, other *fraction) {
	other.numerator.Mul(&other.numerator, factor.Num())
	other.denominator.Mul(&other.denominator, factor.Denom())
	f.addQuotient(&other.numerator, &other.denominator)
}

// divideBy divides the fraction by divisor, which must not be 0.
func (f *fraction) divideBy(divisor *fraction) {
	f.numerator.Mul(&f.numerator, &divisor.denominator)
	f.denominator.Mul(&f.denominator, &divisor.numerator)
}

// lowestTerms returns the sum in lowest terms.
func (f *fraction) lowestTerms() *big.Rat { return new(big.Rat).SetFrac(&f.numerator, &f.denominator) }
