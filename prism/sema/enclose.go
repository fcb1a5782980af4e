package sema

import (
	"cmp"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// enclosure contains the value of a number that is not known exactly. A finite number lies between
// lo and hi. If these are nil, the number is special, an infinity or NaN. If unbounded is set, nothing
// is known; it may even be NaN.
type enclosure struct {
	lo, hi    *big.Float
	special   float64
	unbounded bool
}

// endBits is the precision of the bounds lo and hi. If a bound exceeds 2^maxEnd, the enclosure is
// unbounded; a bound below 2^-maxEnd is rounded to that or to zero. So no operation on bounds
// leaves the range of a big.Float.
const (
	boundBits        = 256
	maxBoundExponent = 1 << 24
)

// down and up return a new number whose operations round down or up.
func roundingDown() *big.Float { return new(big.Float).SetPrec(boundBits).SetMode(big.ToNegativeInf) }

func roundingUp() *big.Float { return new(big.Float).SetPrec(boundBits).SetMode(big.ToPositiveInf) }

// newEnclosure returns the enclosure with the bounds lo, rounded down, and hi, rounded up. Bounds that
// are too large make it unbounded, and bounds that are too small are moved away from the number.
func newEnclosure(lo, hi *big.Float) enclosure {
	if lo.IsInf() || hi.IsInf() || lo.MantExp(nil) > maxBoundExponent || hi.MantExp(nil) > maxBoundExponent {
		return enclosure{unbounded: true}
	}
	if lo.MantExp(nil) < -maxBoundExponent {
		lo = smallestBound(min(lo.Sign(), 0))
	}
	if hi.MantExp(nil) < -maxBoundExponent {
		hi = smallestBound(max(hi.Sign(), 0))
	}
	return enclosure{lo: lo, hi: hi}
}

// smallestBound returns the bound of the given sign that is nearest to zero.
func smallestBound(sign int) *big.Float {
	return new(big.Float).SetMantExp(big.NewFloat(float64(sign)), -maxBoundExponent)
}

// rationalEnclosure encloses a fraction.
func rationalEnclosure(r *big.Rat) enclosure {
	return enclosure{lo: roundingDown().SetRat(r), hi: roundingUp().SetRat(r)}
}

// floatEnclosure encloses a float64.
func floatEnclosure(f float64) enclosure {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return enclosure{special: f}
	}
	return enclosure{lo: roundingDown().SetFloat64(f), hi: roundingUp().SetFloat64(f)}
}

func smaller(x, y *big.Float) *big.Float {
	if y.Cmp(x) < 0 {
		return y
	}
	return x
}

func larger(x, y *big.Float) *big.Float {
	if y.Cmp(x) > 0 {
		return y
	}
	return x
}

// isFinite reports whether the number is finite and has two bounds.
func (x enclosure) isFinite() bool { return x.lo != nil }

// isPoint reports whether the number is known exactly, because both bounds are equal.
func (x enclosure) isPoint() bool { return x.isFinite() && x.lo.Cmp(x.hi) == 0 }

// sign returns the sign of all enclosed numbers; ok is false if their signs differ.
func (x enclosure) sign() (sign int, ok bool) { return x.lo.Sign(), x.lo.Sign() == x.hi.Sign() }

// toInterval returns the narrowest interval of float64 numbers that contains the number.
func (x enclosure) toInterval() interval {
	switch {
	case x.unbounded:
		return unbounded()
	case !x.isFinite():
		return point(x.special)
	}
	lo, rounded := x.lo.Float64()
	if rounded == big.Above {
		lo = math.Nextafter(lo, math.Inf(-1))
	}
	hi, rounded := x.hi.Float64()
	if rounded == big.Below {
		hi = math.Nextafter(hi, math.Inf(1))
	}
	return interval{lo, hi}
}

// ieee applies a float64 operation f to operands of which one is an infinity or NaN, as PRISM does.
// A finite operand is replaced by its sign, which decides the result. The result is unbounded if
// different signs are possible and give different results.
func ieee(x, y enclosure, f func(x, y float64) float64) enclosure {
	if x.unbounded || y.unbounded {
		return enclosure{unbounded: true}
	}
	result := f(x.signs()[0], y.signs()[0])
	for _, a := range x.signs() {
		for _, b := range y.signs() {
			if z := f(a, b); z != result && (z == z || result == result) {
				return enclosure{unbounded: true}
			}
		}
	}
	return floatEnclosure(result)
}

