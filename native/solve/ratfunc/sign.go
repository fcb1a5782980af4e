package ratfunc

import "math/big"

// Positive reports whether a function is defined and positive on the box from low to high. For one parameter
// the answer is exact. For several parameters, false may also mean that the proof by Bernstein coefficients
// failed.
func (f *Func) Positive(low, high []*big.Rat) bool {
	if len(low) == 1 {
		middle := midpoint(low[0], high[0])
		numerator, denominator := f.Univariate()
		p := numerator.Times(denominator) // it has the sign of the function
		if p.Sign(middle) <= 0 {
			return false
		}
		squareFree := p.pseudoQuotient(p.gcd(p.derivative()))
		return NewSturm(squareFree).Count(low[0], high[0]) == 0
	}
	numerator, denominator := f.numerator, f.denominator
	if form, ok := bernstein(denominator, low, high); ok && form.allOfSign(-1) {
		numerator, denominator = numerator.neg(), denominator.neg()
	}
	for _, p := range []polynomial{numerator, denominator} {
		if form, ok := bernstein(p, low, high); !ok || !form.allOfSign(1) {
			return false
		}
	}
	return true
}

// maxSubdivisionCoefs limits the coefficients of all parts of a subdivided box.
const maxSubdivisionCoefs = 500_000

// NotNegative reports whether a function is at least 0 on the box from low to high, where it must be defined.
// It subdivides the box until the Bernstein coefficients decide. False may also mean that this took too many
// coefficients.
func (f *Func) NotNegative(low, high []*big.Rat) bool {
	form, ok := bernstein(f.numerator, low, high)
	if !ok {
		return false
	}
	middle := make([]*big.Rat, len(low))
	for i := range low {
		middle[i] = midpoint(low[i], high[i])
	}
	if f.denominator.evaluate(middle).Sign() < 0 {
		for _, coefficient := range form.coefficients {
			coefficient.Neg(coefficient)
		}
	}
	boxes := []*bernsteinForm{form}
	for cut := 0; len(boxes) > 0; cut++ {
		var undecided []*bernsteinForm
		for _, box := range boxes {
			switch {
			case box.negativeAtCorner():
				return false
			case !box.noneOfSign(-1):
				leftHalf, rightHalf := box.subdivide(cut % len(low))
				undecided = append(undecided, leftHalf, rightHalf)
			}
		}
		boxes = undecided
		if len(boxes)*len(form.coefficients) > maxSubdivisionCoefs {
			return false
		}
	}
	return true
}

// bernsteinForm has the Bernstein coefficients of a polynomial on a box. The polynomial is a convex
// combination of them, and those of the corners are its values there. Parameter i has exponents up to
// degree[i]; the last parameter varies fastest.
type bernsteinForm struct {
	degree       []int
	coefficients []*big.Rat
}

// maxCoefs limits the coefficients of a bernsteinForm.
const maxCoefs = 50_000

// bernstein returns the Bernstein form of a polynomial on the box from low to high. It returns false if this
// form has too many coefficients.
//
// Source: Farouki, The Bernstein polynomial basis: a centennial retrospective (2012).
func bernstein(p polynomial, low, high []*big.Rat) (*bernsteinForm, bool) {
	form := &bernsteinForm{degree: make([]int, len(low))}
	size := 1
	for i := range low {
		for _, term := range p {
			form.degree[i] = max(form.degree[i], int(term.monomial.exponent(i)))
		}
		if form.degree[i] >= maxCoefs || size*(form.degree[i]+1) > maxCoefs {
			return nil, false
		}
		size *= form.degree[i] + 1
	}
	form.coefficients = make([]*big.Rat, size)
	for i := range form.coefficients {
		form.coefficients[i] = new(big.Rat)
	}
	for _, term := range p {
		index := 0
		for i := range low {
			index = index*(form.degree[i]+1) + int(term.monomial.exponent(i))
		}
		form.coefficients[index].SetInt(term.coefficient)
	}
	for i := range low {
		form.alongAxis(i, func(coefficients []*big.Rat) {
			substituteLinear(coefficients, low[i], new(big.Rat).Sub(high[i], low[i]))
		})
		form.alongAxis(i, powersToBernstein)
	}
	return form, true
}

