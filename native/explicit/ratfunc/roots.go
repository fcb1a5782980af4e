package ratfunc

import (
	"math/big"
)

// Line is a polynomial of one parameter: the i-th number is the coefficient of its i-th
// power, and the last is not zero. None is the polynomial 0. It is never changed.
type Line []*big.Int

// Lines returns numerator and denominator of a function of one parameter.
func (f *Func) Lines() (num, den Line) { return f.num.line(), f.den.line() }

func (p poly) line() Line {
	var out Line
	for _, t := range p { // with the greatest exponent first
		e := t.mono.exponent(0)
		if out == nil {
			out = make(Line, e+1)
			for i := range out {
				out[i] = new(big.Int)
			}
		}
		out[e] = t.coef
	}
	return out
}

func (p Line) degree() int { return len(p) - 1 }

// Sign returns the sign of the polynomial at a point.
func (p Line) Sign(at *big.Rat) int {
	// By Horner's rule, multiplied by a power of the denominator.
	sum, scale := new(big.Int), big.NewInt(1)
	for i := len(p) - 1; i >= 0; i-- {
		sum.Mul(sum, at.Num())
		sum.Add(sum, new(big.Int).Mul(p[i], scale))
		scale = new(big.Int).Mul(scale, at.Denom())
	}
	return sum.Sign()
}

// trim returns the polynomial without leading zeros and without a common divisor of its
// coefficients.
func trim(p Line) Line {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	c := new(big.Int)
	for _, x := range p {
		c.GCD(nil, nil, c, new(big.Int).Abs(x))
	}
	out := make(Line, len(p))
	for i, x := range p {
		out[i] = new(big.Int).Quo(x, c)
	}
	return out
}

// rest returns the remainder of a division, times a positive number.
func (p Line) rest(d Line) Line {
	p = append(Line(nil), p...)
	lead := d[len(d)-1]
	size := new(big.Int).Abs(lead)
	for len(p) >= len(d) {
		top := new(big.Int).Set(p[len(p)-1])
		if lead.Sign() < 0 {
			top.Neg(top)
		}
		shift := len(p) - len(d)
		for i := range p {
			p[i] = new(big.Int).Mul(p[i], size)
			if i >= shift {
				p[i].Sub(p[i], new(big.Int).Mul(top, d[i-shift]))
			}
		}
		p = trim(p[:len(p)-1])
	}
	return trim(p)
}

// divided returns the quotient of a division without a remainder, up to a constant
// factor that is positive if both leading coefficients have the same sign.
func (p Line) divided(d Line) Line {
	out := make(Line, len(p)-len(d)+1)
	lead := d[len(d)-1]
	size := new(big.Int).Abs(lead)
	p = append(Line(nil), p...)
	for len(p) >= len(d) {
		shift := len(p) - len(d)
		top := new(big.Int).Set(p[len(p)-1])
		if lead.Sign() < 0 {
			top.Neg(top)
		}
		for i := range out {
			if out[i] != nil {
				out[i] = new(big.Int).Mul(out[i], size)
			}
		}
		out[shift] = top
		for i := range p {
			p[i] = new(big.Int).Mul(p[i], size)
			if i >= shift {
				p[i].Sub(p[i], new(big.Int).Mul(top, d[i-shift]))
			}
		}
		p = p[:len(p)-1]
	}
	return trim(out)
}

func (p Line) derivative() Line {
	var out Line
	for i := 1; i < len(p); i++ {
		out = append(out, new(big.Int).Mul(p[i], big.NewInt(int64(i))))
	}
	return trim(out)
}

// shared returns a greatest common divisor of two polynomials, not both zero.
func (p Line) shared(q Line) Line {
	for len(q) > 0 {
		p, q = q, p.rest(q)
	}
	if p = trim(p); p[len(p)-1].Sign() < 0 {
		for i, x := range p {
			p[i] = new(big.Int).Neg(x)
		}
	}
	return p
}

// Changes returns a polynomial without multiple roots, whose roots are those at which
// the sign of p, which is not zero, changes: those of odd multiplicity.
//
// Source: Yun, On square-free decomposition algorithms (1976), in its simplest form.
func (p Line) Changes() Line {
	odd := Line{big.NewInt(1)}
	for i := 1; p.degree() > 0; i++ {
		// The factors of p of multiplicity i are those of its square-free part that what
		// is left has no longer.
		left := p.shared(p.derivative())
		simple := p.divided(left)
		exactly := simple
		if left.degree() > 0 {
			exactly = simple.divided(simple.shared(left))
		}
		if i%2 == 1 {
			odd = odd.Times(exactly)
		}
		p = left
	}
	return odd
}

