package ratfunc

import (
	"fmt"
	"math/big"
	"strings"
)

// Ring makes functions of the same parameters. Functions of different rings must not be mixed.
type Ring struct {
	names        []string
	unitMonomial monomial
}

// NewRing returns the ring of the parameters with the given names.
func NewRing(names []string) *Ring {
	return &Ring{names, monomial(make([]byte, exponentSize*len(names)))}
}

// Func is a rational function. It is immutable and safe for concurrent use.
type Func struct {
	ring                   *Ring
	numerator, denominator polynomial // the leading coefficient of the denominator is positive
}

// Number returns a constant function.
func (r *Ring) Number(value *big.Rat) *Func {
	return &Func{r, r.integerPolynomial(value.Num()), r.integerPolynomial(value.Denom())}
}

// Integer returns a constant function.
func (r *Ring) Integer(x int64) *Func { return r.Number(big.NewRat(x, 1)) }

func (r *Ring) integerPolynomial(x *big.Int) polynomial {
	if x.Sign() == 0 {
		return nil
	}
	return polynomial{{r.unitMonomial, x}}
}

// Parameter returns the function that is parameter i.
func (r *Ring) Parameter(i int) *Func {
	return &Func{r, polynomial{{r.unitMonomial.withExponent(i, 1), one}}, r.integerPolynomial(one)}
}

// IsZero reports whether the function is the constant 0.
func (f *Func) IsZero() bool { return len(f.numerator) == 0 }

// Constant returns the value of a constant function. It returns false if the function depends on a parameter.
func (f *Func) Constant() (*big.Rat, bool) {
	switch {
	case f.IsZero():
		return new(big.Rat), true
	case f.numerator.isConstant() && f.denominator.isConstant():
		return new(big.Rat).SetFrac(f.numerator[0].coefficient, f.denominator[0].coefficient), true
	}
	return nil, false
}

// Size returns the number of terms of numerator and denominator.
func (f *Func) Size() int { return len(f.numerator) + len(f.denominator) }

// Scale returns f times a number.
func (f *Func) Scale(value *big.Rat) *Func { return f.Mul(f.ring.Number(value)) }

// Neg returns -f.
func (f *Func) Neg() *Func { return &Func{f.ring, f.numerator.negated(), f.denominator} }

// Add returns f + other in lowest terms.
func (f *Func) Add(other *Func) *Func {
	switch {
	case f.IsZero():
		return other
	case other.IsZero():
		return f
	}
	if constant, ok := f.Constant(); ok {
		if otherConstant, ok := other.Constant(); ok {
			return f.ring.Number(new(big.Rat).Add(constant, otherConstant))
		}
	}
	// A common factor of the sum and its denominator divides the gcd of both denominators.
	commonDivisor := gcd(f.denominator, other.denominator)
	fFactor, _ := f.denominator.dividedBy(commonDivisor)
	otherFactor, _ := other.denominator.dividedBy(commonDivisor)
	numerator := f.numerator.times(otherFactor).addMultiple(other.numerator.times(fFactor), one, f.ring.unitMonomial)
	if len(numerator) == 0 {
		return f.ring.Integer(0)
	}
	remainingDivisor := gcd(numerator, commonDivisor)
	numerator, _ = numerator.dividedBy(remainingDivisor)
	commonDivisor, _ = commonDivisor.dividedBy(remainingDivisor)
	return &Func{f.ring, numerator, commonDivisor.times(fFactor).times(otherFactor)}
}

// Sub returns f - g.
func (f *Func) Sub(g *Func) *Func { return f.Add(g.Neg()) }

// Mul returns f · other in lowest terms. It cancels common factors before it multiplies.
func (f *Func) Mul(other *Func) *Func {
	if f.IsZero() || other.IsZero() {
		return f.ring.Integer(0)
	}
	numerator, otherDenominator := cancelCommonFactors(f.numerator, other.denominator)
	otherNumerator, denominator := cancelCommonFactors(other.numerator, f.denominator)
	return &Func{f.ring, numerator.times(otherNumerator), denominator.times(otherDenominator)}
}

