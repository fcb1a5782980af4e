package solve

import "math/big"

// fraction is a sum of fractions that is reduced to lowest terms only at the end. The denominators of
// the terms mostly divide one another.
type fraction struct {
	num, den  big.Int
	scratchQuotient, scratchRemainder big.Int // scratch
}

func (f *fraction) reset() {
	f.num.SetInt64(0)
	f.den.SetInt64(1)
}

// add adds num/den.
func (f *fraction) add(num, den *big.Int) {
	if f.den.Cmp(den) == 0 {
		f.num.Add(&f.num, num)
		return
	}
	if f.scratchQuotient.QuoRem(&f.den, den, &f.scratchRemainder); f.scratchRemainder.Sign() != 0 {
		// The new denominator is the least common multiple: f.den times den / gcd(f.den, den).
		f.scratchRemainder.GCD(nil, nil, &f.den, den)
		f.scratchQuotient.Quo(&f.den, &f.scratchRemainder)
		f.scratchRemainder.Quo(den, &f.scratchRemainder)
		f.num.Mul(&f.num, &f.scratchRemainder)
		f.den.Mul(&f.den, &f.scratchRemainder)
	}
	f.scratchRemainder.Mul(num, &f.scratchQuotient)
	f.num.Add(&f.num, &f.scratchRemainder)
}

func (f *fraction) addRat(x *big.Rat) { f.add(x.Num(), x.Denom()) }

// addProduct adds w*x, and overwrites x with the product.
func (f *fraction) addProduct(w *big.Rat, x *fraction) {
	x.num.Mul(&x.num, w.Num())
	x.den.Mul(&x.den, w.Denom())
	f.add(&x.num, &x.den)
}

// rat returns the sum in lowest terms.
func (f *fraction) rat() *big.Rat { return new(big.Rat).SetFrac(&f.num, &f.den) }
