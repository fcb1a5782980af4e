package interval_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/interval"
)

// TestBetween: a number beyond the range of float64 is between the largest of them and infinity. A lower
// bound of infinity would be false.
func TestBetween(t *testing.T) {
	fraction := func(s string) *big.Rat {
		if s == "" {
			return nil
		}
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no fraction", s)
		}
		return r
	}
	huge := "1" + strings.Repeat("0", 400)
	for _, c := range []struct {
		lower, upper string
		lo, hi       float64
	}{
		{"1/2", "3/4", 0.5, 0.75},
		{"1/10", "1/10", math.Nextafter(0.1, 0), 0.1},
		{"1/3", "2/3", 1.0 / 3, math.Nextafter(2.0/3, 1)},
		{huge, huge, math.MaxFloat64, math.Inf(1)},
		{"1", huge, 1, math.Inf(1)},
		{"1/" + huge, "1/" + huge, 0, math.SmallestNonzeroFloat64},
		{"7", "", 7, math.Inf(1)},
		{"", "", math.Inf(1), math.Inf(1)},
	} {
		if got := interval.Between(fraction(c.lower), fraction(c.upper)); got.Lo != c.lo || got.Hi != c.hi {
			t.Errorf("Between(%.20s, %.20s) = [%v, %v], want [%v, %v]", c.lower, c.upper, got.Lo, got.Hi, c.lo, c.hi)
		}
	}
}

// TestArithmetic: sums and products of intervals contain those of the numbers in them.
func TestArithmetic(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	number := func() *big.Rat {
		if random.IntN(5) == 0 {
			return new(big.Rat)
		}
		return big.NewRat(1+random.Int64N(1000), 1+random.Int64N(1000))
	}
	for range 10000 {
		x, y := number(), number()
		sum, product := new(big.Rat).Add(x, y), new(big.Rat).Mul(x, y)
		if got := interval.Around(x).Plus(interval.Around(y)); !got.ContainsFraction(sum) {
			t.Fatalf("%s + %s is not in %v", x, y, got)
		}
		got := interval.Around(x).Times(interval.Around(y))
		if !got.ContainsFraction(product) || got.Lo < 0 {
			t.Fatalf("%s * %s is not in %v", x, y, got)
		}
	}
}
