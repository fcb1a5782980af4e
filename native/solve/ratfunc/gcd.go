package ratfunc

import "math/big"

// gcd returns a common divisor of two polynomials: the greatest one, unless the heuristic search fails. Its
// leading coefficient is positive.
func gcd(p, q polynomial) polynomial {
	if p.isOne() || q.isOne() {
		return polynomial{{oneMonomial(p), one}}
	}
	pContent, qContent := p.content(), q.content()
	common := term{coefficient: new(big.Int).GCD(nil, nil, pContent.coefficient, qContent.coefficient)}
	common.monomial, _ = pContent.monomial.combine(qContent.monomial, minimum)
	commonContent := polynomial{common}
	if p.isConstant() || q.isConstant() {
		return commonContent
	}
	pPrimitive, _ := p.quo(polynomial{pContent})
	qPrimitive, _ := q.quo(polynomial{qContent})
	divisor, ok := heuristicGCD(pPrimitive, qPrimitive)
	if !ok {
		return commonContent
	}
	return positiveLeading(commonContent.mul(divisor))
}

// oneMonomial returns the monomial 1.
func oneMonomial(p polynomial) monomial { return monomial(make([]byte, len(p[0].monomial))) }

// positiveLeading returns p or -p, with a positive leading coefficient.
func positiveLeading(p polynomial) polynomial {
	if p[0].coefficient.Sign() < 0 {
		return p.neg()
	}
	return p
}

// maxBits limits the integers at which the heuristic evaluates polynomials.
const maxBits = 400_000

// heuristicGCD returns the greatest common divisor of two polynomials, including the common divisor of their
// coefficients. It evaluates both at a large integer, computes the greatest common divisor there,
// interpolates, and verifies by division. It returns false if it fails.
//
// Source: Char, Geddes and Gonnet, GCDHEU (1989).
func heuristicGCD(p, q polynomial) (polynomial, bool) {
	parameter, degree := mainParameter(p, q)
	if parameter < 0 {
		pAbs, qAbs := new(big.Int).Abs(p[0].coefficient), new(big.Int).Abs(q[0].coefficient)
		return polynomial{{oneMonomial(p), new(big.Int).GCD(nil, nil, pAbs, qAbs)}}, true
	}
	contentGCD := new(big.Int).GCD(nil, nil, p.content().coefficient, q.content().coefficient)
	reduced := func(dst, coefficient *big.Int) *big.Int { return dst.Quo(coefficient, contentGCD) }
	p, q = p.mapCoefs(reduced), q.mapCoefs(reduced)
	point := p.norm()
	if qNorm := q.norm(); qNorm.Cmp(point) < 0 {
		point = qNorm
	}
	point.Lsh(point, 1).Add(point, big.NewInt(29))
	for range 6 {
		if point.BitLen()*int(degree+1) > maxBits {
			return nil, false
		}
		pAtPoint, qAtPoint := p.substitute(parameter, point), q.substitute(parameter, point)
		if len(pAtPoint) > 0 && len(qAtPoint) > 0 {
			if divisor, ok := heuristicGCD(pAtPoint, qAtPoint); ok {
				divisor = interpolate(divisor, parameter, point)
				content := divisor.content().coefficient
				divisor = positiveLeading(divisor.mapCoefs(func(dst, coefficient *big.Int) *big.Int { return dst.Quo(coefficient, content) }))
				if divides(divisor, p) && divides(divisor, q) {
					return divisor.mapCoefs(func(dst, coefficient *big.Int) *big.Int { return dst.Mul(coefficient, contentGCD) }), true
				}
			}
		}
		// Try another integer without small common factors.
		point.Mul(point, big.NewInt(73794)).Quo(point, big.NewInt(27011))
	}
	return nil, false
}

func divides(d, p polynomial) bool {
	_, ok := p.quo(d)
	return ok
}

// mainParameter returns the first parameter that occurs in p or q, and its greatest exponent. The index is -1
// if both are constant.
func mainParameter(p, q polynomial) (index int, degree uint32) {
	for i := range p[0].monomial.vars() {
		for _, summand := range p {
			degree = max(degree, summand.monomial.exponent(i))
		}
		for _, summand := range q {
			degree = max(degree, summand.monomial.exponent(i))
		}
		if degree > 0 {
			return i, degree
		}
	}
	return -1, 0
}

// norm returns the greatest absolute value of a coefficient.
func (p polynomial) norm() *big.Int {
	maximum := new(big.Int)
	for _, t := range p {
		if t.coefficient.CmpAbs(maximum) > 0 {
			maximum.Abs(t.coefficient)
		}
	}
	return maximum
}

// interpolate undoes the substitution of point for a parameter: it writes each coefficient in base point,
// with digits between -point/2 and point/2, and replaces point by the parameter.
func interpolate(p polynomial, parameter int, point *big.Int) polynomial {
	builder := polynomialBuilder{}
	half := new(big.Int).Rsh(point, 1)
	for _, t := range p {
		remainder, digit := new(big.Int).Set(t.coefficient), new(big.Int)
		for exponent := uint32(0); remainder.Sign() != 0; exponent++ {
			remainder.DivMod(remainder, point, digit)
			if digit.Cmp(half) > 0 {
				digit.Sub(digit, point)
				remainder.Add(remainder, one)
			}
			builder.add(t.monomial.with(parameter, exponent), digit)
		}
	}
	return builder.polynomial()
}
