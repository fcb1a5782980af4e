package solve

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// ErrFill says that an exact solution would take too much memory.
var ErrFill = errors.New("exact solution: the elimination of a component creates too many terms")

// lifting solves the linear equations scale * x = constant + sum of coefficient[i] * x(column[i]), which must
// have one solution, by p-adic lifting. It computes the solution modulo powers of a prime digit by digit, and
// reconstructs fractions from enough digits. Each digit is the solution modulo the prime for the remainder of
// the constants. Coefficients must be positive, and their sum in a row or column at most the scale of this row or column.
//
// Source: Dixon, Exact solution of linear equations using p-adic expansions (1982).
type lifting struct {
	*eliminationOrder
	rows                             []*exactRow
	prime, inverse, montgomerySquare uint64 // the prime, its inverse modulo 2^64, and 2^128 modulo the prime
	primeInt                         *big.Int
	// The factors modulo the prime, as in eliminationSolver; pivot has the inverses of the pivots.
	upper, lower, pivot []uint64
	smallRows           []smallRow // of each row
}

// smallRow has the scale and coefficients of a row if the sum of their products with digits fits into
// two words; otherwise its scale is 0.
type smallRow struct {
	scale       uint64
	coefficient []uint64
}

// newLifting factorizes the matrix of the equations modulo a prime. Only the scales and coefficients of the rows matter, not their
// constants.
func newLifting(meter *meter, rows []*exactRow) (*lifting, error) {
	lift := &lifting{rows: rows, smallRows: make([]smallRow, len(rows))}
	for k, row := range rows {
		lift.smallRows[k] = newSmallRow(row)
	}
	var err error
	lift.eliminationOrder, err = markowitzOrder(meter, len(rows), func(k int) []uint32 { return rows[k].columns }, math.Inf(1))
	if err != nil {
		return nil, err
	}
	if lift.eliminationOrder == nil {
		return nil, ErrFill
	}
	lift.upper = make([]uint64, len(lift.upperColumns))
	lift.lower = make([]uint64, len(lift.lowerColumns))
	lift.pivot = make([]uint64, len(rows))
	return lift, lift.choosePrime(meter)
}

// choosePrime factorizes the equations modulo a prime of 63 bits. Nearly always the first prime works.
func (lift *lifting) choosePrime(meter *meter) error {
	for prime := uint64(1<<63 - 25); ; prime -= 2 {
		lift.primeInt = new(big.Int).SetUint64(prime)
		if !lift.primeInt.ProbablyPrime(0) {
			continue
		}
		lift.setPrime(prime)
		if ok, err := lift.factorize(meter); ok || err != nil {
			return err
		}
	}
}

// newSmallRow converts the scale and the coefficients of a row to 64-bit words. It returns a row with scale 0 if the scale or the sum of
// the coefficients has more than 62 bits.
func newSmallRow(row *exactRow) smallRow {
	sum := new(big.Int)
	for _, coefficient := range row.coefficients {
		sum.Add(sum, coefficient)
	}
	if max(row.scale.BitLen(), sum.BitLen()) > 62 {
		return smallRow{}
	}
	small := smallRow{scale: row.scale.Uint64()}
	for _, coefficient := range row.coefficients {
		small.coefficient = append(small.coefficient, coefficient.Uint64())
	}
	return small
}

// setPrime prepares Montgomery arithmetic modulo p. The Montgomery form of x is x * 2^64 mod p.
//
// Source: Montgomery, Modular multiplication without trial division (1985).
func (lift *lifting) setPrime(p uint64) {
	lift.prime = p
	// Newton iteration for the inverse of p modulo 2^64: p is its own inverse modulo 2^3. Each step doubles the correct bits.
	inverse := p
	for range 5 {
		inverse *= 2 - p*inverse
	}
	lift.inverse = inverse
	_, twoTo64 := bits.Div64(1, 0, p)
	_, lift.montgomerySquare = bits.Div64(twoTo64, 0, p)
}

