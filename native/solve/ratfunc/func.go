package ratfunc

import (
	"fmt"
	"math/big"
	"strings"
)

// Ring makes functions of the same parameters. Functions of different rings must not be mixed.
type Ring struct {
	names []string
	one   mono
}

// NewRing returns the ring of the parameters with the given names.
func NewRing(names []string) *Ring {
	return &Ring{names, mono(make([]byte, exponentSize*len(names)))}
}

// Func is a rational function. It is immutable and safe for concurrent use.
type Func struct {
	ring     *Ring
	num, den poly // the leading coefficient of den is positive
}

// Number returns a constant function.
func (r *Ring) Number(x *big.Rat) *Func { return &Func{r, r.integer(x.Num()), r.integer(x.Denom())} }

// Integer returns a constant function.
func (r *Ring) Integer(x int64) *Func { return r.Number(big.NewRat(x, 1)) }

func (r *Ring) integer(x *big.Int) poly {
	if x.Sign() == 0 {
		return nil
	}
	return poly{{r.one, x}}
}

// Var returns the function that is parameter i.
func (r *Ring) Var(i int) *Func {
	return &Func{r, poly{{r.one.with(i, 1), one}}, r.integer(one)}
}

// IsZero reports whether the function is the constant 0.
func (f *Func) IsZero() bool { return len(f.num) == 0 }

// Constant returns the value of a constant function.
func (f *Func) Constant() (*big.Rat, bool) {
	switch {
	case f.IsZero():
		return new(big.Rat), true
	case f.num.isConstant() && f.den.isConstant():
		return new(big.Rat).SetFrac(f.num[0].coef, f.den[0].coef), true
	}
	return nil, false
}

// Size returns the number of terms of numerator and denominator.
func (f *Func) Size() int { return len(f.num) + len(f.den) }

// Scale returns f times a number.
func (f *Func) Scale(x *big.Rat) *Func { return f.Mul(f.ring.Number(x)) }

// Neg returns -f.
func (f *Func) Neg() *Func { return &Func{f.ring, f.num.neg(), f.den} }

// Add returns f + g.
func (f *Func) Add(g *Func) *Func {
	switch {
	case f.IsZero():
		return g
	case g.IsZero():
		return f
	}
	if x, ok := f.Constant(); ok {
		if y, ok := g.Constant(); ok {
			return f.ring.Number(new(big.Rat).Add(x, y))
		}
	}
	// A common factor of the sum and its denominator divides the gcd of both denominators.
	common := gcd(f.den, g.den)
	fFactor, _ := f.den.quo(common)
	gFactor, _ := g.den.quo(common)
	num := f.num.mul(gFactor).add(g.num.mul(fFactor), one, f.ring.one)
	if len(num) == 0 {
		return f.ring.Integer(0)
	}
	remaining := gcd(num, common)
	num, _ = num.quo(remaining)
	common, _ = common.quo(remaining)
	return &Func{f.ring, num, common.mul(fFactor).mul(gFactor)}
}

// Sub returns f - g.
func (f *Func) Sub(g *Func) *Func { return f.Add(g.Neg()) }

// Mul returns f · g.
func (f *Func) Mul(g *Func) *Func {
	if f.IsZero() || g.IsZero() {
		return f.ring.Integer(0)
	}
	a, d := cancelCommon(f.num, g.den)
	c, b := cancelCommon(g.num, f.den)
	return &Func{f.ring, a.mul(c), b.mul(d)}
}

// cancelCommon divides two polynomials by their common divisor.
func cancelCommon(p, q poly) (poly, poly) {
	g := gcd(p, q)
	p, _ = p.quo(g)
	q, _ = q.quo(g)
	return p, q
}

// Quo returns f / g; g must not be 0.
func (f *Func) Quo(g *Func) *Func {
	inverse := &Func{g.ring, g.den, g.num}
	if g.num[0].coef.Sign() < 0 {
		inverse.num, inverse.den = g.den.neg(), g.num.neg()
	}
	return f.Mul(inverse)
}

// Pow returns f^n. n must not be negative if f is 0. It reports false if an exponent becomes too large.
func (f *Func) Pow(n int) (*Func, bool) {
	if n < 0 {
		f, n = f.ring.Integer(1).Quo(f), -n
	}
	for _, p := range []poly{f.num, f.den} {
		for _, t := range p {
			for i := range t.mono.vars() {
				if uint64(t.mono.exponent(i))*uint64(n) > maxExponent {
					return nil, false
				}
			}
		}
	}
	x := f.ring.Integer(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = x.Mul(f)
		}
		if n > 1 {
			f = f.Mul(f)
		}
	}
	return x, true
}

// Equal reports whether two functions are equal.
func (f *Func) Equal(g *Func) bool { return f.num.mul(g.den).equal(g.num.mul(f.den)) }

// At returns the value at a point, in the order of the names. It reports false if the denominator is
// zero there.
func (f *Func) At(point []*big.Rat) (*big.Rat, bool) {
	den := f.den.eval(point)
	if den.Sign() == 0 {
		return nil, false
	}
	return den.Quo(f.num.eval(point), den), true
}

// String returns the function in PRISM's syntax, where a sign binds closer than a power.
func (f *Func) String() string {
	num := f.write(f.num)
	if f.den.isOne() {
		return num
	}
	return parenthesize(num) + "/" + parenthesize(f.write(f.den))
}

// parenthesize adds parentheses, except to a name or a number.
func parenthesize(s string) string {
	if strings.ContainsAny(s, "+-*^") {
		return "(" + s + ")"
	}
	return s
}

func (f *Func) write(p poly) string {
	var b strings.Builder
	for i, t := range p {
		var factors []string
		for j, name := range f.ring.names {
			switch e := t.mono.exponent(j); {
			case e == 1:
				factors = append(factors, name)
			case e > 1:
				factors = append(factors, fmt.Sprintf("%s^%d", name, e))
			}
		}
		size := new(big.Int).Abs(t.coef)
		negative := t.coef.Sign() < 0
		if len(factors) == 0 || size.Cmp(one) != 0 || negative && i == 0 {
			factors = append([]string{size.String()}, factors...)
		}
		switch {
		case negative:
			b.WriteString("-")
		case i > 0:
			b.WriteString("+")
		}
		b.WriteString(strings.Join(factors, "*"))
	}
	if len(p) == 0 {
		return "0"
	}
	return b.String()
}
