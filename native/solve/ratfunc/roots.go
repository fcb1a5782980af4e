package ratfunc

import (
	"math/big"
)

// Univariate is a polynomial of one parameter by increasing exponents: element i is the coefficient of
// exponent i. The last one is not zero; an empty slice is the polynomial 0. It is immutable.
type Univariate []*big.Int

// Univariate returns the numerator and the denominator of a function of one parameter.
func (f *Func) Univariate() (numerator, denominator Univariate) {
	return f.numerator.univariate(), f.denominator.univariate()
}

// univariate returns the coefficients of a polynomial with one parameter, by exponent.
func (p polynomial) univariate() Univariate {
	if len(p) == 0 {
		return nil
	}
	degree := p[0].monomial.exponent(0) // the first term has the greatest exponent
	result := make(Univariate, degree+1)
	for i := range result {
		result[i] = new(big.Int)
	}
	for _, term := range p {
		result[term.monomial.exponent(0)] = term.coefficient
	}
	return result
}

func (p Univariate) degree() int { return len(p) - 1 }

// Sign returns the sign of the polynomial at a point: -1, 0 or 1.
func (p Univariate) Sign(point *big.Rat) int {
	// By Horner's rule, multiplied by a power of the denominator.
	sum, scale := new(big.Int), big.NewInt(1)
	for i := len(p) - 1; i >= 0; i-- {
		sum.Mul(sum, point.Num())
		sum.Add(sum, new(big.Int).Mul(p[i], scale))
		scale = new(big.Int).Mul(scale, point.Denom())
	}
	return sum.Sign()
}

// primitivePart returns the polynomial without leading zero coefficients, divided by the greatest common divisor of its coefficients.
func primitivePart(p Univariate) Univariate {
	for len(p) > 0 && p[len(p)-1].Sign() == 0 {
		p = p[:len(p)-1]
	}
	content := new(big.Int)
	for _, coefficient := range p {
		content.GCD(nil, nil, content, new(big.Int).Abs(coefficient))
	}
	result := make(Univariate, len(p))
	for i, coefficient := range p {
		result[i] = new(big.Int).Quo(coefficient, content)
	}
	return result
}

// pseudoRemainder returns a positive multiple of the remainder of the division of p by the divisor.
func (p Univariate) pseudoRemainder(divisor Univariate) Univariate {
	for len(p) >= len(divisor) {
		remainder, _ := p.cancelLeadingTerm(divisor)
		p = primitivePart(remainder)
	}
	return primitivePart(p)
}

// cancelLeadingTerm performs one step of the pseudo-division of p by a divisor whose degree is not greater. It returns |a| p - factor x^k
// divisor without its leading term, which is 0. Here a is the leading coefficient of the divisor, and k the difference of the degrees.
func (p Univariate) cancelLeadingTerm(divisor Univariate) (remainder Univariate, factor *big.Int) {
	divisorLeading := divisor[len(divisor)-1]
	scale := new(big.Int).Abs(divisorLeading)
	factor = new(big.Int).Set(p[len(p)-1])
	if divisorLeading.Sign() < 0 {
		factor.Neg(factor)
	}
	remainder = make(Univariate, len(p)-1)
	for i := range remainder {
		remainder[i] = new(big.Int).Mul(p[i], scale)
	}
	shift := len(p) - len(divisor)
	for i, coefficient := range divisor[:len(divisor)-1] {
		remainder[shift+i].Sub(remainder[shift+i], new(big.Int).Mul(factor, coefficient))
	}
	return remainder, factor
}

// pseudoQuotient returns a multiple of the quotient p / divisor, which must have no remainder. Its leading coefficient is positive if the
// leading coefficients of p and the divisor have the same sign.
func (p Univariate) pseudoQuotient(divisor Univariate) Univariate {
	quotient := make(Univariate, len(p)-len(divisor)+1)
	scale := new(big.Int).Abs(divisor[len(divisor)-1])
	for shift := len(quotient) - 1; shift >= 0; shift-- {
		for i := shift + 1; i < len(quotient); i++ {
			quotient[i] = new(big.Int).Mul(quotient[i], scale)
		}
		p, quotient[shift] = p.cancelLeadingTerm(divisor)
	}
	return primitivePart(quotient)
}

// derivative returns the derivative of p, divided by the gcd of its coefficients.
func (p Univariate) derivative() Univariate {
	var derivative Univariate
	for i := 1; i < len(p); i++ {
		derivative = append(derivative, new(big.Int).Mul(p[i], big.NewInt(int64(i))))
	}
	return primitivePart(derivative)
}

// gcd returns a greatest common divisor of two polynomials by Euclid's algorithm. Its leading coefficient is positive.
// At least one polynomial must not be zero.
func (p Univariate) gcd(q Univariate) Univariate {
	for len(q) > 0 {
		p, q = q, p.pseudoRemainder(q)
	}
	p = primitivePart(p)
	if p[len(p)-1].Sign() < 0 {
		for i, coefficient := range p {
			p[i] = new(big.Int).Neg(coefficient)
		}
	}
	return p
}

