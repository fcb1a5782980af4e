package ratfunc

import (
	"math/big"
	"slices"
)

// Positive reports whether a function is certainly defined and positive on the box of parameter values from low to high. For one parameter
// the answer is exact. For several parameters, false may also mean that no proof was found.
func (function *Func) Positive(low, high []*big.Rat) bool {
	if len(low) == 1 {
		return function.positiveBetween(low[0], high[0])
	}
	numerator, denominator := function.numerator, function.denominator
	if form, ok := bernstein(denominator, low, high); ok && form.hasOnlySign(-1) {
		numerator, denominator = numerator.negated(), denominator.negated()
	}
	for _, p := range []polynomial{numerator, denominator} {
		if form, ok := bernstein(p, low, high); !ok || !form.hasOnlySign(1) {
			return false
		}
	}
	return true
}

// Sign returns 1 if the function is certainly positive inside the box from low to high, -1 if it is certainly negative, and otherwise 0.
// The function must be defined inside the box. alsoOnBorder says that the sign is the same on the border.
func (function *Func) Sign(low, high []*big.Rat) (sign int, alsoOnBorder bool) {
	sign, alsoOnBorder = 1, true
	for _, p := range []polynomial{function.numerator, function.denominator} {
		form, ok := bernstein(p, low, high)
		switch {
		case !ok:
			return 0, false
		case form.hasOnlySign(1):
		case form.hasOnlySign(-1):
			sign = -sign
		default:
			return 0, false
		}
		alsoOnBorder = alsoOnBorder && form.hasNoneOfSign(0)
	}
	return sign, alsoOnBorder
}

// positiveBetween reports whether a function of one parameter is positive between low and high: it is positive in the middle, and
// its numerator and denominator have no root between them.
func (function *Func) positiveBetween(low, high *big.Rat) bool {
	numerator, denominator := function.Univariate()
	product := numerator.Times(denominator) // it has the sign of the function
	if product.Sign(midpoint(low, high)) <= 0 {
		return false
	}
	squareFree := product.pseudoQuotient(product.gcd(product.derivative()))
	return NewSturm(squareFree).CountRoots(low, high) == 0
}

// maxSubdivisionCoefficients limits the Bernstein coefficients of all undecided parts of a box.
const maxSubdivisionCoefficients = 500_000

// NotNegative reports whether it can prove that a function is at least 0 on the box from low to high. The function must be defined there.
func (function *Func) NotNegative(low, high []*big.Rat) bool {
	form, ok := bernstein(function.numerator, low, high)
	if !ok {
		return false
	}
	middle := make([]*big.Rat, len(low))
	for i := range low {
		middle[i] = midpoint(low[i], high[i])
	}
	// The denominator has the same sign in the whole box.
	if function.denominator.evaluate(middle).Sign() < 0 {
		for _, coefficient := range form.coefficients {
			coefficient.Neg(coefficient)
		}
	}
	return form.isNotNegative()
}

// isNotNegative reports whether it can prove that the polynomial is at least 0 on its box. It repeatedly halves the boxes for which this is
// undecided, and gives up when there are too many.
func (form *bernsteinForm) isNotNegative() bool {
	undecided := []*bernsteinForm{form}
	for round := 0; len(undecided) > 0; round++ {
		var halves []*bernsteinForm
		for _, box := range undecided {
			if box.isNegativeAtCorner() {
				return false
			}
			if box.hasNoneOfSign(-1) { // the polynomial is not negative in this box
				continue
			}
			left, right := box.subdivide(round % len(form.degrees))
			halves = append(halves, left, right)
		}
		undecided = halves
		if len(undecided)*len(form.coefficients) > maxSubdivisionCoefficients {
			return false
		}
	}
	return true
}

// bernsteinForm has the Bernstein coefficients of a polynomial on a box. The polynomial is a convex
// combination of them, and those of the corners are its values there. Parameter i has exponents up to
// degrees[i]; the last parameter varies fastest.
type bernsteinForm struct {
	degrees      []int
	coefficients []*big.Rat
}

// maxCoefficients limits the coefficients of a bernsteinForm.
const maxCoefficients = 50_000

// bernstein returns the Bernstein form of a polynomial on the box from low to high. It returns false if the form has too many coefficients.
//
// Source: Farouki, The Bernstein polynomial basis: a centennial retrospective (2012).
func bernstein(p polynomial, low, high []*big.Rat) (*bernsteinForm, bool) {
	form, ok := newBernsteinForm(p, len(low))
	if !ok {
		return nil, false
	}
	for _, term := range p {
		form.coefficients[form.monomialIndex(term.monomial)].SetInt(term.coefficient)
	}
	for i := range low {
		width := new(big.Rat).Sub(high[i], low[i])
		form.forEachRow(i, func(row []*big.Rat) {
			substituteLinear(row, low[i], width)
			powersToBernstein(row)
		})
	}
	return form, true
}

// newBernsteinForm returns a form with coefficients 0 for a polynomial of the given number of parameters. It returns false if the form
// is too large.
func newBernsteinForm(p polynomial, numParameters int) (*bernsteinForm, bool) {
	form := &bernsteinForm{degrees: make([]int, numParameters)}
	size := 1
	for i := range form.degrees {
		form.degrees[i] = int(p.degree(i))
		if form.degrees[i] >= maxCoefficients || size*(form.degrees[i]+1) > maxCoefficients {
			return nil, false
		}
		size *= form.degrees[i] + 1
	}
	form.coefficients = make([]*big.Rat, size)
	for i := range form.coefficients {
		form.coefficients[i] = new(big.Rat)
	}
	return form, true
}