// alongAxis calls handle for each row of coefficients that differ in the exponent of parameter i only.
func (form *bernsteinForm) alongAxis(i int, handle func(coefficients []*big.Rat)) {
	stride := 1
	for _, degree := range form.degree[i+1:] {
		stride *= degree + 1
	}
	n := form.degree[i] + 1
	coefficients := make([]*big.Rat, n)
	for first := range form.coefficients {
		if first/stride%n != 0 {
			continue
		}
		for k := range coefficients {
			coefficients[k] = form.coefficients[first+k*stride]
		}
		handle(coefficients)
	}
}

// substituteLinear replaces x by low + width·t in a polynomial, given by its coefficients. It changes them in
// place.
func substituteLinear(coefficients []*big.Rat, low, width *big.Rat) {
	for i := range coefficients {
		for k := len(coefficients) - 2; k >= i; k-- {
			coefficients[k].Add(coefficients[k], new(big.Rat).Mul(low, coefficients[k+1]))
		}
	}
	scale := big.NewRat(1, 1)
	for _, coefficient := range coefficients {
		coefficient.Mul(coefficient, scale)
		scale.Mul(scale, width)
	}
}

// powersToBernstein converts power coefficients to Bernstein coefficients in place: number k is the sum over
// j of C(k,j)/C(n,j) times coefficient j.
func powersToBernstein(coefficients []*big.Rat) {
	n := int64(len(coefficients) - 1)
	for j := range coefficients {
		coefficients[j].Quo(coefficients[j], new(big.Rat).SetInt(new(big.Int).Binomial(n, int64(j))))
	}
	for i := 1; i < len(coefficients); i++ { // multiply by binomial coefficients and sum, as in Pascal's triangle
		for k := len(coefficients) - 1; k >= i; k-- {
			coefficients[k].Add(coefficients[k], coefficients[k-1])
		}
	}
}

// noneOfSign reports whether no coefficient has the given sign.
func (form *bernsteinForm) noneOfSign(sign int) bool {
	for _, value := range form.coefficients {
		if value.Sign() == sign {
			return false
		}
	}
	return true
}

// allOfSign reports whether all nonzero coefficients have the given sign, and there are some.
func (form *bernsteinForm) allOfSign(sign int) bool {
	return form.noneOfSign(-sign) && !form.noneOfSign(sign)
}

// negativeAtCorner reports whether the polynomial is negative at a corner of the box, where it equals a
// Bernstein coefficient.
func (form *bernsteinForm) negativeAtCorner() bool {
	for corner := range 1 << len(form.degree) {
		index := 0
		for i, degree := range form.degree {
			index *= degree + 1
			if corner>>i&1 == 1 {
				index += degree
			}
		}
		if form.coefficients[index].Sign() < 0 {
			return true
		}
	}
	return false
}

// subdivide returns the Bernstein forms on the two halves of the box along one parameter, by de Casteljau's
// algorithm.
func (form *bernsteinForm) subdivide(parameter int) (*bernsteinForm, *bernsteinForm) {
	left := &bernsteinForm{form.degree, make([]*big.Rat, len(form.coefficients))}
	right := &bernsteinForm{form.degree, make([]*big.Rat, len(form.coefficients))}
	for k, coefficient := range form.coefficients {
		left.coefficients[k], right.coefficients[k] = new(big.Rat), new(big.Rat).Set(coefficient)
	}
	var leftRows [][]*big.Rat // in the order of the rows of right
	left.alongAxis(parameter, func(row []*big.Rat) { leftRows = append(leftRows, append([]*big.Rat(nil), row...)) })
	half := big.NewRat(1, 2)
	right.alongAxis(parameter, func(rightCoefs []*big.Rat) {
		leftCoefs := leftRows[0]
		leftRows = leftRows[1:]
		for r := range rightCoefs {
			leftCoefs[r].Set(rightCoefs[0])
			for k := 0; k+r+1 < len(rightCoefs); k++ {
				rightCoefs[k].Add(rightCoefs[k], rightCoefs[k+1])
				rightCoefs[k].Mul(rightCoefs[k], half)
			}
		}
	})
	return left, right
}