// Times returns p · q.
func (p Line) Times(q Line) Line {
	if len(p) == 0 || len(q) == 0 {
		return nil
	}
	out := make(Line, len(p)+len(q)-1)
	for i := range out {
		out[i] = new(big.Int)
	}
	for i, x := range p {
		for j, y := range q {
			out[i+j].Add(out[i+j], new(big.Int).Mul(x, y))
		}
	}
	return trim(out)
}

// Sturm counts the roots of a polynomial without multiple ones.
//
// Source: Sturm's theorem; Basu, Pollack and Roy, Algorithms in real algebraic geometry (2006), chapter 2.
type Sturm struct {
	P     Line
	chain []Line
}

// NewSturm returns the counter of a polynomial without multiple roots, other than 0.
func NewSturm(p Line) *Sturm {
	s := &Sturm{P: p, chain: []Line{p}}
	for q := p.derivative(); len(q) > 0; {
		s.chain = append(s.chain, q)
		p, q = q, p.rest(q)
		for i, x := range q {
			q[i] = new(big.Int).Neg(x)
		}
	}
	return s
}

// variations is how often the sign changes along the chain.
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

// Count returns how many roots are greater than low and less than high.
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

// Root is a real number: Low, where that is High, and otherwise the only root of a
// polynomial that is greater than Low and less than High.
type Root struct {
	Low, High *big.Rat
	of        *Sturm
}

// At returns the root that is a fraction.
func At(x *big.Rat) Root { return Root{Low: x, High: x} }

// Fraction reports whether the root is known to be the fraction Low.
func (r Root) Fraction() bool { return r.Low.Cmp(r.High) == 0 }

func middle(x, y *big.Rat) *big.Rat {
	sum := new(big.Rat).Add(x, y)
	return sum.Mul(sum, big.NewRat(1, 2))
}

// First returns the least root that is greater than low and less than high; it reports
// false if there is none.
func (s *Sturm) First(low, high *big.Rat) (Root, bool) {
	for {
		switch s.Count(low, high) {
		case 0:
			return Root{}, false
		case 1:
			return Root{low, high, s}.named(), true
		}
		m := middle(low, high)
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

// Narrow returns the root with half as wide an interval.
func (r Root) Narrow() Root {
	m := middle(r.Low, r.High)
	switch {
	case r.Fraction():
	case r.of.Count(r.Low, m) > 0:
		r.High = m
	case r.of.P.Sign(m) == 0:
		return At(m)
	default:
		r.Low = m
	}
	return r
}

// maxNamed is the length of the denominators for which fractions are looked for.
const maxNamed = 256

// named returns a root that is a fraction as one. Its denominator divides the leading
// coefficient, and of such fractions no two are in a narrow interval, where the one with the least denominator is
// the only candidate.
func (r Root) named() Root {
	lead := r.of.P[len(r.of.P)-1]
	if lead.BitLen() > maxNamed {
		return r
	}
	narrow := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(lead, lead))
	for !r.Fraction() && new(big.Rat).Sub(r.High, r.Low).Cmp(narrow) > 0 {
		r = r.Narrow()
	}
	if r.Fraction() {
		return r
	}
	if x := simplest(r.Low, r.High); r.of.P.Sign(x) == 0 {
		return At(x)
	}
	return r
}

// simplest returns the fraction with the least denominator that is greater than low and
// less than high.
func simplest(low, high *big.Rat) *big.Rat {
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
		x.Inv(simplest(b.Inv(b), a.Inv(a)))
	}
	return x.Add(x, whole)
}

// Same reports whether two roots are the same number.
func (r Root) Same(o Root) bool {
	switch {
	case r.Fraction() && o.Fraction():
		return r.Low.Cmp(o.Low) == 0
	case r.Fraction():
		return o.Same(r)
	case o.Fraction():
		return r.Low.Cmp(o.Low) < 0 && o.Low.Cmp(r.High) < 0 && r.of.P.Sign(o.Low) == 0
	}
	low, high := r.Low, r.High
	if o.Low.Cmp(low) > 0 {
		low = o.Low
	}
	if o.High.Cmp(high) < 0 {
		high = o.High
	}
	both := r.of.P.shared(o.of.P)
	return both.degree() > 0 && NewSturm(both).Count(low, high) > 0
}

// Beyond returns how many roots of s are greater than a root and less than high, which is
// greater than the root.
func (s *Sturm) Beyond(r Root, high *big.Rat) int {
	for !r.Fraction() {
		inside := s.Count(r.Low, r.High)
		if r.High.Cmp(high) < 0 && (inside == 0 || inside == 1 && r.meets(s)) {
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

// meets reports whether the root is one of s, which has one in its interval.
func (r Root) meets(s *Sturm) bool {
	both := r.of.P.shared(s.P)
	return both.degree() > 0 && NewSturm(both).Count(r.Low, r.High) > 0
}

// Less compares two different roots.
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
