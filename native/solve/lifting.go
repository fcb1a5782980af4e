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
	// The factors modulo the prime, as in eliminationSolver; inversePivots has the inverses of the pivots.
	upperFactor, lowerFactor, inversePivots []uint64
	smallRows                               []smallRow // of each row
}

// smallRow has the scale and coefficients of a row if the sum of their products with digits fits into
// two words; otherwise its scale is 0.
type smallRow struct {
	scale        uint64
	coefficients []uint64
}

// newLifting factorizes the matrix of the equations modulo a prime. Only the scales and coefficients of the rows matter, not their
// constants.
func newLifting(meter *meter, rows []*exactRow) (*lifting, error) {
	lifting := &lifting{rows: rows, smallRows: make([]smallRow, len(rows))}
	for unknown, row := range rows {
		lifting.smallRows[unknown] = newSmallRow(row)
	}
	var err error
	lifting.eliminationOrder, err = markowitzOrder(meter, len(rows), func(unknown int) []uint32 { return rows[unknown].columns }, math.Inf(1))
	if err != nil {
		return nil, err
	}
	if lifting.eliminationOrder == nil {
		return nil, ErrFill
	}
	lifting.upperFactor = make([]uint64, len(lifting.upperColumns))
	lifting.lowerFactor = make([]uint64, len(lifting.lowerColumns))
	lifting.inversePivots = make([]uint64, len(rows))
	return lifting, lifting.choosePrime(meter)
}

// choosePrime factorizes the equations modulo a prime of 63 bits. Nearly always the first prime works.
func (lifting *lifting) choosePrime(meter *meter) error {
	const greatestPrime = 1<<63 - 25 // the greatest prime below 2^63
	for prime := uint64(greatestPrime); ; prime -= 2 {
		lifting.primeInt = new(big.Int).SetUint64(prime)
		if !lifting.primeInt.ProbablyPrime(0) {
			continue
		}
		lifting.setPrime(prime)
		if ok, err := lifting.factorize(meter); ok || err != nil {
			return err
		}
	}
}

// newSmallRow converts the scale and the coefficients of a row to 64-bit words, for fast arithmetic. If the scale or the sum of the coefficients has more
// than 62 bits, it returns a row with scale 0.
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
		small.coefficients = append(small.coefficients, coefficient.Uint64())
	}
	return small
}

// setPrime prepares Montgomery arithmetic modulo prime. The Montgomery form of x is x * 2^64 mod p.
//
// Source: Montgomery, Modular multiplication without trial division (1985).
func (lifting *lifting) setPrime(prime uint64) {
	lifting.prime = prime
	// Newton iteration for the inverse of p modulo 2^64. It begins with p, which is its own inverse modulo 2^3; each step doubles the number of correct bits.
	inverse := prime
	for range 5 {
		inverse *= 2 - prime*inverse
	}
	lifting.inverse = inverse
	_, twoTo64 := bits.Div64(1, 0, prime)
	_, lifting.montgomerySquare = bits.Div64(twoTo64, 0, prime)
}

// multiply returns the Montgomery product x * y / 2^64 modulo the prime.
func (lifting *lifting) multiply(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	multiple, _ := bits.Mul64(lo*lifting.inverse, lifting.prime)
	if hi < multiple {
		hi += lifting.prime
	}
	return hi - multiple
}

// subtract returns x - y modulo the prime.
func (lifting *lifting) subtract(x, y uint64) uint64 {
	if x < y {
		x += lifting.prime
	}
	return x - y
}

// invert returns the inverse of x modulo the prime p, computed as x^(p-2).
func (lifting *lifting) invert(x uint64) uint64 {
	inverse := lifting.multiply(1, lifting.montgomerySquare)
	for exponent := lifting.prime - 2; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			inverse = lifting.multiply(inverse, x)
		}
		x = lifting.multiply(x, x)
	}
	return inverse
}

