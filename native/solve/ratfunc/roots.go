package ratfunc

import (
	"math/big"
)

// Univariate is a polynomial of one parameter by increasing exponents: element i is the coefficient of
// exponent i. The last one is not zero; an empty slice is the polynomial 0. It is immutable.
type Univariate []*big.Int

// Univariate returns numerator and denominator of a function of one parameter.
func (f *Func) Univariate() (num, den Univariate) { return f.num.univariate(), f.den.univariate() }

func (p poly) univariate() Univariate {
	var out Univariate
	for _, t := range p { // the first term has the greatest exponent
		e := t.mono.exponent(0)
		if out == nil {
			out = make(Univariate, e+1)
			for i := range out {
				out[i] = new(big.Int)
			}
		}
		out[e] = t.coef
	}
	return out
}

func (p Univariate) degree() int { return len(p) - 1 }

// Sign returns the sign of the polynomial at a point.
func (p Univariate) Sign(at *big.Rat) int {
	// By Horner's rule, multiplied by a power of the denominator.
	sum, scale := new(big.Int), big.NewInt(1)
	for i := len(p) - 1; i >= 0; i-- {
		sum.Mul(sum, at.Num())
		sum.Add(sum, new(big.Int).Mul(p[i], scale))
		scale = new(big.Int).Mul(scale, at.Denom())
	}
	return sum.Sign()
}

// primitivePart removes leading zeros and divides by the greatest common divisor of the coefficients.
func primitivePart(p Univariate) Univariate {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	c := new(big.Int)
	for _, x := range p {
		c.GCD(nil, nil, c, new(big.Int).Abs(x))
	}
	out := make(Univariate, len(p))
	for i, x := range p {
		out[i] = new(big.Int).Quo(x, c)
	}
	return out
}

// pseudoRemainder returns the remainder of p / d, times a positive number.
func (p Univariate) pseudoRemainder(d Univariate) Univariate {
	p = append(Univariate(nil), p...)
	lead := d[len(d)-1]
	leadAbs := new(big.Int).Abs(lead)
	for len(p) >= len(d) {
		factor := new(big.Int).Set(p[len(p)-1])
		if lead.Sign() < 0 {
			factor.Neg(factor)
		}
		shift := len(p) - len(d)
		for i := range p {
			p[i] = new(big.Int).Mul(p[i], leadAbs)
			if i >= shift {
				p[i].Sub(p[i], new(big.Int).Mul(factor, d[i-shift]))
			}
		}
		p = primitivePart(p[:len(p)-1])
	}
	return primitivePart(p)
}

// pseudoQuotient returns the quotient of a division without remainder, times a number. The number is
// positive if the leading coefficients have the same sign.
func (p Univariate) pseudoQuotient(d Univariate) Univariate {
	out := make(Univariate, len(p)-len(d)+1)
	lead := d[len(d)-1]
	leadAbs := new(big.Int).Abs(lead)
	p = append(Univariate(nil), p...)
	for len(p) >= len(d) {
		shift := len(p) - len(d)
		factor := new(big.Int).Set(p[len(p)-1])
		if lead.Sign() < 0 {
			factor.Neg(factor)
		}
		for i := range out {
			if out[i] != nil {
				out[i] = new(big.Int).Mul(out[i], leadAbs)
			}
		}
		out[shift] = factor
		for i := range p {
			p[i] = new(big.Int).Mul(p[i], leadAbs)
			if i >= shift {
				p[i].Sub(p[i], new(big.Int).Mul(factor, d[i-shift]))
			}
		}
		p = p[:len(p)-1]
	}
	return primitivePart(out)
}

func (p Univariate) derivative() Univariate {
	var out Univariate
	for i := 1; i < len(p); i++ {
		out = append(out, new(big.Int).Mul(p[i], big.NewInt(int64(i))))
	}
	return primitivePart(out)
}