// monomialIndex returns the position of the coefficient with the exponents of a monomial.
func (form *bernsteinForm) monomialIndex(exponents monomial) int {
	index := 0
	for i, degree := range form.degrees {
		index = index*(degree+1) + int(exponents.exponent(i))
	}
	return index
}

// forEachRow calls handle for each row of coefficients along a parameter. A row has the coefficients that differ only in the exponent of
// this parameter. handle may change the coefficients, but must not store the row.
func (form *bernsteinForm) forEachRow(parameter int, handle func(row []*big.Rat)) {
	stride := 1
	for _, degree := range form.degrees[parameter+1:] {
		stride *= degree + 1
	}
	length := form.degrees[parameter] + 1
	row := make([]*big.Rat, length)
	for first := range form.coefficients {
		isRowStart := first/stride%length == 0
		if !isRowStart {
			continue
		}
		for exponent := range row {
			row[exponent] = form.coefficients[first+exponent*stride]
		}
		handle(row)
	}
}

// substituteLinear replaces the parameter x by low + width·t in a polynomial, in place. It uses repeated synthetic division.
func substituteLinear(coefficients []*big.Rat, low, width *big.Rat) {
	for i := range coefficients {
		for exponent := len(coefficients) - 2; exponent >= i; exponent-- {
			coefficients[exponent].Add(coefficients[exponent], new(big.Rat).Mul(low, coefficients[exponent+1]))
		}
	}
	scale := big.NewRat(1, 1)
	for _, coefficient := range coefficients {
		coefficient.Mul(coefficient, scale)
		scale.Mul(scale, width)
	}
}

// powersToBernstein converts the coefficients of a polynomial of the given degree n on [0,1] to Bernstein coefficients, in place.
// Bernstein coefficient k is the sum over j of C(k,j)/C(n,j) times coefficient j.
func powersToBernstein(coefficients []*big.Rat) {
	degree := int64(len(coefficients) - 1)
	for j := range coefficients {
		coefficients[j].Quo(coefficients[j], new(big.Rat).SetInt(new(big.Int).Binomial(degree, int64(j))))
	}
	for i := 1; i < len(coefficients); i++ { // multiply by binomial coefficients and sum, as in Pascal's triangle
		for k := len(coefficients) - 1; k >= i; k-- {
			coefficients[k].Add(coefficients[k], coefficients[k-1])
		}
	}
}

// hasNoneOfSign reports whether no coefficient has the given sign.
func (form *bernsteinForm) hasNoneOfSign(sign int) bool {
	for _, value := range form.coefficients {
		if value.Sign() == sign {
			return false
		}
	}
	return true
}

// hasOnlySign reports whether some coefficients have the given sign and all others are zero.
func (form *bernsteinForm) hasOnlySign(sign int) bool {
	return form.hasNoneOfSign(-sign) && !form.hasNoneOfSign(sign)
}

// isNegativeAtCorner reports whether the polynomial is negative at a corner of the box. Its values there are Bernstein coefficients.
func (form *bernsteinForm) isNegativeAtCorner() bool {
	for corner := range 1 << len(form.degrees) { // bit i selects the high end of parameter i
		if form.coefficients[form.cornerIndex(corner)].Sign() < 0 {
			return true
		}
	}
	return false
}

// cornerIndex returns the index of the coefficient of a corner. Bit i of corner selects the high end of parameter i.
func (form *bernsteinForm) cornerIndex(corner int) int {
	index := 0
	for i, degree := range form.degrees {
		index *= degree + 1
		if corner>>i&1 == 1 {
			index += degree
		}
	}
	return index
}

// subdivide returns the Bernstein forms on the two halves of the box along one parameter, by de Casteljau's algorithm.
func (form *bernsteinForm) subdivide(parameter int) (left, right *bernsteinForm) {
	left = &bernsteinForm{form.degrees, make([]*big.Rat, len(form.coefficients))}
	right = &bernsteinForm{form.degrees, make([]*big.Rat, len(form.coefficients))}
	for i, coefficient := range form.coefficients {
		left.coefficients[i], right.coefficients[i] = new(big.Rat), new(big.Rat).Set(coefficient)
	}
	var leftRows [][]*big.Rat
	left.forEachRow(parameter, func(row []*big.Rat) { leftRows = append(leftRows, slices.Clone(row)) })
	rows := 0
	right.forEachRow(parameter, func(row []*big.Rat) { // forEachRow visits the rows of both halves in the same order
		halveRow(leftRows[rows], row)
		rows++
	})
	return left, right
}

// halveRow splits a polynomial in Bernstein form at the middle of its interval, by de Casteljau's algorithm. It sets left to the
// coefficients on the left half, and row to the coefficients on the right half.
func halveRow(left, row []*big.Rat) {
	half := big.NewRat(1, 2)
	for i := range row {
		left[i].Set(row[0])
		for k := 0; k+i+1 < len(row); k++ {
			row[k].Add(row[k], row[k+1])
			row[k].Mul(row[k], half)
		}
	}
}
