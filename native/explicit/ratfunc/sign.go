package ratfunc

import "math/big"

// Positive reports whether a function is greater than zero, and has a value, at all points
// that are between two others in every parameter. Of one parameter it says false only where
// it is not; of several also where that is not seen.
func (f *Func) Positive(low, high []*big.Rat) bool {
	if len(low) == 1 {
		at := middle(low[0], high[0])
		num, den := f.Lines()
		p := num.Times(den)
		if p.Sign(at) <= 0 {
			return false
		}
		return NewSturm(p.divided(p.shared(p.derivative()))).Count(low[0], high[0]) == 0
	}
	num, den := f.num, f.den
	if first, ok := bernstein(den, low, high); ok && first.signs(-1) {
		num, den = num.neg(), den.neg()
	}
	for _, p := range []poly{num, den} {
		if t, ok := bernstein(p, low, high); !ok || !t.signs(1) {
			return false
		}
	}
	return true
}

// maxParts is how many coefficients the parts of a box that is cut may have.
const maxParts = 500_000

// NotNegative reports whether a function that has values everywhere between two points is
// nowhere less than zero there. It says false also where that is not seen.
func (f *Func) NotNegative(low, high []*big.Rat) bool {
	num, ok := bernstein(f.num, low, high)
	if !ok {
		return false
	}
	mid := make([]*big.Rat, len(low))
	for i := range low {
		mid[i] = middle(low[i], high[i])
	}
	if den := f.den.value(mid); den.Sign() < 0 {
		for _, x := range num.coef {
			x.Neg(x)
		}
	}
	boxes := []*tensor{num}
	for cut := 0; len(boxes) > 0; cut++ {
		var open []*tensor
		for _, t := range boxes {
			switch {
			case t.corner():
				return false
			case !t.none(-1):
				a, b := t.halves(cut % len(low))
				open = append(open, a, b)
			}
		}
		if boxes = open; len(boxes)*len(num.coef) > maxParts {
			return false
		}
	}
	return true
}

// tensor is a polynomial on a box by its Bernstein coefficients, of which it is a mean: the
// i-th parameter has exponents up to degree[i], and that of the last varies fastest. Those of the
// corners are the values there.
type tensor struct {
	degree []int
	coef   []*big.Rat
}

// maxTensor is how many coefficients a polynomial may have.
const maxTensor = 50_000

// bernstein returns the Bernstein coefficients of a polynomial; it reports false if there are too many.
//
// Source: Farouki, The Bernstein polynomial basis: a centennial retrospective (2012).
func bernstein(p poly, low, high []*big.Rat) (*tensor, bool) {
	t := &tensor{degree: make([]int, len(low))}
	size := 1
	for i := range low {
		for _, x := range p {
			t.degree[i] = max(t.degree[i], int(x.mono.exponent(i)))
		}
		if t.degree[i] >= maxTensor || size*(t.degree[i]+1) > maxTensor {
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
		t.fibres(i, func(a []*big.Rat) { shift(a, low[i], new(big.Rat).Sub(high[i], low[i])) })
		t.fibres(i, fromPowers)
	}
	return t, true
}

// fibres calls f with the coefficients in which only the exponent of one parameter differs.
func (t *tensor) fibres(i int, f func(a []*big.Rat)) {
	stride := 1
	for _, d := range t.degree[i+1:] {
		stride *= d + 1
	}
	n := t.degree[i] + 1
	a := make([]*big.Rat, n)
	for first := range t.coef {
		if first/stride%n != 0 {
			continue
		}
		for k := range a {
			a[k] = t.coef[first+k*stride]
		}
		f(a)
	}
}

// shift makes of the coefficients of a polynomial in x those in t, where x is low + width·t.
func shift(a []*big.Rat, low, width *big.Rat) {
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

// fromPowers makes Bernstein coefficients of those of powers: the k-th is the sum of
// C(k,j)/C(n,j) times the j-th.
func fromPowers(a []*big.Rat) {
	n := int64(len(a) - 1)
	for j := range a {
		a[j].Quo(a[j], new(big.Rat).SetInt(new(big.Int).Binomial(n, int64(j))))
	}
	for i := 1; i < len(a); i++ { // sums with binomial coefficients, as in Pascal's triangle
		for k := len(a) - 1; k >= i; k-- {
			a[k].Add(a[k], a[k-1])
		}
	}
}

// none reports whether no coefficient has a sign.
func (t *tensor) none(sign int) bool {
	for _, x := range t.coef {
		if x.Sign() == sign {
			return false
		}
	}
	return true
}

// signs reports whether a sign is that of all coefficients but some that are zero.
func (t *tensor) signs(sign int) bool { return t.none(-sign) && !t.none(sign) }

// corner reports whether the polynomial is negative in a corner.
func (t *tensor) corner() bool {
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

// halves cuts the box in two across one parameter (de Casteljau).
func (t *tensor) halves(i int) (*tensor, *tensor) {
	left := &tensor{t.degree, make([]*big.Rat, len(t.coef))}
	right := &tensor{t.degree, make([]*big.Rat, len(t.coef))}
	for k, x := range t.coef {
		left.coef[k], right.coef[k] = new(big.Rat), new(big.Rat).Set(x)
	}
	var first [][]*big.Rat
	left.fibres(i, func(a []*big.Rat) { first = append(first, append([]*big.Rat(nil), a...)) })
	half := big.NewRat(1, 2)
	right.fibres(i, func(b []*big.Rat) {
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
