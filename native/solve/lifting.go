package solve

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// ErrFill says that an exact solution would take too much memory.
var ErrFill = errors.New("exact solution: the elimination of a component creates too many terms")

// lifting solves linear equations with one solution, scale * x = constant + sum of coef * x(col), by
// p-adic lifting: it computes the solution modulo powers of a prime digit by digit, and reconstructs
// fractions from enough digits. The digits are the solution modulo the prime for the remainder of the
// constants. Coefficients must be positive, and those of a row or of a column must sum to at most its
// scale.
//
// Source: Dixon, Exact solution of linear equations using p-adic expansions (1982).
type lifting struct {
	*eliminationOrder
	rows                   []*exactRow
	prime, inverse, square uint64 // the prime, its inverse modulo 2^64, and 2^128 modulo the prime
	primeInt               *big.Int
	// The factors modulo the prime, as in eliminationSolver; pivot has the inverses of the pivots.
	upper, lower, pivot []uint64
	small               []smallRow
}

// smallRow has the scale and coefficients of a row if the sum of their products with digits fits into
// two words; otherwise its scale is 0.
type smallRow struct {
	scale uint64
	coef  []uint64
}

// newLifting factorizes the equations modulo a prime. Only the scales and coefficients of the rows are
// used; their constants are passed to solve.
func newLifting(meter *meter, rows []*exactRow) (*lifting, error) {
	lift := &lifting{rows: rows, small: make([]smallRow, len(rows))}
	for k, r := range rows {
		coefSum := new(big.Int)
		for _, c := range r.coef {
			coefSum.Add(coefSum, c)
		}
		if max(r.scale.BitLen(), coefSum.BitLen()) > 62 {
			continue
		}
		lift.small[k].scale = r.scale.Uint64()
		for _, c := range r.coef {
			lift.small[k].coef = append(lift.small[k].coef, c.Uint64())
		}
	}
	var err error
	lift.eliminationOrder, err = markowitzOrder(meter, len(rows), func(k int) []uint32 { return rows[k].col }, math.Inf(1))
	if err == nil && lift.eliminationOrder == nil {
		err = ErrFill
	}
	if err != nil {
		return nil, err
	}
	lift.upper, lift.lower = make([]uint64, len(lift.upperCols)), make([]uint64, len(lift.lowerCols))
	lift.pivot = make([]uint64, len(rows))
	// The first prime nearly always works: a pivot would have to be a multiple of it.
	for p := uint64(1<<63 - 25); ; p -= 2 {
		if lift.primeInt = new(big.Int).SetUint64(p); !lift.primeInt.ProbablyPrime(0) {
			continue
		}
		lift.setPrime(p)
		if ok, err := lift.factorize(meter); ok || err != nil {
			return lift, err
		}
	}
}

// setPrime prepares Montgomery arithmetic modulo p: residues are held as products with 2^64.
//
// Source: Montgomery, Modular multiplication without trial division (1985).
func (f *lifting) setPrime(p uint64) {
	f.prime, f.inverse = p, p // Newton iteration: correct in 3 bits, then twice as many each time
	for range 5 {
		f.inverse *= 2 - p*f.inverse
	}
	_, one := bits.Div64(1, 0, p)
	_, f.square = bits.Div64(one, 0, p)
}

// mul is the Montgomery product.
func (f *lifting) mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	multiple, _ := bits.Mul64(lo*f.inverse, f.prime)
	if hi < multiple {
		hi += f.prime
	}
	return hi - multiple
}

func (f *lifting) sub(x, y uint64) uint64 {
	if x < y {
		x += f.prime
	}
	return x - y
}

// invert returns the inverse of x as x^(p-2).
func (f *lifting) invert(x uint64) uint64 {
	out := f.mul(1, f.square)
	for e := f.prime - 2; e > 0; e >>= 1 {
		if e&1 == 1 {
			out = f.mul(out, x)
		}
		x = f.mul(x, x)
	}
	return out
}

// residue returns x modulo the prime, in Montgomery form.
func (f *lifting) residue(x *big.Int) uint64 {
	remainder := uint64(0)
	words := x.Bits()
	for i := len(words) - 1; i >= 0; i-- {
		w := uint64(words[i])
		if bits.UintSize == 32 {
			_, remainder = bits.Div64(remainder>>32, remainder<<32|w, f.prime)
			continue
		}
		_, remainder = bits.Div64(remainder, w, f.prime)
	}
	if x.Sign() < 0 {
		remainder = f.sub(0, remainder)
	}
	return f.mul(remainder, f.square)
}