// OddSquareFree returns a polynomial with simple roots: the roots of p with odd multiplicity, which are the points where p changes its
// sign. p must not be 0.
//
// Source: Yun, On square-free decomposition algorithms (1976).
func (p Univariate) OddSquareFree() Univariate {
	oddFactors := Univariate{big.NewInt(1)}
	for multiplicity := 1; p.degree() > 0; multiplicity++ {
		// simple has each root of p once. The multiplicity of a root in repeated is one less than in p.
		repeated := p.gcd(p.derivative())
		simple := p.pseudoQuotient(repeated)
		simpleOnly := simple
		if repeated.degree() > 0 {
			simpleOnly = simple.pseudoQuotient(simple.gcd(repeated))
		}
		if multiplicity%2 == 1 {
			oddFactors = oddFactors.Times(simpleOnly)
		}
		p = repeated
	}
	return oddFactors
}

// Times returns p · q, divided by the gcd of its coefficients.
func (p Univariate) Times(q Univariate) Univariate {
	if len(p) == 0 || len(q) == 0 {
		return nil
	}
	product := make(Univariate, len(p)+len(q)-1)
	for i := range product {
		product[i] = new(big.Int)
	}
	for i, left := range p {
		for j, right := range q {
			product[i+j].Add(product[i+j], new(big.Int).Mul(left, right))
		}
	}
	return primitivePart(product)
}

// Sturm counts the real roots of a polynomial without multiple roots.
//
// Source: Sturm's theorem; Basu, Pollack and Roy, Algorithms in real algebraic geometry (2006), chapter
// 2.
type Sturm struct {
	Polynomial  Univariate
	polynomials []Univariate
}

// NewSturm returns the Sturm chain of a nonzero polynomial without multiple roots. Each later polynomial is the
// negative remainder of its two predecessors.
func NewSturm(p Univariate) *Sturm {
	sturm := &Sturm{Polynomial: p, polynomials: []Univariate{p}}
	for next := p.derivative(); len(next) > 0; {
		sturm.polynomials = append(sturm.polynomials, next)
		p, next = next, p.pseudoRemainder(next)
		for i, coefficient := range next {
			next[i] = new(big.Int).Neg(coefficient)
		}
	}
	return sturm
}

// signChanges returns the number of sign changes between consecutive polynomials of the Sturm chain at a point. Zeros are skipped.
func (sturm *Sturm) signChanges(point *big.Rat) int {
	changes, lastSign := 0, 0
	for _, p := range sturm.polynomials {
		sign := p.Sign(point)
		if sign == 0 {
			continue
		}
		if lastSign != 0 && sign != lastSign {
			changes++
		}
		lastSign = sign
	}
	return changes
}

// CountRoots returns the number of roots r with low < r < high, by Sturm's theorem.
func (sturm *Sturm) CountRoots(low, high *big.Rat) int {
	if low.Cmp(high) >= 0 {
		return 0
	}
	count := sturm.signChanges(low) - sturm.signChanges(high)
	if sturm.Polynomial.Sign(high) == 0 {
		count--
	}
	return count
}

// Root is a real number: the fraction Low if Low equals High, and otherwise the only root of a
// polynomial between Low and High.
type Root struct {
	Low, High *big.Rat
	sturm     *Sturm
}

// FractionRoot returns a Root that is a fraction.
func FractionRoot(value *big.Rat) Root { return Root{Low: value, High: value} }

// IsFraction reports whether the root is known to be the fraction Low.
func (r Root) IsFraction() bool { return r.Low.Cmp(r.High) == 0 }

// midpoint returns the mean of two numbers.
func midpoint(left, right *big.Rat) *big.Rat {
	sum := new(big.Rat).Add(left, right)
	return sum.Mul(sum, big.NewRat(1, 2))
}

// FirstRoot returns the least root r of the polynomial with low < r < high, by bisection. It returns false if there is none.
func (sturm *Sturm) FirstRoot(low, high *big.Rat) (Root, bool) {
	for {
		switch sturm.CountRoots(low, high) {
		case 0:
			return Root{}, false
		case 1:
			return Root{low, high, sturm}.asFraction(), true
		}
		middle := midpoint(low, high)
		switch {
		case sturm.CountRoots(low, middle) > 0:
			high = middle
		case sturm.Polynomial.Sign(middle) == 0:
			return FractionRoot(middle), true
		default:
			low = middle
		}
	}
}

// Narrow returns the same root with an isolating interval of half the width. A fraction does not change.
func (r Root) Narrow() Root {
	if r.IsFraction() {
		return r
	}
	middle := midpoint(r.Low, r.High)
	switch {
	case r.sturm.CountRoots(r.Low, middle) > 0:
		r.High = middle
	case r.sturm.Polynomial.Sign(middle) == 0:
		return FractionRoot(middle)
	default:
		r.Low = middle
	}
	return r
}