// mul returns the Montgomery product x * y / 2^64 modulo the prime.
func (lift *lifting) mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	multiple, _ := bits.Mul64(lo*lift.inverse, lift.prime)
	if hi < multiple {
		hi += lift.prime
	}
	return hi - multiple
}

// sub returns x - y modulo the prime.
func (lift *lifting) sub(x, y uint64) uint64 {
	if x < y {
		x += lift.prime
	}
	return x - y
}

// invert returns the inverse of x modulo the prime p, computed as x^(p-2).
func (lift *lifting) invert(x uint64) uint64 {
	inverse := lift.mul(1, lift.montgomerySquare)
	for exponent := lift.prime - 2; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			inverse = lift.mul(inverse, x)
		}
		x = lift.mul(x, x)
	}
	return inverse
}

// residue returns x modulo the prime, in Montgomery form.
func (lift *lifting) residue(x *big.Int) uint64 {
	remainder := uint64(0)
	words := x.Bits()
	for i := len(words) - 1; i >= 0; i-- {
		word := uint64(words[i])
		if bits.UintSize == 32 {
			_, remainder = bits.Div64(remainder>>32, remainder<<32|word, lift.prime)
			continue
		}
		_, remainder = bits.Div64(remainder, word, lift.prime)
	}
	if x.Sign() < 0 {
		remainder = lift.sub(0, remainder)
	}
	return lift.mul(remainder, lift.montgomerySquare)
}