// signs returns the signs of both bounds; for a special number it returns that number twice.
func (x enclosure) signs() [2]float64 {
	if !x.isFinite() {
		return [2]float64{x.special, x.special}
	}
	return [2]float64{float64(x.lo.Sign()), float64(x.hi.Sign())}
}

// neg returns the enclosure of -x.
func (x enclosure) neg() enclosure {
	if !x.isFinite() {
		return enclosure{special: -x.special, unbounded: x.unbounded}
	}
	return enclosure{lo: roundingDown().Neg(x.hi), hi: roundingUp().Neg(x.lo)}
}

// arith encloses x+y, x-y or x*y (interval arithmetic).
func (x enclosure) arith(op syntax.Op, y enclosure) enclosure {
	switch {
	case !x.isFinite() || !y.isFinite():
		return ieee(x, y, func(a, b float64) float64 { return arith(op, a, b) })
	case op == syntax.OpAdd:
		return newEnclosure(roundingDown().Add(x.lo, y.lo), roundingUp().Add(x.hi, y.hi))
	case op == syntax.OpSub:
		return newEnclosure(roundingDown().Sub(x.lo, y.hi), roundingUp().Sub(x.hi, y.lo))
	}
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		return newEnclosure(roundingDown().Mul(x.lo, y.lo), roundingUp().Mul(x.hi, y.hi))
	}
	return boundsOfCorners(x, y, (*big.Float).Mul)
}

// boundsOfCorners encloses the product or quotient f of two numbers, by applying it to all four
// combinations of their bounds.
func boundsOfCorners(x, y enclosure, f func(z, x, y *big.Float) *big.Float) enclosure {
	lo, hi := f(roundingDown(), x.lo, y.lo), f(roundingUp(), x.lo, y.lo)
	if x.isPoint() && y.isPoint() {
		return newEnclosure(lo, hi)
	}
	for _, end := range [][2]*big.Float{{x.lo, y.hi}, {x.hi, y.lo}, {x.hi, y.hi}} {
		lo = smaller(lo, f(roundingDown(), end[0], end[1]))
		hi = larger(hi, f(roundingUp(), end[0], end[1]))
	}
	return newEnclosure(lo, hi)
}

// quo encloses x/y. It is unbounded if y may be zero but need not be.
func (x enclosure) quo(y enclosure) enclosure {
	if !x.isFinite() || !y.isFinite() {
		return ieee(x, y, func(a, b float64) float64 { return a / b })
	}
	switch sign, ok := y.sign(); {
	case !ok:
		return enclosure{unbounded: true}
	case sign == 0: // 1/0 is an infinity
		return ieee(x, y, func(a, b float64) float64 { return a / b })
	}
	if x.lo.Sign() >= 0 && y.lo.Sign() > 0 {
		return newEnclosure(roundingDown().Quo(x.lo, y.hi), roundingUp().Quo(x.hi, y.lo))
	}
	return boundsOfCorners(x, y, (*big.Float).Quo)
}

// pow encloses x to the power of y. f is the result in float64 arithmetic, which is used if an
// operand is an infinity or NaN.
func (x enclosure) pow(y enclosure, f float64) enclosure {
	if !x.isFinite() || !y.isFinite() {
		if x.isFinite() && !x.isPoint() || y.isFinite() && !y.isPoint() || x.unbounded || y.unbounded {
			return enclosure{unbounded: true}
		}
		return floatEnclosure(f)
	}
	sign, ok := x.sign()
	switch {
	case ok && sign > 0 && y.isPoint() && y.lo.Cmp(big.NewFloat(0.5)) == 0:
		return newEnclosure(roundingDown().Sqrt(x.lo), roundingUp().Sqrt(x.hi))
	case ok && sign > 0:
		return x.ln().arith(syntax.OpMul, y).exp()
	case x.isPoint() && y.isPoint() && (math.IsInf(f, 0) || f != f): // 0^-1 and (-2)^0.5
		return floatEnclosure(f)
	case ok && sign < 0 && y.isPoint() && y.lo.IsInt():
		out := x.neg().pow(y, f)
		if n, _ := y.lo.Int(nil); n.Bit(0) != 0 {
			return out.neg()
		}
		return out
	}
	return enclosure{unbounded: true}
}