// maxFractionBits limits the leading coefficients for which rational roots are recognized.
const maxFractionBits = 256

// asFraction returns the root as a fraction if it is rational. The denominator of a rational root divides the leading coefficient, which
// limits the search. It returns the root unchanged if the root is irrational, or if the leading coefficient is too large.
func (r Root) asFraction() Root {
	leading := r.sturm.Polynomial[len(r.sturm.Polynomial)-1]
	if leading.BitLen() > maxFractionBits {
		return r
	}
	// An interval of this width contains only one possible fraction: the fraction with the least denominator.
	maxWidth := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(leading, leading))
	for !r.IsFraction() && new(big.Rat).Sub(r.High, r.Low).Cmp(maxWidth) > 0 {
		r = r.Narrow()
	}
	if r.IsFraction() {
		return r
	}
	if candidate := simplestBetween(r.Low, r.High); r.sturm.Polynomial.Sign(candidate) == 0 {
		return FractionRoot(candidate)
	}
	return r
}

// simplestBetween returns the fraction x with low < x < high that has the least denominator. It uses continued fractions.
func simplestBetween(low, high *big.Rat) *big.Rat {
	floor := new(big.Int).Div(low.Num(), low.Denom())
	nextInteger := new(big.Rat).SetInt(new(big.Int).Add(floor, big.NewInt(1)))
	if nextInteger.Cmp(high) < 0 {
		return nextInteger
	}
	floorRat := new(big.Rat).SetInt(floor)
	lowFraction := new(big.Rat).Sub(low, floorRat)   // at least 0
	highFraction := new(big.Rat).Sub(high, floorRat) // at most 1
	result := new(big.Rat)
	if lowFraction.Sign() == 0 {
		// 1/k for the least k with 1/k < highFraction
		k := new(big.Int).Div(highFraction.Denom(), highFraction.Num())
		result.SetFrac(big.NewInt(1), k.Add(k, big.NewInt(1)))
	} else {
		// The reciprocal of the simplest fraction between the reciprocals. Their order is reversed.
		result.Inv(simplestBetween(highFraction.Inv(highFraction), lowFraction.Inv(lowFraction)))
	}
	return result.Add(result, floorRat)
}

// Equal reports whether two roots are the same number.
func (r Root) Equal(other Root) bool {
	switch {
	case r.IsFraction() && other.IsFraction():
		return r.Low.Cmp(other.Low) == 0
	case r.IsFraction():
		return other.Equal(r)
	case other.IsFraction():
		return r.Low.Cmp(other.Low) < 0 && other.Low.Cmp(r.High) < 0 && r.sturm.Polynomial.Sign(other.Low) == 0
	}
	// Equal irrational roots are roots of a common factor, in the intersection of both intervals.
	low, high := r.Low, r.High
	if other.Low.Cmp(low) > 0 {
		low = other.Low
	}
	if other.High.Cmp(high) < 0 {
		high = other.High
	}
	common := r.sturm.Polynomial.gcd(other.sturm.Polynomial)
	return common.degree() > 0 && NewSturm(common).CountRoots(low, high) > 0
}

// CountAfter returns the number of roots r of the polynomial with root < r < high. It narrows the interval of root until no other root is
// in it. high must be greater than root.
func (sturm *Sturm) CountAfter(root Root, high *big.Rat) int {
	for !root.IsFraction() {
		if root.High.Cmp(high) < 0 && sturm.hasNoOtherRoot(root) {
			count := sturm.CountRoots(root.High, high)
			if sturm.Polynomial.Sign(root.High) == 0 {
				count++
			}
			return count
		}
		root = root.Narrow()
	}
	return sturm.CountRoots(root.Low, high)
}

// hasNoOtherRoot reports whether the interval of root contains no other root of the polynomial.
func (sturm *Sturm) hasNoOtherRoot(root Root) bool {
	numRoots := sturm.CountRoots(root.Low, root.High)
	return numRoots == 0 || numRoots == 1 && root.isRootOf(sturm)
}

// isRootOf reports whether r is a root of the polynomial of a chain. The interval of r must contain one root of the polynomial.
func (r Root) isRootOf(sturm *Sturm) bool {
	common := r.sturm.Polynomial.gcd(sturm.Polynomial)
	return common.degree() > 0 && NewSturm(common).CountRoots(r.Low, r.High) > 0
}

// Less reports whether r is less than other. It narrows both intervals until they are disjoint, so the two roots must be different numbers.
func (r Root) Less(other Root) bool {
	for {
		switch {
		case r.High.Cmp(other.Low) <= 0:
			return true
		case other.High.Cmp(r.Low) <= 0:
			return false
		}
		r, other = r.Narrow(), other.Narrow()
	}
}
