package solve

import "math/big"

// fraction is a sum of fractions that is reduced to lowest terms only at the end. The denominators of
// the terms mostly divide one another.
type fraction struct {
	numerator, denominator            big.Int
	scratchQuotient, scratchRemainder big.Int // scratch
}

func (f *fraction) reset() {
	f.numerator.SetInt64(0)
	f.denominator.SetInt64(1)
}

// add adds numerator/denominator to the fraction, over the least common multiple of both denominators. The
// sum is not reduced.
func (f *fraction) add(numerator, denominator *big.Int) {
	if f.denominator.Cmp(denominator) == 0 {
		f.numerator.Add(&f.numerator, numerator)
		return
	}
	if f.scratchQuotient.QuoRem(&f.denominator, denominator, &f.scratchRemainder); f.scratchRemainder.Sign() != 0 {
		// The new denominator is the least common multiple: the own one times the other, divided by their gcd.
		f.scratchRemainder.GCD(nil, nil, &f.denominator, denominator)
		f.scratchQuotient.Quo(&f.denominator, &f.scratchRemainder)
		f.scratchRemainder.Quo(denominator, &f.scratchRemainder)
		f.numerator.Mul(&f.numerator, &f.scratchRemainder)
		f.denominator.Mul(&f.denominator, &f.scratchRemainder)
	}
	f.scratchRemainder.Mul(numerator, &f.scratchQuotient)
	f.numerator.Add(&f.numerator, &f.scratchRemainder)
}

func (f *fraction) addRat(value *big.Rat) { f.add(value.Num(), value.Denom()) }

// addProduct adds factor*x, and overwrites x with the product.
func (f *fraction) addProduct(factor *big.Rat, x *fraction) {
	x.numerator.Mul(&x.numerator, factor.Num())
	x.denominator.Mul(&x.denominator, factor.Denom())
	f.add(&x.numerator, &x.denominator)
}

// rat returns the sum in lowest terms.
func (f *fraction) rat() *big.Rat { return new(big.Rat).SetFrac(&f.numerator, &f.denominator) }
