package sema

import (
	"cmp"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// enclosure contains a number that is not rational. A finite number lies between lo and hi. If
// these are nil, the number is special, an infinity or NaN; or, if unbounded is set, nothing is
// known and it may even be NaN.
type enclosure struct {
	lo, hi    *big.Float
	special   float64
	unbounded bool
}

// endBits is the precision of the bounds lo and hi. If a bound exceeds 2^maxEnd, the enclosure is
// unbounded; a bound below 2^-maxEnd is rounded to that or to zero. So no operation on bounds
// leaves the range of a big.Float.
const (
	endBits = 256
	maxEnd  = 1 << 24
)

// down and up return a new number whose operations round down or up.
func down() *big.Float { return new(big.Float).SetPrec(endBits).SetMode(big.ToNegativeInf) }

func up() *big.Float { return new(big.Float).SetPrec(endBits).SetMode(big.ToPositiveInf) }

// ends returns the enclosure with lo, which was rounded down, and hi, which was rounded up.
func ends(lo, hi *big.Float) enclosure {
	if lo.IsInf() || hi.IsInf() || lo.MantExp(nil) > maxEnd || hi.MantExp(nil) > maxEnd {
		return enclosure{unbounded: true}
	}
	if lo.MantExp(nil) < -maxEnd {
		lo = smallestEnd(min(lo.Sign(), 0))
	}
	if hi.MantExp(nil) < -maxEnd {
		hi = smallestEnd(max(hi.Sign(), 0))
	}
	return enclosure{lo: lo, hi: hi}
}

// smallestEnd returns the bound of the given sign that is nearest to zero.
func smallestEnd(sign int) *big.Float {
	return new(big.Float).SetMantExp(big.NewFloat(float64(sign)), -maxEnd)
}

// rationalEnclosure encloses a fraction.
func rationalEnclosure(r *big.Rat) enclosure {
	return enclosure{lo: down().SetRat(r), hi: up().SetRat(r)}
}

// floatEnclosure encloses a float64.
func floatEnclosure(f float64) enclosure {
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

// finite reports whether there are two bounds.
func (x enclosure) finite() bool { return x.lo != nil }

// point reports whether both bounds are equal.
func (x enclosure) point() bool { return x.finite() && x.lo.Cmp(x.hi) == 0 }

// sign returns the sign of all enclosed numbers; ok is false if their signs differ.
func (x enclosure) sign() (sign int, ok bool) { return x.lo.Sign(), x.lo.Sign() == x.hi.Sign() }

// interval returns an interval of float64 numbers that contains the number.
func (x enclosure) interval() interval {
	switch {
	case x.unbounded:
		return unbounded()
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

// ieee applies a float64 operation when an operand is an infinity or NaN, as PRISM does. A finite
// operand is replaced by its sign.
func ieee(x, y enclosure, f func(x, y float64) float64) enclosure {
	if x.unbounded || y.unbounded {
		return enclosure{unbounded: true}
	}
	out := f(x.signs()[0], y.signs()[0])
	for _, a := range x.signs() {
		for _, b := range y.signs() {
			if z := f(a, b); z != out && (z == z || out == out) {
				return enclosure{unbounded: true}
			}
		}
	}
	return floatEnclosure(out)
}

// signs returns the special number twice, or the signs of the bounds.
func (x enclosure) signs() [2]float64 {
	if !x.finite() {
		return [2]float64{x.special, x.special}
	}
	return [2]float64{float64(x.lo.Sign()), float64(x.hi.Sign())}
}

func (x enclosure) neg() enclosure {
	if !x.finite() {
		return enclosure{special: -x.special, unbounded: x.unbounded}
	}
	return enclosure{lo: down().Neg(x.hi), hi: up().Neg(x.lo)}
}

// arith computes x+y, x-y or x*y.
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

// corners applies a product or quotient to all combinations of bounds.
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
		return enclosure{unbounded: true}
	case sign == 0: // 1/0 is an infinity
		return ieee(x, y, func(a, b float64) float64 { return a / b })
	}
	if x.lo.Sign() >= 0 && y.lo.Sign() > 0 {
		return ends(down().Quo(x.lo, y.hi), up().Quo(x.hi, y.lo))
	}
	return corners(x, y, (*big.Float).Quo)
}

// pow returns x to the power of y if that is irrational. f is the float64 result, for special
// numbers.
func (x enclosure) pow(y enclosure, f float64) enclosure {
	if !x.finite() || !y.finite() {
		if x.finite() && !x.point() || y.finite() && !y.point() || x.unbounded || y.unbounded {
			return enclosure{unbounded: true}
		}
		return floatEnclosure(f)
	}
	sign, ok := x.sign()
	switch {
	case ok && sign > 0 && y.point() && y.lo.Cmp(big.NewFloat(0.5)) == 0:
		return ends(down().Sqrt(x.lo), up().Sqrt(x.hi))
	case ok && sign > 0:
		return x.ln().arith(syntax.OpMul, y).exp()
	case x.point() && y.point() && (math.IsInf(f, 0) || f != f): // 0^-1 and (-2)^0.5
		return floatEnclosure(f)
	case ok && sign < 0 && y.point() && y.lo.IsInt():
		out := x.neg().pow(y, f)
		if n, _ := y.lo.Int(nil); n.Bit(0) != 0 {
			return out.neg()
		}
		return out
	}
	return enclosure{unbounded: true}
}

// log returns the logarithm of x to base b if that is irrational. f is the float64 result, for
// special numbers.
func (x enclosure) log(b enclosure, f float64) enclosure {
	if x.unbounded || b.unbounded || !x.finite() && b.finite() && !b.point() || !b.finite() && x.finite() && !x.point() {
		return enclosure{unbounded: true}
	}
	if !x.finite() || !b.finite() {
		return floatEnclosure(f)
	}
	one := big.NewFloat(1)
	switch {
	case b.point() && (b.lo.Sign() <= 0 || b.lo.Cmp(one) == 0) || x.point() && x.lo.Sign() < 0:
		return floatEnclosure(math.NaN())
	case x.point() && x.lo.Sign() == 0 && b.point(): // an infinity
		return floatEnclosure(math.Inf(-b.lo.Cmp(one)))
	case x.lo.Sign() > 0 && b.lo.Sign() > 0:
		return x.ln().quo(b.ln())
	}
	return enclosure{unbounded: true}
}

// compare evaluates x op y; ok is false if the enclosures do not decide it.
func (x enclosure) compare(op syntax.Op, y enclosure) (holds, ok bool) {
	switch {
	case x.unbounded || y.unbounded:
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

// root returns the q-th root of a positive fraction, nil if it is irrational.
func root(r *big.Rat, q int64) *big.Rat {
	num, den := intRoot(r.Num(), q), intRoot(r.Denom(), q)
	if r.Sign() <= 0 || num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// intRoot returns the q-th root of a positive integer; nil if that is not an integer.
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

// maxRoot is the largest denominator that is tried for an exponent or a logarithm.
const maxRoot = 12

// log returns the logarithm of x to base b if it is a fraction p/q with a small denominator: x^q =
// b^p.
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
