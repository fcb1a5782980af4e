package ratfunc

import "math/big"

// gcd returns a common divisor of two polynomials, the greatest one unless the heuristic search fails.
// Its leading coefficient is positive.
func gcd(p, q poly) poly {
	if p.isOne() || q.isOne() {
		return poly{{oneMono(p), one}}
	}
	x, y := p.content(), q.content()
	common := term{coef: new(big.Int).GCD(nil, nil, x.coef, y.coef)}
	common.mono, _ = x.mono.combine(y.mono, minimum)
	c := poly{common}
	if p.isConstant() || q.isConstant() {
		return c
	}
	a, _ := p.quo(poly{x})
	b, _ := q.quo(poly{y})
	g, ok := heuristicGCD(a, b)
	if !ok {
		return c
	}
	return positiveLeading(c.mul(g))
}

// oneMono returns the monomial 1.
func oneMono(p poly) mono { return mono(make([]byte, len(p[0].mono))) }

// positiveLeading returns p or -p, with a positive leading coefficient.
func positiveLeading(p poly) poly {
	if p[0].coef.Sign() < 0 {
		return p.neg()
	}
	return p
}

// maxBits limits the integers at which the heuristic evaluates polynomials.
const maxBits = 400_000

// heuristicGCD returns the greatest common divisor of two polynomials, including that of their
// coefficients. It evaluates both at a large integer, computes the greatest common divisor there,
// interpolates, and verifies by division. It reports false if it fails.
//
// Source: Char, Geddes and Gonnet, GCDHEU (1989).
func heuristicGCD(p, q poly) (poly, bool) {
	variable, degree := mainVariable(p, q)
	if variable < 0 {
		return poly{{oneMono(p), new(big.Int).GCD(nil, nil, new(big.Int).Abs(p[0].coef), new(big.Int).Abs(q[0].coef))}}, true
	}
	c := new(big.Int).GCD(nil, nil, p.content().coef, q.content().coef)
	reduced := func(z, x *big.Int) *big.Int { return z.Quo(x, c) }
	p, q = p.mapCoefs(reduced), q.mapCoefs(reduced)
	point := p.norm()
	if y := q.norm(); y.Cmp(point) < 0 {
		point = y
	}
	point.Lsh(point, 1).Add(point, big.NewInt(29))
	for range 6 {
		if point.BitLen()*int(degree+1) > maxBits {
			return nil, false
		}
		x, y := p.substitute(variable, point), q.substitute(variable, point)
		if len(x) > 0 && len(y) > 0 {
			if g, ok := heuristicGCD(x, y); ok {
				g = interpolate(g, variable, point)
				content := g.content().coef
				g = positiveLeading(g.mapCoefs(func(z, x *big.Int) *big.Int { return z.Quo(x, content) }))
				if divides(g, p) && divides(g, q) {
					return g.mapCoefs(func(z, x *big.Int) *big.Int { return z.Mul(x, c) }), true
				}
			}
		}
		// Try another integer without small common factors.
		point.Mul(point, big.NewInt(73794)).Quo(point, big.NewInt(27011))
	}
	return nil, false
}

func divides(d, p poly) bool {
	_, ok := p.quo(d)
	return ok
}

// mainVariable returns the first parameter that occurs in p or q, and its greatest exponent; -1 if
// there is none.
func mainVariable(p, q poly) (index int, degree uint32) {
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
	maximum := new(big.Int)
	for _, t := range p {
		if t.coef.CmpAbs(maximum) > 0 {
			maximum.Abs(t.coef)
		}
	}
	return maximum
}

// interpolate writes each coefficient as a sum of powers of point with digits of at most half its size,
// and replaces point by parameter i.
func interpolate(p poly, i int, point *big.Int) poly {
	builder := polyBuilder{}
	half := new(big.Int).Rsh(point, 1)
	for _, t := range p {
		remainder, digit := new(big.Int).Set(t.coef), new(big.Int)
		for e := uint32(0); remainder.Sign() != 0; e++ {
			remainder.DivMod(remainder, point, digit)
			if digit.Cmp(half) > 0 {
				digit.Sub(digit, point)
				remainder.Add(remainder, one)
			}
			builder.add(t.mono.with(i, e), digit)
		}
	}
	return builder.poly()
}
