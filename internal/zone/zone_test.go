package zone

import (
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
)

// clocks and largest describe the grid of the tests: valuations are multiples of 1/4 up to largest+1, and zones have numbers up to
// largest.
const (
	clocks  = 3
	largest = 3
)

// randomZone returns the conjunction of some random constraints.
func randomZone(random *rand.Rand) Zone {
	z := All(clocks)
	for range random.IntN(6) {
		i, j := random.IntN(clocks+1), random.IntN(clocks+1)
		if i == j {
			continue
		}
		n := int64(random.IntN(2*largest+1) - largest)
		bound := AtMost(n)
		if random.IntN(2) == 0 {
			bound = Below(n)
		}
		if next, ok := z.And(i, j, bound); ok {
			z = next
		}
	}
	return z
}

// randomValues returns a random valuation. Half of them are near small numbers.
func randomValues(random *rand.Rand) []float64 {
	values := make([]float64, clocks)
	for i := range values {
		values[i] = float64(random.IntN(4*(largest+1)+1)) / 4
	}
	return values
}

// delayed returns a valuation after some time.
func delayed(values []float64, time float64) []float64 {
	result := make([]float64, len(values))
	for i, value := range values {
		result[i] = value + time
	}
	return result
}

// step is small enough that all constraints that a valuation of the grid satisfies for some delay are seen by delays of multiples of it.
const step = 1.0 / 8

// forSome reports whether a condition holds for some delay.
func forSome(values []float64, condition func(later []float64, time float64) bool) bool {
	for time := 0.0; time <= 2*largest+2; time += step {
		if condition(delayed(values, time), time) {
			return true
		}
	}
	return false
}

// TestZones compares the operations with their definitions, for random zones and valuations. Seed 1 is fixed.
func TestZones(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	with := func(values []float64, clock int, number float64) []float64 {
		result := append([]float64(nil), values...)
		result[clock-1] = number
		return result
	}
	for range needs.Some(400) {
		x, y, bad := randomZone(random), randomZone(random), Federation{randomZone(random), randomZone(random)}
		clock, number := 1+random.IntN(clocks), int64(random.IntN(largest+1))
		before, hasBefore := x.BeforeSet(clock, number)
		both, hasBoth := x.Intersect(y)
		short, hasShort := x.BeforeDelay()
		for range 100 {
			values := randomValues(random)
			inX, inY := x.Contains(values), y.Contains(values)
			check := func(what string, got, want bool) {
				t.Helper()
				if got != want {
					t.Fatalf("%s of %v and %v (bad %v) at %v: %t, want %t", what, x, y, bad, values, got, want)
				}
			}
			check("Intersect", hasBoth && both.Contains(values), inX && inY)
			check("Minus", Federation{x}.Minus(Federation{y}).Contains(values), inX && !inY)
			check("Minus two", Federation{x}.Minus(bad).Contains(values), inX && !bad.Contains(values))
			check("Down", x.Down().Contains(values), forSome(values, func(later []float64, _ float64) bool { return x.Contains(later) }))
			check("Up", x.Up().Contains(values), forSome(values, func(_ []float64, time float64) bool {
				earlier := delayed(values, -time)
				return min(earlier[0], earlier[1], earlier[2]) >= 0 && x.Contains(earlier)
			}))
			check("BeforeSet", hasBefore && before.Contains(values), x.Contains(with(values, clock, float64(number))))
			check("BeforeDelay", hasShort && short.Contains(values), x.Contains(delayed(values, step)) && x.Contains(delayed(values, step/2)))
			if inX {
				check("Set", x.Set(clock, number).Contains(with(values, clock, float64(number))), true)
				check("Extrapolate", x.Extrapolate([]int64{0, 1, 2, 1}).Contains(values), true)
			}
			check("DownAvoiding", x.DownAvoiding(bad).Contains(values), forSome(values, func(later []float64, time float64) bool {
				for earlier := 0.0; earlier <= time; earlier += step {
					if bad.Contains(delayed(values, earlier)) {
						return false
					}
				}
				return x.Contains(later)
			}))
		}
		if (hasBoth && both.Equal(y)) != x.Includes(y) {
			t.Fatalf("%v includes %v: %t, but the intersection is %v", x, y, x.Includes(y), both)
		}
		if !x.Includes(x.Set(clock, number)) && hasBefore && x.Set(clock, number).Equal(x) {
			t.Fatalf("%v", x)
		}
		if bad.Union(Federation{x}).Includes(x) != true || bad.Includes(x) != (len(Federation{x}.Minus(bad)) == 0) {
			t.Fatalf("%v in %v", x, bad)
		}
	}
}

// TestExtrapolate: a valuation in the larger zone has one in the zone with the same values up to the limits.
func TestExtrapolate(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	limits := []int64{0, 1, 2, 1}
	for range needs.Some(200) {
		x := randomZone(random)
		larger := x.Extrapolate(limits)
		for range 20 {
			values := randomValues(random)
			if !larger.Contains(values) {
				continue
			}
			same := All(clocks) // the valuations with the same values up to the limits
			for i, value := range values {
				low, high := AtMost(-int64(value)), AtMost(int64(value))
				if value != float64(int64(value)) {
					low, high = Below(-int64(value)), Below(int64(value)+1)
				}
				if value > float64(limits[i+1]) {
					low, high = Below(-limits[i+1]), Infinite
				}
				same, _ = same.And(0, i+1, low)
				same, _ = same.And(i+1, 0, high)
			}
			if !same.Intersects(x) {
				t.Fatalf("%v extrapolated is %v with %v, which is in no zone like it", x, larger, values)
			}
		}
	}
}
