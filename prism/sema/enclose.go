package sema

import (
	"cmp"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// enclosure is what is known of a number that has no fraction. A finite number
// lies between lo and hi. Where these are nil, the number is the infinity or the
// NaN that special is, or it may be anything, even NaN, if vague is set.
type enclosure struct {
	lo, hi  *big.Float
	special float64
	vague   bool
}

// Ends have so many bits. What is larger than 2^maxEnd is vague, and an end that
// is smaller than 2^-maxEnd is rounded to that or to zero, so that no operation
// on ends leaves the range of a big.Float.
const (
	endBits = 256
	maxEnd  = 1 << 24
)

// down and up return a number to which operations assign what they round down or up.
func down() *big.Float { return new(big.Float).SetPrec(endBits).SetMode(big.ToNegativeInf) }

func up() *big.Float { return new(big.Float).SetPrec(endBits).SetMode(big.ToPositiveInf) }

// ends returns the enclosure with two ends, lo rounded down and hi up.
func ends(lo, hi *big.Float) enclosure {
	if lo.IsInf() || hi.IsInf() || lo.MantExp(nil) > maxEnd || hi.MantExp(nil) > maxEnd {
		return enclosure{vague: true}
	}
	if lo.MantExp(nil) < -maxEnd {
		lo = least(min(lo.Sign(), 0))
	}
	if hi.MantExp(nil) < -maxEnd {
		hi = least(max(hi.Sign(), 0))
	}
	return enclosure{lo: lo, hi: hi}
}

// least returns the smallest end with a sign.
func least(sign int) *big.Float {
	return new(big.Float).SetMantExp(big.NewFloat(float64(sign)), -maxEnd)
}

// around encloses a fraction.
func around(r *big.Rat) enclosure { return enclosure{lo: down().SetRat(r), hi: up().SetRat(r)} }

// double is the enclosure of one double.
func double(f float64) enclosure {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return enclosure{special: f}
	}
	return enclosure{lo: down().SetFloat64(f), hi: up().SetFloat64(f)}
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

// finite reports whether there are two ends.
func (x enclosure) finite() bool { return x.lo != nil }

// point reports whether both ends are the number.
func (x enclosure) point() bool { return x.finite() && x.lo.Cmp(x.hi) == 0 }

// sign returns the sign of all numbers between the ends; ok is false where they differ.
func (x enclosure) sign() (sign int, ok bool) { return x.lo.Sign(), x.lo.Sign() == x.hi.Sign() }

// interval returns doubles that the number is between: the infinities, if it is vague.
func (x enclosure) interval() interval {
	switch {
	case x.vague:
		return vague()
	case !x.finite():
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

// ieee applies an operation of doubles where an operand is an infinity or NaN,
// which is what PRISM means. For a finite number its sign stands.
func ieee(x, y enclosure, f func(x, y float64) float64) enclosure {
	if x.vague || y.vague {
		return enclosure{vague: true}
	}
	out := f(x.signs()[0], y.signs()[0])
	for _, a := range x.signs() {
		for _, b := range y.signs() {
			if z := f(a, b); z != out && (z == z || out == out) {
				return enclosure{vague: true}
			}
		}
	}
	return double(out)
}

// signs returns what the number is, or the signs of its ends.
func (x enclosure) signs() [2]float64 {
	if !x.finite() {
		return [2]float64{x.special, x.special}
	}
	return [2]float64{float64(x.lo.Sign()), float64(x.hi.Sign())}
}

func (x enclosure) neg() enclosure {
	if !x.finite() {
		return enclosure{special: -x.special, vague: x.vague}
	}
	return enclosure{lo: down().Neg(x.hi), hi: up().Neg(x.lo)}
}

// arith is + - or *.
func (x enclosure) arith(op syntax.Op, y enclosure) enclosure {
	switch {
	case !x.finite() || !y.finite():
		return ieee(x, y, func(a, b float64) float64 { return arith(op, a, b) })
	case op == syntax.OpAdd:
		return ends(down().Add(x.lo, y.lo), up().Add(x.hi, y.hi))
	case op == syntax.OpSub:
		return ends(down().Sub(x.lo, y.hi), up().Sub(x.hi, y.lo))
	}
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		return ends(down().Mul(x.lo, y.lo), up().Mul(x.hi, y.hi))
	}
	return corners(x, y, (*big.Float).Mul)
}

// corners applies a product or a quotient to the ends.
func corners(x, y enclosure, f func(z, x, y *big.Float) *big.Float) enclosure {
	lo, hi := f(down(), x.lo, y.lo), f(up(), x.lo, y.lo)
	if x.point() && y.point() {
		return ends(lo, hi)
	}
	for _, end := range [][2]*big.Float{{x.lo, y.hi}, {x.hi, y.lo}, {x.hi, y.hi}} {
		lo = smaller(lo, f(down(), end[0], end[1]))
		hi = larger(hi, f(up(), end[0], end[1]))
	}
	return ends(lo, hi)
}

func (x enclosure) quo(y enclosure) enclosure {
	if !x.finite() || !y.finite() {
		return ieee(x, y, func(a, b float64) float64 { return a / b })
	}
	switch sign, ok := y.sign(); {
	case !ok:
		return enclosure{vague: true}
	case sign == 0: // 1/0 is an infinity
		return ieee(x, y, func(a, b float64) float64 { return a / b })
	}
	if x.lo.Sign() >= 0 && y.lo.Sign() > 0 {
		return ends(down().Quo(x.lo, y.hi), up().Quo(x.hi, y.lo))
	}
	return corners(x, y, (*big.Float).Quo)
}

// pow is x to the power of y where that is no fraction. Of special numbers f is
// the power as doubles have it.
func (x enclosure) pow(y enclosure, f float64) enclosure {
	if !x.finite() || !y.finite() {
		if x.finite() && !x.point() || y.finite() && !y.point() || x.vague || y.vague {
			return enclosure{vague: true}
		}
		return double(f)
	}
	sign, ok := x.sign()
	switch {
	case ok && sign > 0 && y.point() && y.lo.Cmp(big.NewFloat(0.5)) == 0:
		return ends(down().Sqrt(x.lo), up().Sqrt(x.hi))
	case ok && sign > 0:
		return x.ln().arith(syntax.OpMul, y).exp()
	case x.point() && y.point() && (math.IsInf(f, 0) || f != f): // 0^-1 and (-2)^0.5
		return double(f)
	case ok && sign < 0 && y.point() && y.lo.IsInt():
		out := x.neg().pow(y, f)
		if n, _ := y.lo.Int(nil); n.Bit(0) != 0 {
			return out.neg()
		}
		return out
	}
	return enclosure{vague: true}
}

// log is the logarithm of x to base b where that is no fraction. Of special
// numbers f is the logarithm as doubles have it.
func (x enclosure) log(b enclosure, f float64) enclosure {
	if x.vague || b.vague || !x.finite() && b.finite() && !b.point() || !b.finite() && x.finite() && !x.point() {
		return enclosure{vague: true}
	}
	if !x.finite() || !b.finite() {
		return double(f)
	}
	one := big.NewFloat(1)
	switch {
	case b.point() && (b.lo.Sign() <= 0 || b.lo.Cmp(one) == 0) || x.point() && x.lo.Sign() < 0:
		return double(math.NaN())
	case x.point() && x.lo.Sign() == 0 && b.point(): // an infinity
		return double(math.Inf(-b.lo.Cmp(one)))
	case x.lo.Sign() > 0 && b.lo.Sign() > 0:
		return x.ln().quo(b.ln())
	}
	return enclosure{vague: true}
}

// compare applies = != < <= > >=; ok is false where the enclosures do not tell.
func (x enclosure) compare(op syntax.Op, y enclosure) (holds, ok bool) {
	switch {
	case x.vague || y.vague:
		return false, false
	case x.special != x.special || y.special != y.special: // NaN equals NaN in PRISM
		both := x.special != x.special && y.special != y.special
		return op == syntax.OpEq && both || op == syntax.OpNe && !both, true
	case !x.finite() || !y.finite(): // an infinity
		return Holds(op, cmp.Compare(x.special, y.special)), true
	case x.hi.Cmp(y.lo) < 0:
		return Holds(op, -1), true
	case x.lo.Cmp(y.hi) > 0:
		return Holds(op, +1), true
	case x.point() && y.point():
		return Holds(op, 0), true
	}
	return false, false
}

// root returns the q-th root of a fraction that has one, q from 2 to 64.
func root(r *big.Rat, q int64) *big.Rat {
	num, den := intRoot(r.Num(), q), intRoot(r.Denom(), q)
	if r.Sign() <= 0 || num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// intRoot returns the q-th root of a positive number, nil if it is no integer.
func intRoot(n *big.Int, q int64) *big.Int {
	if n.Sign() <= 0 {
		return nil
	}
	x := new(big.Int).Lsh(big.NewInt(1), uint(int64(n.BitLen())/q+1)) // above the root
	e, less := big.NewInt(q), big.NewInt(q-1)
	for { // Newton's method from above
		y := new(big.Int).Exp(x, less, nil)
		y.Quo(n, y)
		y.Add(y, new(big.Int).Mul(less, x)).Quo(y, e)
		if y.Cmp(x) >= 0 {
			break
		}
		x = y
	}
	if new(big.Int).Exp(x, e, nil).Cmp(n) != 0 {
		return nil
	}
	return x
}

// maxRoot is the greatest denominator of an exponent or logarithm that is tried.
const maxRoot = 12

// log returns the logarithm of x to base b if it is a fraction with a small
// denominator: p/q with x^q = b^p.
func (r rat) log(b rat) rat {
	if r.Sign() <= 0 || b.Sign() <= 0 || b.IsInt() && b.Num().IsInt64() && b.Num().Int64() == 1 {
		return rat{}
	}
	x, _ := r.Float64()
	y, _ := b.Float64()
	f := Log(x, y)
	if !(math.Abs(f) < maxRatBits) {
		return rat{}
	}
	for q := int64(1); q <= maxRoot; q++ {
		p := int64(math.Round(f * float64(q)))
		k, n := rat{big.NewRat(q, 1)}, rat{big.NewRat(p, 1)}
		if math.Abs(f*float64(q)-float64(p)) > 1e-6 {
			continue
		}
		left, right := r.pow(k), b.pow(n)
		if left.Rat != nil && right.Rat != nil && left.cmp(right) == 0 {
			return rat{big.NewRat(p, q)}
		}
	}
	return rat{}
}
