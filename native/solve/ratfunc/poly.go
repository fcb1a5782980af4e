package ratfunc

import (
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// polynomial has the terms of a polynomial with nonzero coefficients, in decreasing order of monomials. It is
// immutable.
type polynomial []term

// term is a coefficient times a monomial.
type term struct {
	monomial    monomial
	coefficient *big.Int
}

// monomial has the exponents of all parameters, four bytes each, in big-endian order. Therefore the order of strings is the
// lexicographic order of monomials.
type monomial string

// exponentSize is the number of bytes of an exponent.
const exponentSize = 4

// maxExponent exceeds the exponents of any polynomial of reasonable size.
const maxExponent = 1 << 24

func (monomial monomial) numVars() int { return len(monomial) / exponentSize }

func (monomial monomial) exponent(i int) uint32 {
	return binary.BigEndian.Uint32([]byte(monomial[i*exponentSize : (i+1)*exponentSize]))
}

// withExponent returns the monomial with exponent i replaced.
func (exponents monomial) withExponent(i int, exponent uint32) monomial {
	result := []byte(exponents)
	binary.BigEndian.PutUint32(result[i*exponentSize:], exponent)
	return monomial(result)
}

// combine applies an operation to the exponents of two monomials, parameter by parameter. It returns false if a result is negative.
func (m monomial) combine(other monomial, operation func(a, b int64) int64) (monomial, bool) {
	result := make([]byte, 0, len(m))
	for i := range m.numVars() {
		exponent := operation(int64(m.exponent(i)), int64(other.exponent(i)))
		if exponent < 0 {
			return "", false
		}
		result = binary.BigEndian.AppendUint32(result, uint32(exponent))
	}
	return monomial(result), true
}

func plus(x, y int64) int64  { return x + y }
func minus(x, y int64) int64 { return x - y }

func minimum(x, y int64) int64 { return min(x, y) }

// isOne reports whether the monomial is 1.
func (monomial monomial) isOne() bool { return strings.Trim(string(monomial), "\x00") == "" }

// polynomialBuilder collects the terms of a polynomial.
type polynomialBuilder map[monomial]*big.Int

// addTerm adds a term. It copies the coefficient.
func (builder polynomialBuilder) addTerm(key monomial, coefficient *big.Int) {
	if sum, ok := builder[key]; ok {
		sum.Add(sum, coefficient)
		return
	}
	builder[key] = new(big.Int).Set(coefficient)
}

// polynomial returns the sum of the added terms, in decreasing order of monomials and without zero terms.
func (builder polynomialBuilder) polynomial() polynomial {
	var result polynomial
	for _, key := range slices.Sorted(maps.Keys(builder)) {
		if builder[key].Sign() != 0 {
			result = append(result, term{key, builder[key]})
		}
	}
	slices.Reverse(result)
	return result
}

// isConstant reports whether the polynomial is a constant.
func (polynomial polynomial) isConstant() bool {
	return len(polynomial) == 0 || len(polynomial) == 1 && polynomial[0].monomial.isOne()
}

// isOne reports whether the polynomial is 1.
func (polynomial polynomial) isOne() bool {
	return len(polynomial) == 1 && polynomial[0].monomial.isOne() && polynomial[0].coefficient.Cmp(one) == 0
}

var one = big.NewInt(1)

func (polynomial polynomial) equal(q polynomial) bool {
	return slices.EqualFunc(polynomial, q, func(x, y term) bool { return x.monomial == y.monomial && x.coefficient.Cmp(y.coefficient) == 0 })
}

// addMultiple returns poly + factor * factorMonomial * other. The terms of the result are in decreasing order of their monomials.
func (poly polynomial) addMultiple(other polynomial, factor *big.Int, factorMonomial monomial) polynomial {
	sum := make(polynomial, 0, len(poly)+len(other))
	for _, otherTerm := range other {
		product, _ := otherTerm.monomial.combine(factorMonomial, plus)
		for len(poly) > 0 && poly[0].monomial > product {
			sum = append(sum, poly[0])
			poly = poly[1:]
		}
		coefficient := new(big.Int).Mul(otherTerm.coefficient, factor)
		if len(poly) > 0 && poly[0].monomial == product {
			coefficient.Add(coefficient, poly[0].coefficient)
			poly = poly[1:]
		}
		if coefficient.Sign() != 0 {
			sum = append(sum, term{product, coefficient})
		}
	}
	return append(sum, poly...)
}

// times returns the product of two polynomials.
func (polynomial polynomial) times(other polynomial) polynomial {
	if polynomial.isOne() {
		return other
	}
	if other.isOne() {
		return polynomial
	}
	builder := polynomialBuilder{}
	var coefficient big.Int
	for _, left := range polynomial {
		for _, right := range other {
			product, _ := left.monomial.combine(right.monomial, plus)
			builder.addTerm(product, coefficient.Mul(left.coefficient, right.coefficient))
		}
	}
	return builder.polynomial()
}

// negated returns the polynomial times -1.
func (polynomial polynomial) negated() polynomial {
	return polynomial.mapCoefficients(func(result, coefficient *big.Int) *big.Int { return result.Neg(coefficient) })
}

// mapCoefficients applies operation to each coefficient. operation sets result, a new number, and returns it. The result must not be 0.
func (poly polynomial) mapCoefficients(operation func(result, coefficient *big.Int) *big.Int) polynomial {
	result := make(polynomial, len(poly))
	for i, original := range poly {
		result[i] = term{original.monomial, operation(new(big.Int), original.coefficient)}
	}
	return result
}

// dividedBy returns the quotient of poly and divisor. It returns false if the division has a remainder.
func (poly polynomial) dividedBy(divisor polynomial) (polynomial, bool) {
	if divisor.isOne() {
		return poly, true
	}
	var quotient polynomial
	for len(poly) > 0 {
		leading, divisorLeading := poly[0], divisor[0]
		monomial, ok := leading.monomial.combine(divisorLeading.monomial, minus)
		coefficient, remainder := new(big.Int).QuoRem(leading.coefficient, divisorLeading.coefficient, new(big.Int))
		if !ok || remainder.Sign() != 0 {
			return nil, false
		}
		quotient = append(quotient, term{monomial, coefficient})
		poly = poly.addMultiple(divisor, new(big.Int).Neg(coefficient), monomial)
	}
	return quotient, true
}

// content returns the greatest integer and the greatest monomial that divide all terms.
func (polynomial polynomial) content() term {
	content := term{polynomial[0].monomial, new(big.Int)}
	for _, nextTerm := range polynomial {
		content.monomial, _ = content.monomial.combine(nextTerm.monomial, minimum)
		content.coefficient.GCD(nil, nil, content.coefficient, new(big.Int).Abs(nextTerm.coefficient))
	}
	return content
}

// substitute returns the polynomial in which the integer value replaces a parameter.
func (polynomial polynomial) substitute(parameter int, value *big.Int) polynomial {
	builder := polynomialBuilder{}
	powers := map[uint32]*big.Int{}
	for _, term := range polynomial {
		exponent := term.monomial.exponent(parameter)
		if powers[exponent] == nil {
			powers[exponent] = new(big.Int).Exp(value, big.NewInt(int64(exponent)), nil)
		}
		builder.addTerm(term.monomial.withExponent(parameter, 0), new(big.Int).Mul(term.coefficient, powers[exponent]))
	}
	return builder.polynomial()
}

// evaluate returns the value of the polynomial at a point, which has a number for each parameter.
func (polynomial polynomial) evaluate(point []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, term := range polynomial {
		product := new(big.Rat).SetInt(term.coefficient)
		for i, value := range point {
			product.Mul(product, power(value, term.monomial.exponent(i)))
		}
		sum.Add(sum, product)
	}
	return sum
}

// power returns base to the power of exponent.
func power(base *big.Rat, exponent uint32) *big.Rat {
	n := big.NewInt(int64(exponent))
	numerator := new(big.Int).Exp(base.Num(), n, nil)
	denominator := new(big.Int).Exp(base.Denom(), n, nil)
	return new(big.Rat).SetFrac(numerator, denominator)
}
