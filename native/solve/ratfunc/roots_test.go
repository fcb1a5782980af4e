package ratfunc

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// product returns a polynomial with the given roots, each so often, times a factor.
func product(roots []*big.Rat, times []int, factor Univariate) Univariate {
	p := factor
	for i, r := range roots {
		for range times[i] {
			p = p.Times(Univariate{new(big.Int).Neg(r.Num()), r.Denom()})
		}
	}
	return p
}

// TestRoots finds roots that a polynomial was made of, among roots that are no fractions.
func TestRoots(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	irrational := Univariate{big.NewInt(-2), big.NewInt(0), big.NewInt(9)} // at ±0.4714…
	for range 100 {
		var roots []*big.Rat
		var times []int
		for range r.IntN(5) {
			x := big.NewRat(r.Int64N(41)-20, 1+r.Int64N(12))
			if !slices.ContainsFunc(roots, func(y *big.Rat) bool { return x.Cmp(y) == 0 }) {
				roots, times = append(roots, x), append(times, 1+r.IntN(4))
			}
		}
		factor := Univariate{big.NewInt(1), big.NewInt(1 - r.Int64N(2)), big.NewInt(1)} // without roots
		if r.IntN(2) == 0 {
			factor = Univariate{big.NewInt(-3)}
		}
		p := product(roots, times, factor).Times(irrational)
		low, high := big.NewRat(-21, 1), big.NewRat(21, 1)
		var want []*big.Rat
		between := 0
		for i, x := range roots {
			if times[i]%2 == 1 {
				want = append(want, x)
				if y, _ := x.Float64(); y > 0.4714045207910317 {
					between++
				}
			}
		}
		slices.SortFunc(want, (*big.Rat).Cmp)
		s := NewSturm(p.OddSquareFree())
		if n := s.CountRoots(low, high); n != len(want)+2 {
			t.Fatalf("found %d roots of %v, want %d", n, p, len(want)+2)
		}
		for i, at := 0, low; i < len(want); {
			x, ok := s.FirstRoot(at, high)
			if !ok {
				t.Fatalf("found no root of %v beyond %v", p, at)
			}
			if at = x.High; !x.IsFraction() {
				if y, _ := x.Low.Float64(); y > 0.48 || y < -22 {
					t.Fatalf("found a root of %v near %v, want fractions", p, y)
				}
				if y, _ := x.High.Float64(); y > 0 && s.CountAfter(x, high) != between {
					t.Fatalf("found %d roots of %v beyond %v, want %d", s.CountAfter(x, high), p, y, between)
				}
				continue
			}
			if x.Low.Cmp(want[i]) != 0 {
				t.Fatalf("found root %v of %v, want %v", x.Low, p, want[i])
			}
			i++
		}
	}
}

func TestSameRoot(t *testing.T) {
	n := func(xs ...int64) Univariate {
		var p Univariate
		for _, x := range xs {
			p = append(p, big.NewInt(x))
		}
		return p
	}
	first := func(p Univariate, low, high int64) Root {
		x, ok := NewSturm(p).FirstRoot(big.NewRat(low, 7), big.NewRat(high, 7))
		if !ok {
			t.Fatalf("%v has no root", p)
		}
		return x
	}
	golden, other := first(n(1, -3, 1), 0, 7), first(n(1, -3, 1).Times(n(5, 2)), 1, 8)
	near, half := first(n(-382, 1000), 0, 7), first(n(-1, 2), 0, 7)
	if !golden.Equal(other) || golden.Equal(near) || near.Equal(golden) || !near.IsFraction() || !half.Equal(FractionRoot(big.NewRat(1, 2))) {
		t.Error("roots are compared wrongly")
	}
	if !golden.Less(near) || near.Less(golden) || !near.Less(half) {
		t.Error("roots are ordered wrongly")
	}
	ring := NewRing([]string{"p"})
	num, den := ring.Parameter(0).Sub(ring.Integer(2)).Quo(ring.Parameter(0)).Univariate()
	if num.Sign(big.NewRat(1, 1)) != -1 || num.Sign(big.NewRat(2, 1)) != 0 || den.Sign(big.NewRat(-1, 3)) != -1 {
		t.Errorf("found %v / %v", num, den)
	}
}

// TestSigns compares with values at points, of functions of one and of two parameters.
func TestSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	seen := 0
	for range 150 {
		names := []string{"p", "q"}[:1+r.IntN(2)]
		f := random(r, NewRing(names), 3)
		var low, high []*big.Rat
		for range names {
			x := big.NewRat(r.Int64N(30)-15, 7)
			low, high = append(low, x), append(high, new(big.Rat).Add(x, big.NewRat(1+r.Int64N(9), 5)))
		}
		if f.IsZero() {
			continue
		}
		positive, least := f.Positive(low, high), 1
		pole := false
		for range 60 {
			var at []*big.Rat
			for i := range names {
				x := big.NewRat(1+r.Int64N(996), 997)
				at = append(at, x.Mul(x, new(big.Rat).Sub(high[i], low[i])).Add(x, low[i]))
			}
			v, ok := f.ValueAt(at)
			if pole = pole || !ok; ok {
				least = min(least, v.Sign())
			}
		}
		if positive && (least <= 0 || pole) {
			t.Fatalf("%s is said to be positive from %v to %v", f, low, high)
		}
		one := NewRing(names).Integer(1)
		if den := (&Func{f.ring, f.denominator, one.denominator}); (den.Positive(low, high) || den.Neg().Positive(low, high)) && f.NotNegative(low, high) != (least >= 0) {
			if least < 0 || len(names) == 1 && least > 0 {
				t.Fatalf("%s is said to be negative or not from %v to %v: least sign %d", f, low, high, least)
			}
		}
		if positive {
			seen++
		}
	}
	if seen < 15 {
		t.Errorf("only %d functions are positive", seen)
	}
	ring := NewRing([]string{"p", "q"})
	p, q, n := ring.Parameter(0), ring.Parameter(1), ring.Integer
	zero, half, one := []*big.Rat{new(big.Rat), new(big.Rat)}, []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2)}, []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1)}
	if f := n(1).Sub(p).Sub(q); !f.Positive(zero, half) || f.Positive(zero, one) || f.NotNegative(zero, one) {
		t.Error("1-p-q has the wrong sign")
	}
	// p²-pq+q² has a coefficient that is negative, until the box is cut.
	if f := p.Mul(p).Sub(p.Mul(q)).Add(q.Mul(q)).Add(n(1).Quo(n(100))); !f.NotNegative(zero, one) {
		t.Error("p^2-p*q+q^2+1/100 is said to be negative")
	}
}
