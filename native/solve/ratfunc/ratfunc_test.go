package ratfunc

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// random is a function with small coefficients, built by arithmetic.
func random(r *rand.Rand, ring *Ring, depth int) *Func {
	if depth == 0 {
		if r.IntN(2) == 0 {
			return ring.Number(big.NewRat(r.Int64N(9)-4, r.Int64N(3)+1))
		}
		return ring.Parameter(r.IntN(len(ring.names)))
	}
	x, y := random(r, ring, depth-1), random(r, ring, depth-1)
	switch r.IntN(4) {
	case 0:
		return x.Sub(y)
	case 1:
		return x.Mul(y)
	case 2:
		if !y.IsZero() {
			return x.Quo(y)
		}
	}
	return x.Add(y)
}

// TestArithmetic compares each operation with that on the values at points.
func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ring := NewRing([]string{"p", "q", "r"})
	compared := 0
	for range 300 {
		x, y := random(r, ring, 3), random(r, ring, 3)
		point := []*big.Rat{big.NewRat(r.Int64N(50)+7, 31), big.NewRat(r.Int64N(50)-70, 37), big.NewRat(r.Int64N(50)+5, 41)}
		a, okX := x.ValueAt(point)
		b, okY := y.ValueAt(point)
		if !okX || !okY {
			continue
		}
		check := func(what string, got *Func, want *big.Rat) {
			v, ok := got.ValueAt(point)
			if !ok || v.Cmp(want) != 0 {
				t.Fatalf("%s of %s and %s at %v is %s, want %s (as a function %s)", what, x, y, point, v, want, got)
			}
			compared++
		}
		check("sum", x.Add(y), new(big.Rat).Add(a, b))
		check("difference", x.Sub(y), new(big.Rat).Sub(a, b))
		check("product", x.Mul(y), new(big.Rat).Mul(a, b))
		if b.Sign() != 0 {
			check("quotient", x.Quo(y), new(big.Rat).Quo(a, b))
			if z := x.Quo(y).Mul(y).Sub(x); !z.IsZero() {
				t.Fatalf("(%s)/(%s) times the divisor less the dividend is %s, want 0", x, y, z)
			}
		}
	}
	if compared < 500 {
		t.Errorf("compared only %d values", compared)
	}
}

func TestReduced(t *testing.T) {
	ring := NewRing([]string{"p", "q"})
	p, q, n := ring.Parameter(0), ring.Parameter(1), ring.Integer
	cube, _ := p.Add(q).Pow(3)
	fifth, _ := p.Sub(q).Pow(-5)
	for _, c := range []struct {
		f    *Func
		want string
	}{
		{p.Mul(p).Sub(n(1)).Quo(p.Sub(n(1))), "p+1"},
		{n(1).Sub(p).Quo(p.Sub(n(1))), "-1"},
		{p.Neg().Mul(p), "-1*p^2"},
		{p.Quo(n(2)).Add(p.Quo(n(3))), "(5*p)/6"},
		{cube.Quo(p.Mul(p).Sub(q.Mul(q))), "(p^2+2*p*q+q^2)/(p-q)"},
		{fifth.Mul(p.Sub(q)), "1/(p^4-4*p^3*q+6*p^2*q^2-4*p*q^3+q^4)"},
		{p.Sub(p), "0"},
		{n(6).Mul(p).Quo(n(4).Mul(q)), "(3*p)/(2*q)"},
		{q.Quo(p.Neg()), "(-1*q)/p"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestGeometric sums a long series step by step, whose denominators a search that finds no
// divisors would let grow beyond bounds.
func TestGeometric(t *testing.T) {
	ring := NewRing([]string{"p"})
	p, one := ring.Parameter(0), ring.Integer(1)
	f := one
	for range 40 {
		f = one.Quo(one.Sub(p.Mul(one.Sub(p)).Mul(f)))
	}
	if f.Size() > 100 {
		t.Errorf("a continued fraction of 40 levels has %d terms", f.Size())
	}
	v, _ := f.ValueAt([]*big.Rat{big.NewRat(1, 3)})
	want := big.NewRat(1, 1)
	for range 40 {
		want.Inv(want.Sub(big.NewRat(1, 1), want.Mul(want, big.NewRat(2, 9))))
	}
	if v.Cmp(want) != 0 {
		t.Errorf("at 1/3: %s, want %s", v, want)
	}
}

func ExampleFunc_String() {
	ring := NewRing([]string{"p"})
	p := ring.Parameter(0)
	fmt.Println(p.Mul(p).Quo(ring.Integer(1).Sub(p)))
	// Output: (-1*p^2)/(p-1)
}