// factorize eliminates modulo the prime, as eliminationSolver.factorizeFloat does in floating point. It
// reports false if a pivot is zero.
func (f *lifting) factorize(meter *meter) (bool, error) {
	workRow := make([]uint64, len(f.order))
	for p, k := range f.order {
		workRow[p] = f.residue(f.rows[k].scale)
		for i, t := range f.rows[k].col {
			position := f.position[t]
			workRow[position] = f.sub(workRow[position], f.residue(f.rows[k].coef[i]))
		}
		work := f.lowerStart[p+1] - f.lowerStart[p]
		for i := f.lowerStart[p]; i < f.lowerStart[p+1]; i++ {
			q := f.lowerCols[i]
			factor := f.mul(workRow[q], f.pivot[q])
			workRow[q], f.lower[i] = 0, factor
			for j := f.upperStart[q]; j < f.upperStart[q+1]; j++ {
				t := f.upperCols[j]
				workRow[t] = f.sub(workRow[t], f.mul(factor, f.upper[j]))
			}
			work += 4 * (f.upperStart[q+1] - f.upperStart[q])
		}
		for i := f.upperStart[p]; i < f.upperStart[p+1]; i++ {
			t := f.upperCols[i]
			f.upper[i], workRow[t] = workRow[t], 0
		}
		if workRow[p] == 0 {
			return false, nil
		}
		f.pivot[p], workRow[p] = f.invert(workRow[p]), 0
		if err := meter.addWork(work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// solveModPrime returns the solution modulo the prime for the given constants.
func (f *lifting) solveModPrime(constants []*big.Int) []uint64 {
	intermediate := make([]uint64, len(f.order)) // by position
	for p, k := range f.order {
		v := f.residue(constants[k])
		for i := f.lowerStart[p]; i < f.lowerStart[p+1]; i++ {
			v = f.sub(v, f.mul(f.lower[i], intermediate[f.lowerCols[i]]))
		}
		intermediate[p] = v
	}
	x := make([]uint64, len(intermediate))
	for p := len(intermediate) - 1; p >= 0; p-- {
		v := intermediate[p]
		for i := f.upperStart[p]; i < f.upperStart[p+1]; i++ {
			v = f.sub(v, f.mul(f.upper[i], intermediate[f.upperCols[i]]))
		}
		intermediate[p] = f.mul(v, f.pivot[p])
		x[f.order[p]] = f.mul(intermediate[p], 1)
	}
	return x
}

// solve returns the numerators of the solution and their common denominator.
func (f *lifting) solve(meter *meter, constant func(k int) *big.Int) ([]*big.Int, *big.Int, error) {
	remainder := make([]*big.Int, len(f.rows))
	for k := range remainder {
		remainder[k] = new(big.Int).Set(constant(k))
	}
	var digits [][]uint64
	for nextAttempt := 2; ; {
		x := f.solveModPrime(remainder)
		digits = append(digits, x)
		for k := range remainder {
			f.subtractDigit(remainder, k, x)
		}
		if err := meter.addWork(16 * (len(f.upper) + len(f.lower) + len(f.order))); err != nil {
			return nil, nil, err
		}
		if len(digits) < nextAttempt {
			continue
		}
		nextAttempt += max(2, nextAttempt/2)
		num, den, err := f.reconstruct(meter, digits)
		if err != nil {
			return nil, nil, err
		}
		if num != nil && f.satisfies(num, den, constant) {
			return num, den, nil
		}
	}
}

// subtractDigit subtracts the effect of a digit of the solution from the remainder of constant k, and
// divides it by the prime.
func (f *lifting) subtractDigit(remainder []*big.Int, k int, digit []uint64) {
	small, r := &f.small[k], f.rows[k]
	if small.scale == 0 {
		var v, product big.Int
		remainder[k].Sub(remainder[k], product.Mul(r.scale, v.SetUint64(digit[k])))
		for i, t := range r.col {
			remainder[k].Add(remainder[k], product.Mul(r.coef[i], v.SetUint64(digit[t])))
		}
		remainder[k].Quo(remainder[k], f.primeInt)
		return
	}
	var sum, carry uint64 // two words
	for i, t := range r.col {
		hi, lo := bits.Mul64(small.coef[i], digit[t])
		var c uint64
		sum, c = bits.Add64(sum, lo, 0)
		carry += hi + c
	}
	hi, lo := bits.Mul64(small.scale, digit[k])
	sum, borrow := bits.Sub64(sum, lo, 0)
	carry, borrow = bits.Sub64(carry, hi, borrow)
	if borrow == 1 { // the difference is negative
		sum, borrow = bits.Sub64(0, sum, 0)
		carry, _ = bits.Sub64(0, carry, borrow)
		remainder[k].Sub(remainder[k], twoWords(carry, sum))
	} else {
		remainder[k].Add(remainder[k], twoWords(carry, sum))
	}
	remainder[k].Quo(remainder[k], f.primeInt)
}

func twoWords(hi, lo uint64) *big.Int {
	x := new(big.Int).SetUint64(hi)
	return x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo))
}

// reconstruct returns fractions with the given digits, numerators and a common denominator; nil if
// there are no simple ones.
func (f *lifting) reconstruct(meter *meter, digits [][]uint64) ([]*big.Int, *big.Int, error) {
	modulus := new(big.Int).Exp(f.primeInt, big.NewInt(int64(len(digits))), nil)
	half := new(big.Int).Rsh(modulus, 1)
	num, denAt := make([]*big.Int, len(f.order)), make([]*big.Int, len(f.order))
	den := big.NewInt(1)
	var digit big.Int
	for k := range num {
		x := new(big.Int)
		for i := len(digits) - 1; i >= 0; i-- {
			x.Mul(x, f.primeInt).Add(x, digit.SetUint64(digits[i][k]))
		}
		// Most solutions have the denominators of earlier ones.
		if x.Mul(x, den).Mod(x, modulus); x.Cmp(half) > 0 {
			x.Sub(x, modulus)
		}
		if x.BitLen()+den.BitLen()+32 > modulus.BitLen() {
			n, d := reconstructFraction(x, modulus)
			if n == nil {
				return nil, nil, nil
			}
			x, den = n, new(big.Int).Mul(den, d)
		}
		num[k], denAt[k] = x, den
		if err := meter.addWork(len(digits) * len(digits)); err != nil {
			return nil, nil, err
		}
	}
	for k := range num {
		if denAt[k] != den {
			num[k].Mul(num[k], digit.Quo(den, denAt[k]))
		}
	}
	return num, den, nil
}

// reconstructFraction returns the fraction n/d that is x modulo m and has the smallest product of n and
// d. It returns nil if that is not much smaller than m.
//
// Source: Monagan, Maximal quotient rational reconstruction (2004).
func reconstructFraction(x, m *big.Int) (n, d *big.Int) {
	const minBits = 32 // bits of the quotient
	r0, r1 := new(big.Int).Set(m), new(big.Int).Mod(x, m)
	t0, t1 := new(big.Int), big.NewInt(1)
	bestBits := minBits
	quo, product := new(big.Int), new(big.Int)
	for r1.Sign() != 0 {
		quo.QuoRem(r0, r1, product)
		if quo.BitLen() > bestBits {
			bestBits = quo.BitLen()
			n, d = new(big.Int).Set(r1), new(big.Int).Set(t1)
		}
		r0, r1, product = r1, product, r0
		product.Mul(quo, t1)
		t0.Sub(t0, product)
		t0, t1 = t1, t0
	}
	if n == nil && r0.Cmp(m) == 0 { // x is 0
		return new(big.Int), big.NewInt(1)
	}
	if d != nil && d.Sign() < 0 {
		n.Neg(n)
		d.Neg(d)
	}
	return n, d
}

// satisfies reports whether the fractions satisfy the equations.
func (f *lifting) satisfies(num []*big.Int, den *big.Int, constant func(k int) *big.Int) bool {
	var sum, product big.Int
	for k, r := range f.rows {
		sum.Mul(constant(k), den)
		for i, t := range r.col {
			sum.Add(&sum, product.Mul(r.coef[i], num[t]))
		}
		if sum.Cmp(product.Mul(r.scale, num[k])) != 0 {
			return false
		}
	}
	return true
}