// gcd returns a greatest common divisor of two polynomials that are not both zero (Euclid's algorithm).
func (p Univariate) gcd(q Univariate) Univariate {
	for len(q) > 0 {
		p, q = q, p.pseudoRemainder(q)
	}
	if p = primitivePart(p); p[len(p)-1].Sign() < 0 {
		for i, x := range p {
			p[i] = new(big.Int).Neg(x)
		}
	}
	return p
}

// OddSquareFree returns a polynomial whose simple roots are the roots of p with odd multiplicity, where
// the sign of p changes. p must not be 0.
//
// Source: Yun, On square-free decomposition algorithms (1976), in its simplest form.
func (p Univariate) OddSquareFree() Univariate {
	odd := Univariate{big.NewInt(1)}
	for i := 1; p.degree() > 0; i++ {
		// Factors of multiplicity i are in the square-free part of p, but no longer in repeated.
		repeated := p.gcd(p.derivative())
		simple := p.pseudoQuotient(repeated)
		exactly := simple
		if repeated.degree() > 0 {
			exactly = simple.pseudoQuotient(simple.gcd(repeated))
		}
		if i%2 == 1 {
			odd = odd.Times(exactly)
		}
		p = repeated
	}
	return odd
}

// Times returns p · q up to a positive factor.
func (p Univariate) Times(q Univariate) Univariate {
	if len(p) == 0 || len(q) == 0 {
		return nil
	}
	out := make(Univariate, len(p)+len(q)-1)
	for i := range out {
		out[i] = new(big.Int)
	}
	for i, x := range p {
		for j, y := range q {
			out[i+j].Add(out[i+j], new(big.Int).Mul(x, y))
		}
	}
	return primitivePart(out)
}

// Sturm counts the real roots of a polynomial without multiple roots.
//
// Source: Sturm's theorem; Basu, Pollack and Roy, Algorithms in real algebraic geometry (2006), chapter
// 2.
type Sturm struct {
	P     Univariate
	chain []Univariate
}

// NewSturm returns the Sturm chain of a nonzero polynomial without multiple roots.
func NewSturm(p Univariate) *Sturm {
	s := &Sturm{P: p, chain: []Univariate{p}}
	for q := p.derivative(); len(q) > 0; {
		s.chain = append(s.chain, q)
		p, q = q, p.pseudoRemainder(q)
		for i, x := range q {
			q[i] = new(big.Int).Neg(x)
		}
	}
	return s
}

// variations returns the number of sign changes in the chain at a point.
func (s *Sturm) variations(at *big.Rat) int {
	n, last := 0, 0
	for _, p := range s.chain {
		sign := p.Sign(at)
		if sign != 0 && last != 0 && sign != last {
			n++
		}
		if sign != 0 {
			last = sign
		}
	}
	return n
}

// Count returns the number of roots between low and high, excluding both.
func (s *Sturm) Count(low, high *big.Rat) int {
	if low.Cmp(high) >= 0 {
		return 0
	}
	n := s.variations(low) - s.variations(high)
	if s.P.Sign(high) == 0 {
		n--
	}
	return n
}

// Root is a real number: the fraction Low if Low equals High, and otherwise the only root of a
// polynomial between Low and High.
type Root struct {
	Low, High *big.Rat
	sturm     *Sturm
}

// At returns a Root that is a fraction.
func At(x *big.Rat) Root { return Root{Low: x, High: x} }

// Fraction reports whether the root is known to be the fraction Low.
func (r Root) Fraction() bool { return r.Low.Cmp(r.High) == 0 }

func midpoint(x, y *big.Rat) *big.Rat {
	sum := new(big.Rat).Add(x, y)
	return sum.Mul(sum, big.NewRat(1, 2))
}

// FirstRoot returns the least root between low and high, excluding both. It reports false if there is
// none.
func (s *Sturm) FirstRoot(low, high *big.Rat) (Root, bool) {
	for {
		switch s.Count(low, high) {
		case 0:
			return Root{}, false
		case 1:
			return Root{low, high, s}.asFraction(), true
		}
		m := midpoint(low, high)
		switch {
		case s.Count(low, m) > 0:
			high = m
		case s.P.Sign(m) == 0:
			return At(m), true
		default:
			low = m
		}
	}
}

