package ratfunc

import (
	"math/big"
)

// Univariate is a polynomial of one parameter by increasing exponents: element i is the coefficient of
// exponent i. The last one is not zero; an empty slice is the polynomial 0. It is immutable.
type Univariate []*big.Int

// Univariate returns the numerator and the denominator of a function of one parameter.
func (function *Func) Univariate() (numerator, denominator Univariate) {
	return function.numerator.univariate(), function.denominator.univariate()
}

// univariate returns the coefficients of a polynomial with one parameter, by exponent.
func (polynomial polynomial) univariate() Univariate {
	if len(polynomial) == 0 {
		return nil
	}
	degree := polynomial[0].monomial.exponent(0) // the first term has the greatest exponent
	result := make(Univariate, degree+1)
	for i := range result {
		result[i] = new(big.Int)
	}
	for _, term := range polynomial {
		result[term.monomial.exponent(0)] = term.coefficient
	}
	return result
}

func (polynomial Univariate) degree() int { return len(polynomial) - 1 }

// Sign returns the sign of the polynomial at a point: -1, 0 or 1.
func (polynomial Univariate) Sign(point *big.Rat) int {
	// By Horner's rule, multiplied by a power of the denominator.
	sum, scale := new(big.Int), big.NewInt(1)
	for i := len(polynomial) - 1; i >= 0; i-- {
		sum.Mul(sum, point.Num())
		sum.Add(sum, new(big.Int).Mul(polynomial[i], scale))
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

// pseudoRemainder returns a positive multiple of the remainder of the division of the polynomial by the divisor.
func (polynomial Univariate) pseudoRemainder(divisor Univariate) Univariate {
	for len(polynomial) >= len(divisor) {
		remainder, _ := polynomial.cancelLeadingTerm(divisor)
		polynomial = primitivePart(remainder)
	}
	return primitivePart(polynomial)
}

// cancelLeadingTerm performs one step of the pseudo-division of a polynomial p by a divisor whose degree is not greater. It returns |a| p - factor x^k
// divisor without its leading term, which is 0. Here a is the leading coefficient of the divisor, and k the difference of the degrees.
func (polynomial Univariate) cancelLeadingTerm(divisor Univariate) (remainder Univariate, factor *big.Int) {
	divisorLeading := divisor[len(divisor)-1]
	scale := new(big.Int).Abs(divisorLeading)
	factor = new(big.Int).Set(polynomial[len(polynomial)-1])
	if divisorLeading.Sign() < 0 {
		factor.Neg(factor)
	}
	remainder = make(Univariate, len(polynomial)-1)
	for i := range remainder {
		remainder[i] = new(big.Int).Mul(polynomial[i], scale)
	}
	shift := len(polynomial) - len(divisor)
	for i, coefficient := range divisor[:len(divisor)-1] {
		remainder[shift+i].Sub(remainder[shift+i], new(big.Int).Mul(factor, coefficient))
	}
	return remainder, factor
}

// pseudoQuotient returns a multiple of the quotient polynomial / divisor, which must have no remainder. Its leading coefficient is positive if the
// leading coefficients of both polynomials have the same sign.
func (polynomial Univariate) pseudoQuotient(divisor Univariate) Univariate {
	quotient := make(Univariate, len(polynomial)-len(divisor)+1)
	scale := new(big.Int).Abs(divisor[len(divisor)-1])
	for shift := len(quotient) - 1; shift >= 0; shift-- {
		for i := shift + 1; i < len(quotient); i++ {
			quotient[i] = new(big.Int).Mul(quotient[i], scale)
		}
		polynomial, quotient[shift] = polynomial.cancelLeadingTerm(divisor)
	}
	return primitivePart(quotient)
}

// derivative returns the derivative, divided by the gcd of its coefficients.
func (polynomial Univariate) derivative() Univariate {
	var derivative Univariate
	for i := 1; i < len(polynomial); i++ {
		derivative = append(derivative, new(big.Int).Mul(polynomial[i], big.NewInt(int64(i))))
	}
	return primitivePart(derivative)
}

// gcd returns a greatest common divisor of two polynomials by Euclid's algorithm. Its leading coefficient is positive.
// At least one polynomial must not be zero.
func (polynomial Univariate) gcd(other Univariate) Univariate {
	for len(other) > 0 {
		polynomial, other = other, polynomial.pseudoRemainder(other)
	}
	polynomial = primitivePart(polynomial)
	if polynomial[len(polynomial)-1].Sign() < 0 {
		for i, coefficient := range polynomial {
			polynomial[i] = new(big.Int).Neg(coefficient)
		}
	}
	return polynomial
}

// OddSquareFree returns a polynomial with simple roots: the roots with odd multiplicity, which are the points where the polynomial changes its
// sign. The polynomial must not be 0.
//
// Source: Yun, On square-free decomposition algorithms (1976).
func (polynomial Univariate) OddSquareFree() Univariate {
	oddFactors := Univariate{big.NewInt(1)}
	for multiplicity := 1; polynomial.degree() > 0; multiplicity++ {
		// simple has each root of the polynomial once. The multiplicity of a root in repeated is one less than in the polynomial.
		repeated := polynomial.gcd(polynomial.derivative())
		simple := polynomial.pseudoQuotient(repeated)
		simpleOnly := simple
		if repeated.degree() > 0 {
			simpleOnly = simple.pseudoQuotient(simple.gcd(repeated))
		}
		if multiplicity%2 == 1 {
			oddFactors = oddFactors.Times(simpleOnly)
		}
		polynomial = repeated
	}
	return oddFactors
}

// Times returns the product of two polynomials, divided by the gcd of its coefficients.
func (polynomial Univariate) Times(other Univariate) Univariate {
	if len(polynomial) == 0 || len(other) == 0 {
		return nil
	}
	product := make(Univariate, len(polynomial)+len(other)-1)
	for i := range product {
		product[i] = new(big.Int)
	}
	for i, left := range polynomial {
		for rightExponent, right := range other {
			product[i+rightExponent].Add(product[i+rightExponent], new(big.Int).Mul(left, right))
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
func (root Root) IsFraction() bool { return root.Low.Cmp(root.High) == 0 }

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
func (root Root) Narrow() Root {
	if root.IsFraction() {
		return root
	}
	middle := midpoint(root.Low, root.High)
	switch {
	case root.sturm.CountRoots(root.Low, middle) > 0:
		root.High = middle
	case root.sturm.Polynomial.Sign(middle) == 0:
		return FractionRoot(middle)
	default:
		root.Low = middle
	}
	return root
}

// maxFractionBits limits the leading coefficients for which rational roots are recognized.
const maxFractionBits = 256

// asFraction returns the root as a fraction if it is rational. The denominator of a rational root divides the leading coefficient, which
// limits the search. It returns the root unchanged if the root is irrational, or if the leading coefficient is too large.
func (root Root) asFraction() Root {
	leading := root.sturm.Polynomial[len(root.sturm.Polynomial)-1]
	if leading.BitLen() > maxFractionBits {
		return root
	}
	// An interval of this width contains only one possible fraction: the fraction with the least denominator.
	maxWidth := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(leading, leading))
	for !root.IsFraction() && new(big.Rat).Sub(root.High, root.Low).Cmp(maxWidth) > 0 {
		root = root.Narrow()
	}
	if root.IsFraction() {
		return root
	}
	if candidate := simplestBetween(root.Low, root.High); root.sturm.Polynomial.Sign(candidate) == 0 {
		return FractionRoot(candidate)
	}
	return root
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
func (root Root) Equal(other Root) bool {
	switch {
	case root.IsFraction() && other.IsFraction():
		return root.Low.Cmp(other.Low) == 0
	case root.IsFraction():
		return other.Equal(root)
	case other.IsFraction():
		return root.Low.Cmp(other.Low) < 0 && other.Low.Cmp(root.High) < 0 && root.sturm.Polynomial.Sign(other.Low) == 0
	}
	// Equal irrational roots are roots of a common factor, in the intersection of both intervals.
	low, high := root.Low, root.High
	if other.Low.Cmp(low) > 0 {
		low = other.Low
	}
	if other.High.Cmp(high) < 0 {
		high = other.High
	}
	common := root.sturm.Polynomial.gcd(other.sturm.Polynomial)
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

// isRootOf reports whether a number is a root of the polynomial of a Sturm chain. The interval of the number must contain one root of the polynomial.
func (root Root) isRootOf(sturm *Sturm) bool {
	common := root.sturm.Polynomial.gcd(sturm.Polynomial)
	return common.degree() > 0 && NewSturm(common).CountRoots(root.Low, root.High) > 0
}

// Less reports whether root is less than other. It narrows both intervals until they are disjoint, so the two roots must be different numbers.
func (root Root) Less(other Root) bool {
	for {
		switch {
		case root.High.Cmp(other.Low) <= 0:
			return true
		case other.High.Cmp(root.Low) <= 0:
			return false
		}
		root, other = root.Narrow(), other.Narrow()
	}
}
