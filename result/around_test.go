package result_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/result"
)

// What lies beyond the doubles is enclosed by the greatest of them and infinity: a lower
// bound of infinity would be false.
func TestEnclose(t *testing.T) {
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
		if got := result.Enclose(fraction(c.lower), fraction(c.upper)); got.Lo != c.lo || got.Hi != c.hi {
			t.Errorf("Enclose(%.20s, %.20s) = [%v, %v], want [%v, %v]", c.lower, c.upper, got.Lo, got.Hi, c.lo, c.hi)
		}
	}
}
