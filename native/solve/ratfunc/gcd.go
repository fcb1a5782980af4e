package ratfunc

import "math/big"

// gcd returns a common divisor of two nonzero polynomials, with a positive leading coefficient. It is the greatest common divisor, unless
// heuristicGCD fails; then it is the greatest common monomial.
func gcd(p, q polynomial) polynomial {
	if p.isOne() || q.isOne() {
		return polynomial{{oneMonomial(p), one}}
	}
	pContent, qContent := p.content(), q.content()
	commonTerm := term{coefficient: new(big.Int).GCD(nil, nil, pContent.coefficient, qContent.coefficient)}
	commonTerm.monomial, _ = pContent.monomial.combine(qContent.monomial, minimum)
	commonContent := polynomial{commonTerm}
	if p.isConstant() || q.isConstant() {
		return commonContent
	}
	pPrimitive, _ := p.dividedBy(polynomial{pContent})
	qPrimitive, _ := q.dividedBy(polynomial{qContent})
	divisor, ok := heuristicGCD(pPrimitive, qPrimitive)
	if !ok {
		return commonContent
	}
	return positiveLeading(commonContent.times(divisor))
}

// oneMonomial returns the monomial 1.
func oneMonomial(p polynomial) monomial { return monomial(make([]byte, len(p[0].monomial))) }

// positiveLeading returns p or -p, with a positive leading coefficient.
func positiveLeading(p polynomial) polynomial {
	if p[0].coefficient.Sign() < 0 {
		return p.negated()
	}
	return p
}

// maxBits limits the integers at which the heuristic evaluates polynomials.
const maxBits = 400_000

// heuristicGCD returns the greatest common divisor of two polynomials. It replaces a parameter by a large integer, computes the divisor of
// the results recursively, interpolates it to a polynomial, and verifies that this divides both. It returns false if all attempts fail.
//
// Source: Char, Geddes and Gonnet, GCDHEU (1989).
func heuristicGCD(p, q polynomial) (polynomial, bool) {
	const attempts = 6
	parameter, degree := mainParameter(p, q)
	if parameter < 0 { // two constants
		pAbs, qAbs := new(big.Int).Abs(p[0].coefficient), new(big.Int).Abs(q[0].coefficient)
		return polynomial{{oneMonomial(p), new(big.Int).GCD(nil, nil, pAbs, qAbs)}}, true
	}
	content := new(big.Int).GCD(nil, nil, p.content().coefficient, q.content().coefficient)
	p, q = p.divideCoefficients(content), q.divideCoefficients(content)
	point := evaluationPoint(p, q)
	for range attempts {
		if point.BitLen()*int(degree+1) > maxBits {
			return nil, false
		}
		if divisor, ok := interpolateDivisor(p, q, parameter, point); ok {
			return divisor.multiplyCoefficients(content), true
		}
		// The next point is about 2.7 times as large. The numbers are those of GCDHEU, for which the points have few common factors.
		point.Mul(point, big.NewInt(73794)).Quo(point, big.NewInt(27011))
	}
	return nil, false
}

// evaluationPoint returns the first integer at which heuristicGCD evaluates polynomials: more than twice the smaller norm.
func evaluationPoint(p, q polynomial) *big.Int {
	point := p.maxAbsCoefficient()
	if qNorm := q.maxAbsCoefficient(); qNorm.Cmp(point) < 0 {
		point = qNorm
	}
	return point.Add(point.Lsh(point, 1), big.NewInt(29))
}

// interpolateDivisor replaces a parameter of p and q by the integer point, and interpolates the greatest common divisor of the results. It
// returns false if the interpolated polynomial does not divide both p and q.
func interpolateDivisor(p, q polynomial, parameter int, point *big.Int) (polynomial, bool) {
	pAtPoint, qAtPoint := p.substitute(parameter, point), q.substitute(parameter, point)
	if len(pAtPoint) == 0 || len(qAtPoint) == 0 {
		return nil, false
	}
	divisorAtPoint, ok := heuristicGCD(pAtPoint, qAtPoint)
	if !ok {
		return nil, false
	}
	divisor := interpolate(divisorAtPoint, parameter, point)
	divisor = positiveLeading(divisor.divideCoefficients(divisor.content().coefficient))
	return divisor, divides(divisor, p) && divides(divisor, q)
}

// multiplyCoefficients multiplies all coefficients by an integer.
func (polynomial polynomial) multiplyCoefficients(factor *big.Int) polynomial {
	return polynomial.mapCoefficients(func(result, coefficient *big.Int) *big.Int { return result.Mul(coefficient, factor) })
}

// divideCoefficients divides all coefficients by a common divisor.
func (polynomial polynomial) divideCoefficients(divisor *big.Int) polynomial {
	return polynomial.mapCoefficients(func(result, coefficient *big.Int) *big.Int { return result.Quo(coefficient, divisor) })
}

// divides reports whether a polynomial divides p without remainder.
func divides(divisor, p polynomial) bool {
	_, ok := p.dividedBy(divisor)
	return ok
}

// mainParameter returns the first parameter of p or q, and its greatest exponent. The parameter is -1 if both are constant.
func mainParameter(p, q polynomial) (parameter int, degree uint32) {
	for i := range p[0].monomial.numVars() {
		if degree := max(p.degree(i), q.degree(i)); degree > 0 {
			return i, degree
		}
	}
	return -1, 0
}

// degree returns the greatest exponent of a parameter.
func (polynomial polynomial) degree(parameter int) uint32 {
	greatest := uint32(0)
	for _, term := range polynomial {
		greatest = max(greatest, term.monomial.exponent(parameter))
	}
	return greatest
}

// maxAbsCoefficient returns the greatest absolute value of a coefficient.
func (polynomial polynomial) maxAbsCoefficient() *big.Int {
	maximum := new(big.Int)
	for _, term := range polynomial {
		if term.coefficient.CmpAbs(maximum) > 0 {
			maximum.Abs(term.coefficient)
		}
	}
	return maximum
}

// interpolate returns the polynomial q for which p is q with the integer point instead of a parameter. The coefficients of q are the digits
// of the coefficients of p in base point, where digits are between -point/2 and point/2.
func interpolate(p polynomial, parameter int, point *big.Int) polynomial {
	builder := polynomialBuilder{}
	half := new(big.Int).Rsh(point, 1)
	for _, term := range p {
		remainder, digit := new(big.Int).Set(term.coefficient), new(big.Int)
		for exponent := uint32(0); remainder.Sign() != 0; exponent++ {
			remainder.DivMod(remainder, point, digit)
			if digit.Cmp(half) > 0 {
				digit.Sub(digit, point)
				remainder.Add(remainder, one)
			}
			builder.addTerm(term.monomial.withExponent(parameter, exponent), digit)
		}
	}
	return builder.polynomial()
}