// Narrow returns the root with an interval of half the width.
func (r Root) Narrow() Root {
	m := midpoint(r.Low, r.High)
	switch {
	case r.Fraction():
	case r.sturm.Count(r.Low, m) > 0:
		r.High = m
	case r.sturm.P.Sign(m) == 0:
		return At(m)
	default:
		r.Low = m
	}
	return r
}

// maxFractionBits limits the leading coefficients for which rational roots are recognized.
const maxFractionBits = 256

// asFraction recognizes a rational root. Its denominator divides the leading coefficient. A
// sufficiently narrow interval contains only one such fraction: the one with the least denominator.
func (r Root) asFraction() Root {
	lead := r.sturm.P[len(r.sturm.P)-1]
	if lead.BitLen() > maxFractionBits {
		return r
	}
	narrow := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(lead, lead))
	for !r.Fraction() && new(big.Rat).Sub(r.High, r.Low).Cmp(narrow) > 0 {
		r = r.Narrow()
	}
	if r.Fraction() {
		return r
	}
	if x := simplestBetween(r.Low, r.High); r.sturm.P.Sign(x) == 0 {
		return At(x)
	}
	return r
}

// simplestBetween returns the fraction with the least denominator between low and high, excluding both.
func simplestBetween(low, high *big.Rat) *big.Rat {
	floor := new(big.Int).Div(low.Num(), low.Denom())
	next := new(big.Rat).SetInt(new(big.Int).Add(floor, big.NewInt(1)))
	if next.Cmp(high) < 0 {
		return next
	}
	whole := new(big.Rat).SetInt(floor)
	a, b := new(big.Rat).Sub(low, whole), new(big.Rat).Sub(high, whole) // 0 <= a < b <= 1
	x := new(big.Rat)
	if a.Sign() == 0 { // 1/k for the least k with 1/k < b
		k := new(big.Int).Div(b.Denom(), b.Num())
		x.SetFrac(big.NewInt(1), k.Add(k, big.NewInt(1)))
	} else {
		x.Inv(simplestBetween(b.Inv(b), a.Inv(a)))
	}
	return x.Add(x, whole)
}

// Equal reports whether two roots are the same number.
func (r Root) Equal(o Root) bool {
	switch {
	case r.Fraction() && o.Fraction():
		return r.Low.Cmp(o.Low) == 0
	case r.Fraction():
		return o.Equal(r)
	case o.Fraction():
		return r.Low.Cmp(o.Low) < 0 && o.Low.Cmp(r.High) < 0 && r.sturm.P.Sign(o.Low) == 0
	}
	low, high := r.Low, r.High
	if o.Low.Cmp(low) > 0 {
		low = o.Low
	}
	if o.High.Cmp(high) < 0 {
		high = o.High
	}
	common := r.sturm.P.gcd(o.sturm.P)
	return common.degree() > 0 && NewSturm(common).Count(low, high) > 0
}

// CountAfter returns the number of roots of s that are greater than r and less than high. high must be
// greater than r.
func (s *Sturm) CountAfter(r Root, high *big.Rat) int {
	for !r.Fraction() {
		inside := s.Count(r.Low, r.High)
		if r.High.Cmp(high) < 0 && (inside == 0 || inside == 1 && r.isRootOf(s)) {
			n := s.Count(r.High, high)
			if s.P.Sign(r.High) == 0 {
				n++
			}
			return n
		}
		r = r.Narrow()
	}
	return s.Count(r.Low, high)
}

// isRootOf reports whether r is a root of s, which has one root in the interval of r.
func (r Root) isRootOf(s *Sturm) bool {
	common := r.sturm.P.gcd(s.P)
	return common.degree() > 0 && NewSturm(common).Count(r.Low, r.High) > 0
}

// Less reports whether r is less than o. They must be different numbers.
func (r Root) Less(o Root) bool {
	for {
		switch {
		case r.High.Cmp(o.Low) <= 0:
			return true
		case o.High.Cmp(r.Low) <= 0:
			return false
		}
		r, o = r.Narrow(), o.Narrow()
	}
}