// log encloses the logarithm of x to base b. f is the result in float64 arithmetic, which is used if
// an operand is an infinity or NaN.
func (x enclosure) log(b enclosure, f float64) enclosure {
	if x.unbounded || b.unbounded || !x.isFinite() && b.isFinite() && !b.isPoint() || !b.isFinite() && x.isFinite() && !x.isPoint() {
		return enclosure{unbounded: true}
	}
	if !x.isFinite() || !b.isFinite() {
		return floatEnclosure(f)
	}
	one := big.NewFloat(1)
	switch {
	case b.isPoint() && (b.lo.Sign() <= 0 || b.lo.Cmp(one) == 0) || x.isPoint() && x.lo.Sign() < 0:
		return floatEnclosure(math.NaN())
	case x.isPoint() && x.lo.Sign() == 0 && b.isPoint(): // an infinity
		return floatEnclosure(math.Inf(-b.lo.Cmp(one)))
	case x.lo.Sign() > 0 && b.lo.Sign() > 0:
		return x.ln().quo(b.ln())
	}
	return enclosure{unbounded: true}
}

// compare evaluates the comparison x op y. If the enclosures overlap, so that they do not decide it,
// ok is false.
func (x enclosure) compare(op syntax.Op, y enclosure) (holds, ok bool) {
	switch {
	case x.unbounded || y.unbounded:
		return false, false
	case x.special != x.special || y.special != y.special: // NaN equals NaN in PRISM
		both := x.special != x.special && y.special != y.special
		return op == syntax.OpEq && both || op == syntax.OpNe && !both, true
	case !x.isFinite() || !y.isFinite(): // an infinity
		return Holds(op, cmp.Compare(x.special, y.special)), true
	case x.hi.Cmp(y.lo) < 0:
		return Holds(op, -1), true
	case x.lo.Cmp(y.hi) > 0:
		return Holds(op, +1), true
	case x.isPoint() && y.isPoint():
		return Holds(op, 0), true
	}
	return false, false
}

// root returns the q-th root of a positive fraction, nil if it is irrational.
func root(r *big.Rat, q int64) *big.Rat {
	num, den := intRoot(r.Num(), q), intRoot(r.Denom(), q)
	if r.Sign() <= 0 || num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// intRoot returns the q-th root of a positive integer by Newton's method; nil if it is not an integer.
func intRoot(n *big.Int, q int64) *big.Int {
	if n.Sign() <= 0 {
		return nil
	}
	x := new(big.Int).Lsh(big.NewInt(1), uint(int64(n.BitLen())/q+1)) // above the root
	degree, degreeMinus1 := big.NewInt(q), big.NewInt(q-1)
	for { // Newton's method from above
		next := new(big.Int).Exp(x, degreeMinus1, nil)
		next.Quo(n, next)
		next.Add(next, new(big.Int).Mul(degreeMinus1, x)).Quo(next, degree)
		if next.Cmp(x) >= 0 {
			break
		}
		x = next
	}
	if new(big.Int).Exp(x, degree, nil).Cmp(n) != 0 {
		return nil
	}
	return x
}

// maxRoot is the largest denominator that is tried for an exponent or a logarithm.
const maxRoot = 12

// log returns the logarithm of r to base b if it is a fraction p/q with a small denominator, that is,
// if r^q = b^p; otherwise unknown.
func (r rat) log(b rat) rat {
	if r.Sign() <= 0 || b.Sign() <= 0 || b.IsInt() && b.Num().IsInt64() && b.Num().Int64() == 1 {
		return rat{}
	}
	x, _ := r.Float64()
	y, _ := b.Float64()
	approx := Log(x, y)
	if !(math.Abs(approx) < maxRatBits) {
		return rat{}
	}
	for q := int64(1); q <= maxRoot; q++ {
		p := int64(math.Round(approx * float64(q)))
		qRat, pRat := rat{big.NewRat(q, 1)}, rat{big.NewRat(p, 1)}
		if math.Abs(approx*float64(q)-float64(p)) > 1e-6 {
			continue
		}
		left, right := r.pow(qRat), b.pow(pRat)
		if left.Rat != nil && right.Rat != nil && left.cmp(right) == 0 {
			return rat{big.NewRat(p, q)}
		}
	}
	return rat{}
}
