package ratfunc

import "math/big"

// gcd returns a common divisor of two polynomials other than zero, the greatest unless the
// search for it gives up. Its first coefficient is positive.
func gcd(p, q poly) poly {
	if p.isOne() || q.isOne() {
		return poly{{zeros(p), one}}
	}
	x, y := p.content(), q.content()
	common := term{coef: new(big.Int).GCD(nil, nil, x.coef, y.coef)}
	common.mono, _ = x.mono.combine(y.mono, lesser)
	c := poly{common}
	if p.isConstant() || q.isConstant() {
		return c
	}
	a, _ := p.quo(poly{x})
	b, _ := q.quo(poly{y})
	g, ok := heuristic(a, b)
	if !ok {
		return c
	}
	return positive(c.mul(g))
}

// zeros returns the monomial 1.
func zeros(p poly) mono { return mono(make([]byte, len(p[0].mono))) }

// positive returns the polynomial or its negation.
func positive(p poly) poly {
	if p[0].coef.Sign() < 0 {
		return p.neg()
	}
	return p
}

// maxBits is how long the numbers may be in which polynomials are coded.
const maxBits = 400_000

// heuristic returns the greatest common divisor of two polynomials, with that of all their
// coefficients. It reports false if it does not find it.
func heuristic(p, q poly) (poly, bool) {
	main, degree := leading(p, q)
	if main < 0 {
		return poly{{zeros(p), new(big.Int).GCD(nil, nil, new(big.Int).Abs(p[0].coef), new(big.Int).Abs(q[0].coef))}}, true
	}
	c := new(big.Int).GCD(nil, nil, p.content().coef, q.content().coef)
	reduced := func(z, x *big.Int) *big.Int { return z.Quo(x, c) }
	p, q = p.each(reduced), q.each(reduced)
	at := p.norm()
	if y := q.norm(); y.Cmp(at) < 0 {
		at = y
	}
	at.Lsh(at, 1).Add(at, big.NewInt(29))
	for range 6 {
		if at.BitLen()*int(degree+1) > maxBits {
			return nil, false
		}
		x, y := p.at(main, at), q.at(main, at)
		if len(x) > 0 && len(y) > 0 {
			if g, ok := heuristic(x, y); ok {
				g = interpolate(g, main, at)
				content := g.content().coef
				g = positive(g.each(func(z, x *big.Int) *big.Int { return z.Quo(x, content) }))
				if divides(g, p) && divides(g, q) {
					return g.each(func(z, x *big.Int) *big.Int { return z.Mul(x, c) }), true
				}
			}
		}
		// Another number, without small factors in common with the last.
		at.Mul(at, big.NewInt(73794)).Quo(at, big.NewInt(27011))
	}
	return nil, false
}

func divides(d, p poly) bool {
	_, ok := p.quo(d)
	return ok
}

// leading returns the first parameter that is in one of two polynomials, and its greatest
// exponent; -1 if there is none.
func leading(p, q poly) (index int, degree uint32) {
	for i := range p[0].mono.vars() {
		for _, t := range p {
			degree = max(degree, t.mono.exponent(i))
		}
		for _, t := range q {
			degree = max(degree, t.mono.exponent(i))
		}
		if degree > 0 {
			return i, degree
		}
	}
	return -1, 0
}

// norm returns the greatest absolute value of a coefficient.
func (p poly) norm() *big.Int {
	most := new(big.Int)
	for _, t := range p {
		if t.coef.CmpAbs(most) > 0 {
			most.Abs(t.coef)
		}
	}
	return most
}

// interpolate writes the coefficients of a polynomial as sums of powers of a number, with
// factors of at most half of it, and puts a parameter for the number.
func interpolate(p poly, i int, at *big.Int) poly {
	s := sum{}
	half := new(big.Int).Rsh(at, 1)
	for _, t := range p {
		rest, digit := new(big.Int).Set(t.coef), new(big.Int)
		for e := uint32(0); rest.Sign() != 0; e++ {
			rest.DivMod(rest, at, digit)
			if digit.Cmp(half) > 0 {
				digit.Sub(digit, at)
				rest.Add(rest, one)
			}
			s.add(t.mono.with(i, e), digit)
		}
	}
	return s.poly()
}