// residue returns x modulo the prime, in Montgomery form.
func (lifting *lifting) residue(x *big.Int) uint64 {
	remainder := uint64(0)
	words := x.Bits()
	for i := len(words) - 1; i >= 0; i-- {
		word := uint64(words[i])
		if bits.UintSize == 32 {
			_, remainder = bits.Div64(remainder>>32, remainder<<32|word, lifting.prime)
			continue
		}
		_, remainder = bits.Div64(remainder, word, lifting.prime)
	}
	if x.Sign() < 0 {
		remainder = lifting.subtract(0, remainder)
	}
	return lifting.multiply(remainder, lifting.montgomerySquare)
}

// factorize computes the triangular factors modulo the prime. It returns false if a pivot is zero.
func (lifting *lifting) factorize(meter *meter) (ok bool, err error) {
	workRow := make([]uint64, len(lifting.order)) // the current row, by position
	for position, unknown := range lifting.order {
		row := lifting.rows[unknown]
		workRow[position] = lifting.residue(row.scale)
		for i, column := range row.columns {
			columnPosition := lifting.positionOf[column]
			workRow[columnPosition] = lifting.subtract(workRow[columnPosition], lifting.residue(row.coefficients[i]))
		}
		work := lifting.eliminateRow(position, workRow)
		if workRow[position] == 0 {
			return false, nil
		}
		lifting.inversePivots[position], workRow[position] = lifting.invert(workRow[position]), 0
		if err := meter.addWork(work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eliminateRow eliminates all earlier unknowns from workRow, which has the given row of the matrix, by subtracting multiples of earlier rows. It stores this
// row of both triangular factors. Afterwards workRow contains only the pivot. It returns the number of operations.
func (lifting *lifting) eliminateRow(row int, workRow []uint64) (work int) {
	for i := lifting.lowerStarts[row]; i < lifting.lowerStarts[row+1]; i++ {
		earlier := lifting.lowerColumns[i]
		factor := lifting.multiply(workRow[earlier], lifting.inversePivots[earlier])
		workRow[earlier], lifting.lowerFactor[i] = 0, factor
		first, end := lifting.upperStarts[earlier], lifting.upperStarts[earlier+1]
		for term := first; term < end; term++ {
			column := lifting.upperColumns[term]
			workRow[column] = lifting.subtract(workRow[column], lifting.multiply(factor, lifting.upperFactor[term]))
		}
		work += 1 + 4*(end-first)
	}
	for i := lifting.upperStarts[row]; i < lifting.upperStarts[row+1]; i++ {
		column := lifting.upperColumns[i]
		lifting.upperFactor[i], workRow[column] = workRow[column], 0
	}
	return work
}

// solveModPrime returns the solution modulo the prime for the given constants, by forward and back substitution.
func (lifting *lifting) solveModPrime(constants []*big.Int) []uint64 {
	intermediate := make([]uint64, len(lifting.order)) // by position
	for position, unknown := range lifting.order {
		value := lifting.residue(constants[unknown])
		for i := lifting.lowerStarts[position]; i < lifting.lowerStarts[position+1]; i++ {
			value = lifting.subtract(value, lifting.multiply(lifting.lowerFactor[i], intermediate[lifting.lowerColumns[i]]))
		}
		intermediate[position] = value
	}
	solution := make([]uint64, len(intermediate))
	for position := len(intermediate) - 1; position >= 0; position-- {
		value := intermediate[position]
		for i := lifting.upperStarts[position]; i < lifting.upperStarts[position+1]; i++ {
			value = lifting.subtract(value, lifting.multiply(lifting.upperFactor[i], intermediate[lifting.upperColumns[i]]))
		}
		intermediate[position] = lifting.multiply(value, lifting.inversePivots[position])
		solution[lifting.order[position]] = lifting.multiply(intermediate[position], 1)
	}
	return solution
}

// solve returns the exact solution for the given constants: its numerators and their common denominator. It computes p-adic digits of the
// solution, and tries to reconstruct fractions from them, until the fractions satisfy the equations.
func (lifting *lifting) solve(meter *meter, constantOf func(unknown int) *big.Int) (numerators []*big.Int, denominator *big.Int, err error) {
	remainders := make([]*big.Int, len(lifting.rows))
	for unknown := range remainders {
		remainders[unknown] = new(big.Int).Set(constantOf(unknown))
	}
	var digits [][]uint64 // digits[i] has the p-adic digit i of each unknown
	nextAttempt := 2      // the number of digits from which fractions are reconstructed next
	for {
		newDigits := lifting.solveModPrime(remainders)
		digits = append(digits, newDigits)
		lifting.nextRemainders(remainders, newDigits)
		if err := meter.addWork(16 * (len(lifting.upperFactor) + len(lifting.lowerFactor) + len(lifting.order))); err != nil {
			return nil, nil, err
		}
		if len(digits) < nextAttempt {
			continue
		}
		nextAttempt += max(2, nextAttempt/2)
		numerators, denominator, err := lifting.reconstruct(meter, digits)
		if err != nil {
			return nil, nil, err
		}
		if numerators != nil && lifting.satisfies(numerators, denominator, constantOf) {
			return numerators, denominator, nil
		}
	}
}

// nextRemainders replaces each remainder r by (r - (A newDigits)) / prime, where A is the matrix of the equations, and newDigits has the new p-adic
// digit of each unknown. The division has no remainder.
func (lifting *lifting) nextRemainders(remainders []*big.Int, newDigits []uint64) {
	for unknown := range remainders {
		isSmall := lifting.smallRows[unknown].scale != 0
		if isSmall {
			lifting.subtractSmallProduct(remainders[unknown], unknown, newDigits)
		} else {
			lifting.subtractProduct(remainders[unknown], unknown, newDigits)
		}
		remainders[unknown].Quo(remainders[unknown], lifting.primeInt)
	}
}

// subtractProduct subtracts (A newDigits)[unknown] from a remainder, where A is the matrix of the equations and newDigits has one p-adic digit of each
// unknown.
func (lifting *lifting) subtractProduct(remainder *big.Int, unknown int, newDigits []uint64) {
	row := lifting.rows[unknown]
	var digitInt, product big.Int
	remainder.Sub(remainder, product.Mul(row.scale, digitInt.SetUint64(newDigits[unknown])))
	for i, column := range row.columns {
		remainder.Add(remainder, product.Mul(row.coefficients[i], digitInt.SetUint64(newDigits[column])))
	}
}

// subtractSmallProduct subtracts (A newDigits)[unknown] from a remainder, for a row with small coefficients. It computes this product in two words
// of 64 bits, which is faster than big integers.
func (lifting *lifting) subtractSmallProduct(remainder *big.Int, unknown int, newDigits []uint64) {
	row := &lifting.smallRows[unknown]
	var low, high uint64 // the two words of the sum of coefficient * digit
	for i, column := range lifting.rows[unknown].columns {
		hi, lo := bits.Mul64(row.coefficients[i], newDigits[column])
		var carry uint64
		low, carry = bits.Add64(low, lo, 0)
		high += hi + carry
	}
	hi, lo := bits.Mul64(row.scale, newDigits[unknown])
	low, borrow := bits.Sub64(low, lo, 0)
	high, borrow = bits.Sub64(high, hi, borrow)
	if borrow == 0 {
		remainder.Add(remainder, twoWords(high, low))
		return
	}
	// The difference is negative, so negate its two words and subtract them.
	low, borrow = bits.Sub64(0, low, 0)
	high, _ = bits.Sub64(0, high, borrow)
	remainder.Sub(remainder, twoWords(high, low))
}

// twoWords returns the number with the given high and low word of 64 bits.
func twoWords(hi, lo uint64) *big.Int {
	x := new(big.Int).SetUint64(hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo))
}

// reconstruct converts the p-adic digits of all unknowns to fractions with a common denominator. It returns nil if this needs more digits.
func (lifting *lifting) reconstruct(meter *meter, digits [][]uint64) (numerators []*big.Int, denominator *big.Int, err error) {
	modulus := new(big.Int).Exp(lifting.primeInt, big.NewInt(int64(len(digits))), nil)
	numerators, denominatorOf := make([]*big.Int, len(lifting.order)), make([]*big.Int, len(lifting.order))
	denominator = big.NewInt(1) // a common denominator of the unknowns that the loop has visited
	for unknown := range numerators {
		// If the common denominator so far is also one of this unknown, then its value times this denominator is a small integer.
		scaledValue := lifting.valueOfDigits(digits, unknown)
		scaledValue = symmetricResidue(scaledValue.Mul(scaledValue, denominator), modulus)
		needsFactor := scaledValue.BitLen()+denominator.BitLen()+32 > modulus.BitLen()
		if needsFactor {
			numerator, factor := reconstructFraction(scaledValue, modulus)
			if numerator == nil {
				return nil, nil, nil
			}
			scaledValue = numerator
			denominator = new(big.Int).Mul(denominator, factor)
		}
		numerators[unknown], denominatorOf[unknown] = scaledValue, denominator
		if err := meter.addWork(len(digits) * len(digits)); err != nil {
			return nil, nil, err
		}
	}
	for unknown := range numerators {
		if denominatorOf[unknown] != denominator {
			numerators[unknown].Mul(numerators[unknown], new(big.Int).Quo(denominator, denominatorOf[unknown]))
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
func (lifting *lifting) valueOfDigits(digits [][]uint64, unknown int) *big.Int {
	var digit big.Int
	value := new(big.Int)
	for _, digitOfUnknown := range slices.Backward(digits) {
		value.Mul(value, lifting.primeInt).Add(value, digit.SetUint64(digitOfUnknown[unknown]))
	}
	return value
}

// reconstructFraction returns the fraction n/d with n = d residue (modulo modulus) for which the product n d is smallest. It uses the extended Euclidean
// algorithm. It returns nil if the product is not much smaller than the modulus, because the fraction is then probably wrong.
//
// Source: Monagan, Maximal quotient rational reconstruction (2004).
func reconstructFraction(residue, modulus *big.Int) (numerator, denominator *big.Int) {
	// The fraction belongs to the greatest quotient of the Euclidean algorithm, which must have more than minBits bits. A quotient of more than certainBits
	// bits is the greatest one, nearly always, and then the algorithm ends: a small denominator is found after few steps.
	const minBits, certainBits = 32, 96
	previousRemainder, remainder := new(big.Int).Set(modulus), new(big.Int).Mod(residue, modulus)
	previousCoeff, coeff := new(big.Int), big.NewInt(1)
	bestBits := minBits
	quotient, product := new(big.Int), new(big.Int)
	for remainder.Sign() != 0 && bestBits <= certainBits {
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
	if numerator == nil && previousRemainder.Cmp(modulus) == 0 { // residue is 0
		return new(big.Int), big.NewInt(1)
	}
	if denominator != nil && denominator.Sign() < 0 {
		numerator.Neg(numerator)
		denominator.Neg(denominator)
	}
	return numerator, denominator
}

// satisfies reports whether the fractions numerators[unknown]/denominator solve the equations exactly.
func (lifting *lifting) satisfies(numerators []*big.Int, denominator *big.Int, constantOf func(unknown int) *big.Int) bool {
	var left, right, product big.Int
	for unknown, row := range lifting.rows {
		left.Mul(row.scale, numerators[unknown])
		right.Mul(constantOf(unknown), denominator)
		for i, column := range row.columns {
			right.Add(&right, product.Mul(row.coefficients[i], numerators[column]))
		}
		if left.Cmp(&right) != 0 {
			return false
		}
	}
	return true
}
