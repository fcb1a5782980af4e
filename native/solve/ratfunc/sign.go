package ratfunc

import "math/big"

// Positive reports whether a function is defined and positive on the box from low to high. For one
// parameter the answer is exact. For several, false may also mean that the proof failed.
func (f *Func) Positive(low, high []*big.Rat) bool {
	if len(low) == 1 {
		at := midpoint(low[0], high[0])
		num, den := f.Univariate()
		p := num.Times(den)
		if p.Sign(at) <= 0 {
			return false
		}
		return NewSturm(p.pseudoQuotient(p.gcd(p.derivative()))).Count(low[0], high[0]) == 0
	}
	num, den := f.num, f.den
	if first, ok := bernstein(den, low, high); ok && first.allOfSign(-1) {
		num, den = num.neg(), den.neg()
	}
	for _, p := range []poly{num, den} {
		if t, ok := bernstein(p, low, high); !ok || !t.allOfSign(1) {
			return false
		}
	}
	return true
}

// maxSubdivisionCoefs limits the coefficients of all parts of a subdivided box.
const maxSubdivisionCoefs = 500_000

// NotNegative reports whether a function is at least 0 on the box from low to high, where it must be
// defined. False may also mean that the proof failed. It subdivides the box until the Bernstein
// coefficients decide.
func (f *Func) NotNegative(low, high []*big.Rat) bool {
	num, ok := bernstein(f.num, low, high)
	if !ok {
		return false
	}
	mid := make([]*big.Rat, len(low))
	for i := range low {
		mid[i] = midpoint(low[i], high[i])
	}
	if den := f.den.eval(mid); den.Sign() < 0 {
		for _, x := range num.coef {
			x.Neg(x)
		}
	}
	boxes := []*bernsteinForm{num}
	for cut := 0; len(boxes) > 0; cut++ {
		var undecided []*bernsteinForm
		for _, t := range boxes {
			switch {
			case t.negativeAtCorner():
				return false
			case !t.noneOfSign(-1):
				a, b := t.subdivide(cut % len(low))
				undecided = append(undecided, a, b)
			}
		}
		if boxes = undecided; len(boxes)*len(num.coef) > maxSubdivisionCoefs {
			return false
		}
	}
	return true
}

// bernsteinForm has the Bernstein coefficients of a polynomial on a box. The polynomial is a convex
// combination of them, and those of the corners are its values there. Parameter i has exponents up to
// degree[i]; the last parameter varies fastest.
type bernsteinForm struct {
	degree []int
	coef   []*big.Rat
}

// maxCoefs limits the coefficients of a bernsteinForm.
const maxCoefs = 50_000

// bernstein returns the Bernstein form of a polynomial; it reports false if that has too many
// coefficients.
//
// Source: Farouki, The Bernstein polynomial basis: a centennial retrospective (2012).
func bernstein(p poly, low, high []*big.Rat) (*bernsteinForm, bool) {
	t := &bernsteinForm{degree: make([]int, len(low))}
	size := 1
	for i := range low {
		for _, x := range p {
			t.degree[i] = max(t.degree[i], int(x.mono.exponent(i)))
		}
		if t.degree[i] >= maxCoefs || size*(t.degree[i]+1) > maxCoefs {
			return nil, false
		}
		size *= t.degree[i] + 1
	}
	t.coef = make([]*big.Rat, size)
	for i := range t.coef {
		t.coef[i] = new(big.Rat)
	}
	for _, x := range p {
		at := 0
		for i := range low {
			at = at*(t.degree[i]+1) + int(x.mono.exponent(i))
		}
		t.coef[at].SetInt(x.coef)
	}
	for i := range low {
		t.alongAxis(i, func(a []*big.Rat) { substituteLinear(a, low[i], new(big.Rat).Sub(high[i], low[i])) })
		t.alongAxis(i, powersToBernstein)
	}
	return t, true
}

// alongAxis calls f for each sequence of coefficients that differ in the exponent of parameter i only.
func (t *bernsteinForm) alongAxis(i int, f func(coefs []*big.Rat)) {
	stride := 1
	for _, d := range t.degree[i+1:] {
		stride *= d + 1
	}
	n := t.degree[i] + 1
	coefs := make([]*big.Rat, n)
	for first := range t.coef {
		if first/stride%n != 0 {
			continue
		}
		for k := range coefs {
			coefs[k] = t.coef[first+k*stride]
		}
		f(coefs)
	}
}

// substituteLinear replaces x by low + width·t in a polynomial.
func substituteLinear(a []*big.Rat, low, width *big.Rat) {
	for i := range a {
		for k := len(a) - 2; k >= i; k-- {
			a[k].Add(a[k], new(big.Rat).Mul(low, a[k+1]))
		}
	}
	scale := big.NewRat(1, 1)
	for _, x := range a {
		x.Mul(x, scale)
		scale.Mul(scale, width)
	}
}

// powersToBernstein converts power coefficients to Bernstein coefficients: number k is the sum over j
// of C(k,j)/C(n,j) times coefficient j.
func powersToBernstein(a []*big.Rat) {
	n := int64(len(a) - 1)
	for j := range a {
		a[j].Quo(a[j], new(big.Rat).SetInt(new(big.Int).Binomial(n, int64(j))))
	}
	for i := 1; i < len(a); i++ { // multiply by binomial coefficients and sum, as in Pascal's triangle
		for k := len(a) - 1; k >= i; k-- {
			a[k].Add(a[k], a[k-1])
		}
	}
}

// noneOfSign reports whether no coefficient has the given sign.
func (t *bernsteinForm) noneOfSign(sign int) bool {
	for _, x := range t.coef {
		if x.Sign() == sign {
			return false
		}
	}
	return true
}

// allOfSign reports whether all nonzero coefficients have the given sign, and there are some.
func (t *bernsteinForm) allOfSign(sign int) bool { return t.noneOfSign(-sign) && !t.noneOfSign(sign) }

// negativeAtCorner reports whether the polynomial is negative at a corner of the box.
func (t *bernsteinForm) negativeAtCorner() bool {
	for c := range 1 << len(t.degree) {
		at := 0
		for i, d := range t.degree {
			at *= d + 1
			if c>>i&1 == 1 {
				at += d
			}
		}
		if t.coef[at].Sign() < 0 {
			return true
		}
	}
	return false
}

// subdivide halves the box along one parameter, by de Casteljau's algorithm.
func (t *bernsteinForm) subdivide(i int) (*bernsteinForm, *bernsteinForm) {
	left := &bernsteinForm{t.degree, make([]*big.Rat, len(t.coef))}
	right := &bernsteinForm{t.degree, make([]*big.Rat, len(t.coef))}
	for k, x := range t.coef {
		left.coef[k], right.coef[k] = new(big.Rat), new(big.Rat).Set(x)
	}
	var first [][]*big.Rat
	left.alongAxis(i, func(a []*big.Rat) { first = append(first, append([]*big.Rat(nil), a...)) })
	half := big.NewRat(1, 2)
	right.alongAxis(i, func(b []*big.Rat) {
		a := first[0]
		first = first[1:]
		for r := range b {
			a[r].Set(b[0])
			for k := 0; k+r+1 < len(b); k++ {
				b[k].Add(b[k], b[k+1])
				b[k].Mul(b[k], half)
			}
		}
	})
	return left, right
}
