package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// lnTwo encloses the natural logarithm of 2 by 320 of its bits.
func lnTwo() enclosure {
	const digits = "0xb17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8baafa2be7b876206debac98"
	n, _ := new(big.Int).SetString(digits, 0)
	lo := down().SetInt(n)
	hi := up().SetInt(n.Add(n, big.NewInt(1)))
	return enclosure{lo: lo.SetMantExp(lo, -320), hi: hi.SetMantExp(hi, -320)}
}

// exp encloses e to the power of x.
func (x enclosure) exp() enclosure {
	if !x.finite() {
		return enclosure{unbounded: true}
	}
	lo := expOf(x.lo)
	width := up().Sub(x.hi, x.lo)
	if width.Sign() == 0 || !lo.finite() {
		return lo
	}
	if one := big.NewFloat(1); width.Cmp(one) < 0 { // exp(lo + width) < exp(lo) (1 + 2 width)
		width.Add(one, width.SetMantExp(width, 1))
		return ends(lo.lo, width.Mul(width, lo.hi))
	}
	if hi := expOf(x.hi); hi.finite() {
		return enclosure{lo: lo.lo, hi: hi.hi}
	}
	return enclosure{unbounded: true}
}

// expOf encloses e to the power of x: 2^k times the 2^16th power of the
// exponential of s = (x - k ln 2)/2^16, of which the first terms of
// 1 + s + s²/2! + … are computed.
func expOf(x *big.Float) enclosure {
	const terms, halvings = 14, 16
	at, _ := x.Float64()
	if !(math.Abs(at) < maxEnd/4) {
		if x.Sign() < 0 {
			return enclosure{lo: new(big.Float), hi: smallestEnd(1)}
		}
		return enclosure{unbounded: true}
	}
	k := math.Floor(at / math.Ln2)
	s := enclosure{lo: x, hi: x}
	if k != 0 {
		s = s.arith(syntax.OpSub, lnTwo().arith(syntax.OpMul, floatEnclosure(k)))
	}
	s = s.scale(-halvings)
	// |s| < 2^-16, and so the terms that are left out sum to less than
	// 2|s|^14/14! < 2^-243 |s|.
	sum, factor := floatEnclosure(1), 1.0 // the sum times factor, which is an integer
	for n := terms - 1; n >= 1; n-- {
		factor *= float64(n)
		sum = sum.arith(syntax.OpMul, s).arith(syntax.OpAdd, floatEnclosure(factor))
	}
	sum = sum.quo(floatEnclosure(factor))
	rest := s.most()
	rest.SetMantExp(rest, 13-endBits)
	sum = sum.arith(syntax.OpAdd, ends(down().Neg(rest), rest))
	for range halvings {
		sum = sum.arith(syntax.OpMul, sum)
	}
	return sum.scale(int(k))
}

// ln encloses the natural logarithm of a positive x.
func (x enclosure) ln() enclosure {
	lo := lnOf(x.lo)
	if x.point() || !lo.finite() {
		return lo
	}
	if hi := lnOf(x.hi); hi.finite() {
		return enclosure{lo: lo.lo, hi: hi.hi}
	}
	return enclosure{unbounded: true}
}

// lnOf encloses the natural logarithm of a positive x = 2^k m: k ln 2 + y +
// ln(1+d), where y is about the logarithm of m, and d = m exp(-y) - 1. Of
// ln(1+d) = d - d²/2 + d³/3 - … the first terms are computed.
func lnOf(x *big.Float) enclosure {
	const terms, factor = 6, 60
	m := new(big.Float)
	k := x.MantExp(m)
	at, _ := m.Float64()
	if at < math.Sqrt2/2 {
		m, k, at = m.SetMantExp(m, 1), k-1, 2*at
	}
	y := math.Log(at)
	d := expOf(big.NewFloat(-y)).arith(syntax.OpMul, enclosure{lo: m, hi: m}).arith(syntax.OpSub, floatEnclosure(1))
	rest := d.most()
	if rest.Cmp(big.NewFloat(0x1p-44)) > 0 {
		return enclosure{unbounded: true} // if math.Log were that wrong
	}
	// The terms that are left out sum to less than |d|^7/7 + |d|^8/8 + … < 2^-256 |d|.
	rest.SetMantExp(rest, -endBits)
	sum := floatEnclosure(0)
	for n := terms; n >= 1; n-- {
		sign := 2*(n%2) - 1
		sum = sum.arith(syntax.OpMul, d).arith(syntax.OpAdd, floatEnclosure(float64(sign*factor/n)))
	}
	sum = sum.arith(syntax.OpMul, d).quo(floatEnclosure(factor)).arith(syntax.OpAdd, ends(down().Neg(rest), rest)).arith(syntax.OpAdd, floatEnclosure(y))
	if k == 0 {
		return sum
	}
	return lnTwo().arith(syntax.OpMul, floatEnclosure(float64(k))).arith(syntax.OpAdd, sum)
}

// scale multiplies by a power of two.
func (x enclosure) scale(k int) enclosure {
	return ends(down().SetMantExp(x.lo, k), up().SetMantExp(x.hi, k))
}

// most returns the greatest absolute value.
func (x enclosure) most() *big.Float {
	return new(big.Float).Set(larger(up().Neg(x.lo), x.hi))
}