// cancelCommonFactors divides two polynomials by their common divisor.
func cancelCommonFactors(p, q polynomial) (polynomial, polynomial) {
	divisor := gcd(p, q)
	p, _ = p.dividedBy(divisor)
	q, _ = q.dividedBy(divisor)
	return p, q
}

// Quo returns f / g; g must not be 0.
func (f *Func) Quo(g *Func) *Func {
	inverse := &Func{g.ring, g.denominator, g.numerator}
	if g.numerator[0].coefficient.Sign() < 0 {
		inverse.numerator, inverse.denominator = g.denominator.negated(), g.numerator.negated()
	}
	return f.Mul(inverse)
}

// Pow returns f^n. If f is 0, n must not be negative. It returns false if an exponent of a parameter would exceed maxExponent.
func (f *Func) Pow(n int) (*Func, bool) {
	if n < 0 {
		f, n = f.ring.Integer(1).Quo(f), -n
	}
	if max(f.numerator.greatestExponent(), f.denominator.greatestExponent())*uint64(n) > maxExponent {
		return nil, false
	}
	power := f.ring.Integer(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			power = power.Mul(f)
		}
		if n > 1 {
			f = f.Mul(f)
		}
	}
	return power, true
}

// greatestExponent returns the greatest exponent of any parameter in the polynomial.
func (p polynomial) greatestExponent() uint64 {
	greatest := uint32(0)
	for _, term := range p {
		for i := range term.monomial.numVars() {
			greatest = max(greatest, term.monomial.exponent(i))
		}
	}
	return uint64(greatest)
}

// Equal reports whether two functions are equal.
func (f *Func) Equal(g *Func) bool {
	return f.numerator.times(g.denominator).equal(g.numerator.times(f.denominator))
}

// ValueAt returns the value of the function at a point, which has a number for each parameter. It returns false if the denominator is zero there.
func (f *Func) ValueAt(point []*big.Rat) (*big.Rat, bool) {
	denominator := f.denominator.evaluate(point)
	if denominator.Sign() == 0 {
		return nil, false
	}
	return denominator.Quo(f.numerator.evaluate(point), denominator), true
}

// String returns the function in PRISM's syntax, where a sign binds closer than a power.
func (f *Func) String() string {
	numerator := f.polynomialText(f.numerator)
	if f.denominator.isOne() {
		return numerator
	}
	return parenthesize(numerator) + "/" + parenthesize(f.polynomialText(f.denominator))
}

// parenthesize adds parentheses, except to a name or a number.
func parenthesize(text string) string {
	if strings.ContainsAny(text, "+-*^") {
		return "(" + text + ")"
	}
	return text
}

// polynomialText returns the text of a polynomial in the parameters of f, such as -2*p^2*q+1.
func (f *Func) polynomialText(p polynomial) string {
	if len(p) == 0 {
		return "0"
	}
	var text strings.Builder
	for i, term := range p {
		switch {
		case term.coefficient.Sign() < 0:
			text.WriteString("-")
		case i > 0:
			text.WriteString("+")
		}
		factors := f.parameterPowers(term.monomial)
		magnitude := new(big.Int).Abs(term.coefficient)
		startsNegative := i == 0 && term.coefficient.Sign() < 0 // written as -1*p
		if len(factors) == 0 || magnitude.Cmp(one) != 0 || startsNegative {
			factors = append([]string{magnitude.String()}, factors...)
		}
		text.WriteString(strings.Join(factors, "*"))
	}
	return text.String()
}

// parameterPowers formats the powers in a monomial, such as p^2 and q.
func (f *Func) parameterPowers(m monomial) []string {
	var powers []string
	for i, name := range f.ring.names {
		switch exponent := m.exponent(i); {
		case exponent == 1:
			powers = append(powers, name)
		case exponent > 1:
			powers = append(powers, fmt.Sprintf("%s^%d", name, exponent))
		}
	}
	return powers
}