// factorize computes the triangular factors modulo the prime. It returns false if a pivot is zero.
func (lift *lifting) factorize(meter *meter) (ok bool, err error) {
	workRow := make([]uint64, len(lift.order)) // the current row, by position
	for p, k := range lift.order {
		row := lift.rows[k]
		workRow[p] = lift.residue(row.scale)
		for i, column := range row.columns {
			columnPosition := lift.positionOf[column]
			workRow[columnPosition] = lift.sub(workRow[columnPosition], lift.residue(row.coefficients[i]))
		}
		work := lift.eliminateRow(p, workRow)
		if workRow[p] == 0 {
			return false, nil
		}
		lift.pivot[p], workRow[p] = lift.invert(workRow[p]), 0
		if err := meter.addWork(work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eliminateRow subtracts multiples of earlier rows from workRow, the given row of the matrix, and stores this row of both triangular
// factors. Afterwards workRow contains only the pivot. It returns the number of operations.
func (lift *lifting) eliminateRow(row int, workRow []uint64) (work int) {
	for i := lift.lowerStarts[row]; i < lift.lowerStarts[row+1]; i++ {
		earlier := lift.lowerColumns[i]
		factor := lift.mul(workRow[earlier], lift.pivot[earlier])
		workRow[earlier], lift.lower[i] = 0, factor
		first, end := lift.upperStarts[earlier], lift.upperStarts[earlier+1]
		for j := first; j < end; j++ {
			column := lift.upperColumns[j]
			workRow[column] = lift.sub(workRow[column], lift.mul(factor, lift.upper[j]))
		}
		work += 1 + 4*(end-first)
	}
	for i := lift.upperStarts[row]; i < lift.upperStarts[row+1]; i++ {
		column := lift.upperColumns[i]
		lift.upper[i], workRow[column] = workRow[column], 0
	}
	return work
}

// solveModPrime returns the solution modulo the prime for the given constants, by forward and back substitution.
func (lift *lifting) solveModPrime(constants []*big.Int) []uint64 {
	intermediate := make([]uint64, len(lift.order)) // by position
	for p, k := range lift.order {
		value := lift.residue(constants[k])
		for i := lift.lowerStarts[p]; i < lift.lowerStarts[p+1]; i++ {
			value = lift.sub(value, lift.mul(lift.lower[i], intermediate[lift.lowerColumns[i]]))
		}
		intermediate[p] = value
	}
	x := make([]uint64, len(intermediate))
	for p := len(intermediate) - 1; p >= 0; p-- {
		value := intermediate[p]
		for i := lift.upperStarts[p]; i < lift.upperStarts[p+1]; i++ {
			value = lift.sub(value, lift.mul(lift.upper[i], intermediate[lift.upperColumns[i]]))
		}
		intermediate[p] = lift.mul(value, lift.pivot[p])
		x[lift.order[p]] = lift.mul(intermediate[p], 1)
	}
	return x
}

// solve returns the exact solution for the given constants: its numerators and their common denominator. It computes p-adic digits of the
// solution, and tries to reconstruct fractions from them, until the fractions satisfy the equations.
func (lift *lifting) solve(meter *meter, constant func(unknown int) *big.Int) (numerators []*big.Int, denominator *big.Int, err error) {
	remainder := make([]*big.Int, len(lift.rows))
	for unknown := range remainder {
		remainder[unknown] = new(big.Int).Set(constant(unknown))
	}
	var digits [][]uint64
	nextAttempt := 2 // the number of digits at the next reconstruction
	for {
		digit := lift.solveModPrime(remainder)
		digits = append(digits, digit)
		lift.nextRemainder(remainder, digit)
		if err := meter.addWork(16 * (len(lift.upper) + len(lift.lower) + len(lift.order))); err != nil {
			return nil, nil, err
		}
		if len(digits) < nextAttempt {
			continue
		}
		nextAttempt += max(2, nextAttempt/2)
		numerators, denominator, err := lift.reconstruct(meter, digits)
		if err != nil {
			return nil, nil, err
		}
		if numerators != nil && lift.satisfies(numerators, denominator, constant) {
			return numerators, denominator, nil
		}
	}
}

// nextRemainder replaces each remainder r by (r - (A digit)) / prime, where A is the matrix of the equations, and digit has the new p-adic
// digit of each unknown. The division has no remainder.
func (lift *lifting) nextRemainder(remainder []*big.Int, digit []uint64) {
	for k := range remainder {
		isSmall := lift.smallRows[k].scale != 0
		if isSmall {
			lift.subtractDigitInWords(remainder[k], k, digit)
		} else {
			lift.subtractDigit(remainder[k], k, digit)
		}
		remainder[k].Quo(remainder[k], lift.primeInt)
	}
}

// subtractDigit subtracts (A digit)[k] from a remainder, where A is the matrix of the equations and digit has one p-adic digit of each
// unknown.
func (lift *lifting) subtractDigit(remainder *big.Int, k int, digit []uint64) {
	row := lift.rows[k]
	var digitInt, product big.Int
	remainder.Sub(remainder, product.Mul(row.scale, digitInt.SetUint64(digit[k])))
	for i, column := range row.columns {
		remainder.Add(remainder, product.Mul(row.coefficients[i], digitInt.SetUint64(digit[column])))
	}
}

// subtractDigitInWords subtracts (A digit)[k] from a remainder for a row k with small coefficients. It computes this product in two words
// of 64 bits, which is faster than big integers.
func (lift *lifting) subtractDigitInWords(remainder *big.Int, k int, digit []uint64) {
	row := &lift.smallRows[k]
	var low, high uint64 // the words of the sum of coefficients times digits
	for i, column := range lift.rows[k].columns {
		hi, lo := bits.Mul64(row.coefficient[i], digit[column])
		var carry uint64
		low, carry = bits.Add64(low, lo, 0)
		high += hi + carry
	}
	hi, lo := bits.Mul64(row.scale, digit[k])
	low, borrow := bits.Sub64(low, lo, 0)
	high, borrow = bits.Sub64(high, hi, borrow)
	if borrow == 0 {
		remainder.Add(remainder, twoWords(high, low))
		return
	}
	// The difference is negative.
	low, borrow = bits.Sub64(0, low, 0)
	high, _ = bits.Sub64(0, high, borrow)
	remainder.Sub(remainder, twoWords(high, low))
}

// twoWords returns the number with the given high and low word of 64 bits.
func twoWords(hi, lo uint64) *big.Int {
	x := new(big.Int).SetUint64(hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo))
}

// reconstruct converts the p-adic digits of all unknowns to fractions with a common denominator. It returns nil if there are too few
// digits.
func (lift *lifting) reconstruct(meter *meter, digits [][]uint64) (numerators []*big.Int, denominator *big.Int, err error) {
	modulus := new(big.Int).Exp(lift.primeInt, big.NewInt(int64(len(digits))), nil)
	numerators, denominatorOf := make([]*big.Int, len(lift.order)), make([]*big.Int, len(lift.order))
	denominator = big.NewInt(1) // the product of the denominators so far
	for k := range numerators {
		// If the product is a multiple of the denominator of x, then x times the product is a small integer.
		x := lift.valueOfDigits(digits, k)
		x = symmetricResidue(x.Mul(x, denominator), modulus)
		needsFactor := x.BitLen()+denominator.BitLen()+32 > modulus.BitLen()
		if needsFactor {
			numerator, factor := reconstructFraction(x, modulus)
			if numerator == nil {
				return nil, nil, nil
			}
			x = numerator
			denominator = new(big.Int).Mul(denominator, factor)
		}
		numerators[k], denominatorOf[k] = x, denominator
		if err := meter.addWork(len(digits) * len(digits)); err != nil {
			return nil, nil, err
		}
	}
	for k := range numerators {
		if denominatorOf[k] != denominator {
			numerators[k].Mul(numerators[k], new(big.Int).Quo(denominator, denominatorOf[k]))
		}
	}
	return numerators, denominator, nil
}

// symmetricResidue replaces x by its residue between -modulus/2 and modulus/2, and returns x.
func symmetricResidue(x, modulus *big.Int) *big.Int {
	x.Mod(x, modulus)
	if half := new(big.Int).Rsh(modulus, 1); x.Cmp(half) > 0 {
		x.Sub(x, modulus)
	}
	return x
}

// valueOfDigits returns the number with the given p-adic digits of an unknown.
func (lift *lifting) valueOfDigits(digits [][]uint64, unknown int) *big.Int {
	var digit big.Int
	value := new(big.Int)
	for _, digitOf := range slices.Backward(digits) {
		value.Mul(value, lift.primeInt).Add(value, digit.SetUint64(digitOf[unknown]))
	}
	return value
}

// reconstructFraction returns the fraction n/d with n = d x modulo the modulus and the smallest product n d. It uses the extended Euclidean
// algorithm, and returns nil if this product is not much smaller than the modulus.
//
// Source: Monagan, Maximal quotient rational reconstruction (2004).
func reconstructFraction(residue, modulus *big.Int) (numerator, denominator *big.Int) {
	const minBits = 32 // bits of the quotient
	previousRemainder, remainder := new(big.Int).Set(modulus), new(big.Int).Mod(residue, modulus)
	previousCoeff, coeff := new(big.Int), big.NewInt(1)
	bestBits := minBits
	quotient, product := new(big.Int), new(big.Int)
	for remainder.Sign() != 0 {
		quotient.QuoRem(previousRemainder, remainder, product)
		if quotient.BitLen() > bestBits {
			bestBits = quotient.BitLen()
			numerator, denominator = new(big.Int).Set(remainder), new(big.Int).Set(coeff)
		}
		previousRemainder, remainder, product = remainder, product, previousRemainder
		product.Mul(quotient, coeff)
		previousCoeff.Sub(previousCoeff, product)
		previousCoeff, coeff = coeff, previousCoeff
	}
	if numerator == nil && previousRemainder.Cmp(modulus) == 0 { // x is 0
		return new(big.Int), big.NewInt(1)
	}
	if denominator != nil && denominator.Sign() < 0 {
		numerator.Neg(numerator)
		denominator.Neg(denominator)
	}
	return numerator, denominator
}

// satisfies reports whether the fractions numerators[k]/denominator solve the equations exactly.
func (lift *lifting) satisfies(numerators []*big.Int, denominator *big.Int, constant func(k int) *big.Int) bool {
	var left, right, product big.Int
	for k, row := range lift.rows {
		left.Mul(row.scale, numerators[k])
		right.Mul(constant(k), denominator)
		for i, column := range row.columns {
			right.Add(&right, product.Mul(row.coefficients[i], numerators[column]))
		}
		if left.Cmp(&right) != 0 {
			return false
		}
	}
	return true
}
