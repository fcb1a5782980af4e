package ratfunc

import (
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// poly is a polynomial: its terms with nonzero coefficients, in decreasing order of monomials. It is
// immutable.
type poly []term

type term struct {
	mono mono
	coef *big.Int
}

// mono is a monomial: the exponents of all parameters, four bytes each, in big-endian order. So string
// order is the lexicographic order of monomials.
type mono string

// exponentSize is the number of bytes of an exponent.
const exponentSize = 4

// maxExponent exceeds the exponents of any polynomial of reasonable size.
const maxExponent = 1 << 24

func (m mono) vars() int { return len(m) / exponentSize }

func (m mono) exponent(i int) uint32 {
	return binary.BigEndian.Uint32([]byte(m[i*exponentSize : (i+1)*exponentSize]))
}

// with returns the monomial with exponent i replaced.
func (m mono) with(i int, exponent uint32) mono {
	b := []byte(m)
	binary.BigEndian.PutUint32(b[i*exponentSize:], exponent)
	return mono(b)
}

// combine applies f to the exponents of two monomials. It reports false if a result is negative.
func (m mono) combine(o mono, f func(x, y int64) int64) (mono, bool) {
	b := make([]byte, 0, len(m))
	for i := range m.vars() {
		x := f(int64(m.exponent(i)), int64(o.exponent(i)))
		if x < 0 {
			return "", false
		}
		b = binary.BigEndian.AppendUint32(b, uint32(x))
	}
	return mono(b), true
}

func plus(x, y int64) int64  { return x + y }
func minus(x, y int64) int64 { return x - y }

func minimum(x, y int64) int64 { return min(x, y) }

// isOne reports whether the monomial is 1.
func (m mono) isOne() bool { return strings.Trim(string(m), "\x00") == "" }

// polyBuilder collects the terms of a polynomial.
type polyBuilder map[mono]*big.Int

func (s polyBuilder) add(m mono, c *big.Int) {
	if have, ok := s[m]; ok {
		have.Add(have, c)
		return
	}
	s[m] = new(big.Int).Set(c)
}

func (s polyBuilder) poly() poly {
	var p poly
	for _, m := range slices.Sorted(maps.Keys(s)) {
		if s[m].Sign() != 0 {
			p = append(p, term{m, s[m]})
		}
	}
	slices.Reverse(p)
	return p
}

// isConstant reports whether the polynomial is a constant.
func (p poly) isConstant() bool { return len(p) == 0 || len(p) == 1 && p[0].mono.isOne() }

// isOne reports whether the polynomial is 1.
func (p poly) isOne() bool { return len(p) == 1 && p[0].mono.isOne() && p[0].coef.Cmp(one) == 0 }

var one = big.NewInt(1)

func (p poly) equal(q poly) bool {
	return slices.EqualFunc(p, q, func(x, y term) bool { return x.mono == y.mono && x.coef.Cmp(y.coef) == 0 })
}

// add returns p + c·m·q.
func (p poly) add(q poly, c *big.Int, m mono) poly {
	out := make(poly, 0, len(p)+len(q))
	for _, y := range q {
		at, _ := y.mono.combine(m, plus)
		for len(p) > 0 && p[0].mono > at {
			out, p = append(out, p[0]), p[1:]
		}
		z := new(big.Int).Mul(y.coef, c)
		if len(p) > 0 && p[0].mono == at {
			z.Add(z, p[0].coef)
			p = p[1:]
		}
		if z.Sign() != 0 {
			out = append(out, term{at, z})
		}
	}
	return append(out, p...)
}

func (p poly) mul(q poly) poly {
	if p.isOne() {
		return q
	}
	if q.isOne() {
		return p
	}
	s := polyBuilder{}
	var z big.Int
	for _, x := range p {
		for _, y := range q {
			m, _ := x.mono.combine(y.mono, plus)
			s.add(m, z.Mul(x.coef, y.coef))
		}
	}
	return s.poly()
}

// neg returns -p.
func (p poly) neg() poly {
	return p.mapCoefs(func(z, x *big.Int) *big.Int { return z.Neg(x) })
}

// mapCoefs applies f to all coefficients; f must not return 0.
func (p poly) mapCoefs(f func(z, x *big.Int) *big.Int) poly {
	out := make(poly, len(p))
	for i, x := range p {
		out[i] = term{x.mono, f(new(big.Int), x.coef)}
	}
	return out
}

// quo returns p / d; it reports false if the division has a remainder.
func (p poly) quo(d poly) (poly, bool) {
	if d.isOne() {
		return p, true
	}
	var out poly
	for len(p) > 0 {
		m, ok := p[0].mono.combine(d[0].mono, minus)
		c, rest := new(big.Int).QuoRem(p[0].coef, d[0].coef, new(big.Int))
		if !ok || rest.Sign() != 0 {
			return nil, false
		}
		out = append(out, term{m, c})
		p = p.add(d, new(big.Int).Neg(c), m)
	}
	return out, true
}

// content returns the greatest integer and monomial that divide all terms.
func (p poly) content() term {
	c := term{p[0].mono, new(big.Int)}
	for _, x := range p {
		c.mono, _ = c.mono.combine(x.mono, minimum)
		c.coef.GCD(nil, nil, c.coef, new(big.Int).Abs(x.coef))
	}
	return c
}

// substitute replaces parameter i by a number.
func (p poly) substitute(i int, x *big.Int) poly {
	s := polyBuilder{}
	powers := map[uint32]*big.Int{}
	for _, t := range p {
		e := t.mono.exponent(i)
		if powers[e] == nil {
			powers[e] = new(big.Int).Exp(x, big.NewInt(int64(e)), nil)
		}
		s.add(t.mono.with(i, 0), new(big.Int).Mul(t.coef, powers[e]))
	}
	return s.poly()
}

// eval evaluates the polynomial at a point.
func (p poly) eval(point []*big.Rat) *big.Rat {
	v := new(big.Rat)
	for _, t := range p {
		x := new(big.Rat).SetInt(t.coef)
		for i := range point {
			e := big.NewInt(int64(t.mono.exponent(i)))
			num, den := new(big.Int).Exp(point[i].Num(), e, nil), new(big.Int).Exp(point[i].Denom(), e, nil)
			x.Mul(x, new(big.Rat).SetFrac(num, den))
		}
		v.Add(v, x)
	}
	return v
}
