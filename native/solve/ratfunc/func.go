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
func (ring *Ring) Number(value *big.Rat) *Func {
	return &Func{ring, ring.integerPolynomial(value.Num()), ring.integerPolynomial(value.Denom())}
}

// Integer returns a constant function.
func (ring *Ring) Integer(x int64) *Func { return ring.Number(big.NewRat(x, 1)) }

func (ring *Ring) integerPolynomial(x *big.Int) polynomial {
	if x.Sign() == 0 {
		return nil
	}
	return polynomial{{ring.unitMonomial, x}}
}

// Parameter returns the function that is parameter i.
func (ring *Ring) Parameter(i int) *Func {
	return &Func{ring, polynomial{{ring.unitMonomial.withExponent(i, 1), one}}, ring.integerPolynomial(one)}
}

// IsZero reports whether the function is the constant 0.
func (function *Func) IsZero() bool { return len(function.numerator) == 0 }

// Constant returns the value of a constant function. It returns false if the function depends on a parameter.
func (function *Func) Constant() (*big.Rat, bool) {
	switch {
	case function.IsZero():
		return new(big.Rat), true
	case function.numerator.isConstant() && function.denominator.isConstant():
		return new(big.Rat).SetFrac(function.numerator[0].coefficient, function.denominator[0].coefficient), true
	}
	return nil, false
}

// Size returns the number of terms of numerator and denominator.
func (function *Func) Size() int { return len(function.numerator) + len(function.denominator) }

// Scale returns the function times a number.
func (function *Func) Scale(value *big.Rat) *Func { return function.Mul(function.ring.Number(value)) }

// Neg returns -function.
func (function *Func) Neg() *Func {
	return &Func{function.ring, function.numerator.negated(), function.denominator}
}

// Add returns function + other in lowest terms.
func (function *Func) Add(other *Func) *Func {
	switch {
	case function.IsZero():
		return other
	case other.IsZero():
		return function
	}
	if constant, ok := function.Constant(); ok {
		if otherConstant, ok := other.Constant(); ok {
			return function.ring.Number(new(big.Rat).Add(constant, otherConstant))
		}
	}
	// A common factor of the sum and its denominator divides the gcd of both denominators.
	commonDivisor := gcd(function.denominator, other.denominator)
	ownFactor, _ := function.denominator.dividedBy(commonDivisor)
	otherFactor, _ := other.denominator.dividedBy(commonDivisor)
	numerator := function.numerator.times(otherFactor).addMultiple(other.numerator.times(ownFactor), one, function.ring.unitMonomial)
	if len(numerator) == 0 {
		return function.ring.Integer(0)
	}
	remainingDivisor := gcd(numerator, commonDivisor)
	numerator, _ = numerator.dividedBy(remainingDivisor)
	commonDivisor, _ = commonDivisor.dividedBy(remainingDivisor)
	return &Func{function.ring, numerator, commonDivisor.times(ownFactor).times(otherFactor)}
}

// Sub returns function - other.
func (function *Func) Sub(other *Func) *Func { return function.Add(other.Neg()) }

// Mul returns function · other in lowest terms. It cancels common factors before it multiplies.
func (function *Func) Mul(other *Func) *Func {
	if function.IsZero() || other.IsZero() {
		return function.ring.Integer(0)
	}
	numerator, otherDenominator := cancelCommonFactors(function.numerator, other.denominator)
	otherNumerator, denominator := cancelCommonFactors(other.numerator, function.denominator)
	return &Func{function.ring, numerator.times(otherNumerator), denominator.times(otherDenominator)}
}

// cancelCommonFactors divides two polynomials by their common divisor.
func cancelCommonFactors(p, q polynomial) (polynomial, polynomial) {
	divisor := gcd(p, q)
	p, _ = p.dividedBy(divisor)
	q, _ = q.dividedBy(divisor)
	return p, q
}

// Quo returns function / divisor; the divisor must not be 0.
func (function *Func) Quo(divisor *Func) *Func {
	inverse := &Func{divisor.ring, divisor.denominator, divisor.numerator}
	if divisor.numerator[0].coefficient.Sign() < 0 {
		inverse.numerator, inverse.denominator = divisor.denominator.negated(), divisor.numerator.negated()
	}
	return function.Mul(inverse)
}

// Pow returns function^exponent. If the function is 0, the exponent must not be negative. It returns false if an exponent of a parameter would exceed maxExponent.
func (function *Func) Pow(exponent int) (*Func, bool) {
	if exponent < 0 {
		function, exponent = function.ring.Integer(1).Quo(function), -exponent
	}
	if max(function.numerator.greatestExponent(), function.denominator.greatestExponent())*uint64(exponent) > maxExponent {
		return nil, false
	}
	power := function.ring.Integer(1)
	for ; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			power = power.Mul(function)
		}
		if exponent > 1 {
			function = function.Mul(function)
		}
	}
	return power, true
}

// greatestExponent returns the greatest exponent of any parameter in the polynomial.
func (polynomial polynomial) greatestExponent() uint64 {
	greatest := uint32(0)
	for _, term := range polynomial {
		for parameter := range term.monomial.numVars() {
			greatest = max(greatest, term.monomial.exponent(parameter))
		}
	}
	return uint64(greatest)
}

// Equal reports whether two functions are equal.
func (function *Func) Equal(other *Func) bool {
	return function.numerator.times(other.denominator).equal(other.numerator.times(function.denominator))
}

// ValueAt returns the value of the function at a point, which has a number for each parameter. It returns false if the denominator is zero there.
func (function *Func) ValueAt(point []*big.Rat) (*big.Rat, bool) {
	denominator := function.denominator.evaluate(point)
	if denominator.Sign() == 0 {
		return nil, false
	}
	return denominator.Quo(function.numerator.evaluate(point), denominator), true
}

// String returns the function in PRISM's syntax, where a sign binds closer than a power.
func (function *Func) String() string {
	numerator := function.polynomialText(function.numerator)
	if function.denominator.isOne() {
		return numerator
	}
	return parenthesize(numerator) + "/" + parenthesize(function.polynomialText(function.denominator))
}

// parenthesize adds parentheses, except to a name or a number.
func parenthesize(text string) string {
	if strings.ContainsAny(text, "+-*^") {
		return "(" + text + ")"
	}
	return text
}

// polynomialText returns the text of a polynomial in the parameters of the function, such as -2*p^2*q+1.
func (function *Func) polynomialText(poly polynomial) string {
	if len(poly) == 0 {
		return "0"
	}
	var text strings.Builder
	for i, term := range poly {
		switch {
		case term.coefficient.Sign() < 0:
			text.WriteString("-")
		case i > 0:
			text.WriteString("+")
		}
		factors := function.parameterPowers(term.monomial)
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
func (function *Func) parameterPowers(powerProduct monomial) []string {
	var powers []string
	for i, name := range function.ring.names {
		switch exponent := powerProduct.exponent(i); {
		case exponent == 1:
			powers = append(powers, name)
		case exponent > 1:
			powers = append(powers, fmt.Sprintf("%s^%d", name, exponent))
		}
	}
	return powers
}
