package zone

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Zone is a nonempty set of valuations of clocks: those that satisfy a bound of each clock and of each difference of two clocks. The zero value is
// not valid.
type Zone struct {
	size   int     // the number of clocks and of the reference clock, which is clock 0 and always has the value 0
	bounds []Bound // bounds[i*size+j] is the tightest upper bound of clock i minus clock j
}

// All returns the set of all valuations of a number of clocks. No clock is negative.
func All(numClocks int) Zone {
	z := Zone{size: numClocks + 1, bounds: make([]Bound, (numClocks+1)*(numClocks+1))}
	for i := range z.size {
		for j := range z.size {
			if i != j && i != 0 {
				z.bounds[i*z.size+j] = Infinite
			} else {
				z.bounds[i*z.size+j] = AtMost(0)
			}
		}
	}
	return z
}

// Origin returns the set with the valuation in which all clocks are 0.
func Origin(numClocks int) Zone {
	z := All(numClocks)
	for i := range z.bounds {
		z.bounds[i] = AtMost(0)
	}
	return z
}

// Clocks returns the number of clocks, without the reference clock.
func (z Zone) Clocks() int { return z.size - 1 }

// Bound returns the tightest bound of clock i minus clock j.
func (z Zone) Bound(i, j int) Bound { return z.bounds[i*z.size+j] }

// clone returns a copy that can be changed.
func (z Zone) clone() Zone { return Zone{z.size, slices.Clone(z.bounds)} }

// Equal reports whether two zones have the same valuations.
func (z Zone) Equal(other Zone) bool { return slices.Equal(z.bounds, other.bounds) }

// Key returns a text that identifies the zone among the zones of the same clocks.
func (z Zone) Key() string {
	key := make([]byte, 0, 3*len(z.bounds))
	for _, bound := range z.bounds {
		key = binary.AppendVarint(key, int64(bound))
	}
	return string(key)
}

// Includes reports whether z has all valuations of other.
func (z Zone) Includes(other Zone) bool {
	for i, bound := range other.bounds {
		if bound > z.bounds[i] {
			return false
		}
	}
	return true
}

// Contains reports whether a valuation is in the zone; values[i] is the value of clock i+1.
func (z Zone) Contains(values []float64) bool {
	withReference := append([]float64{0}, values...) // the reference clock is always 0
	for i := range z.size {
		for j := range z.size {
			if !z.Bound(i, j).allows(withReference[i] - withReference[j]) {
				return false
			}
		}
	}
	return true
}

// And returns the valuations for which clock i minus clock j satisfies a bound. ok is false if there are none.
func (z Zone) And(i, j int, bound Bound) (result Zone, ok bool) {
	switch {
	case bound >= z.Bound(i, j):
		return z, true
	case bound.plus(z.Bound(j, i)) < AtMost(0):
		return Zone{}, false
	}
	result = z.clone()
	result.tighten(i, j, bound)
	return result, true
}

// tighten sets the bound of clock i minus clock j and restores the canonical form, in which each bound is the tightest. The caller ensures that the
// new bound is tighter, and that the zone does not become empty.
func (z Zone) tighten(i, j int, bound Bound) {
	z.bounds[i*z.size+j] = bound
	for row := range z.size {
		viaJ := z.Bound(row, i).plus(bound) // of clock row minus clock j
		if viaJ == Infinite {
			continue
		}
		for column := range z.size {
			if sum := viaJ.plus(z.Bound(j, column)); sum < z.bounds[row*z.size+column] {
				z.bounds[row*z.size+column] = sum
			}
		}
	}
}

// Intersect returns the intersection of two zones. ok is false if it is empty.
func (z Zone) Intersect(other Zone) (result Zone, ok bool) {
	result = z
	for i := range z.size {
		for j := range z.size {
			if result, ok = result.and(z, i, j, other.Bound(i, j)); !ok {
				return Zone{}, false
			}
		}
	}
	return result, true
}

// and does the same as And, but changes z itself. It copies z first if z and shared have the same bounds in memory.
func (z Zone) and(shared Zone, i, j int, bound Bound) (result Zone, ok bool) {
	switch {
	case bound >= z.Bound(i, j):
		return z, true
	case bound.plus(z.Bound(j, i)) < AtMost(0):
		return Zone{}, false
	}
	if &z.bounds[0] == &shared.bounds[0] {
		z = z.clone()
	}
	z.tighten(i, j, bound)
	return z, true
}

// Intersects reports whether two zones have a common valuation.
func (z Zone) Intersects(other Zone) bool {
	_, ok := z.Intersect(other)
	return ok
}

// Up returns the valuations to which the passage of time leads from z.
func (z Zone) Up() Zone {
	result := z.clone()
	for i := 1; i < z.size; i++ {
		result.bounds[i*z.size] = Infinite
	}
	return result
}

// Down returns the valuations from which the passage of time leads to z.
func (z Zone) Down() Zone {
	result := z.clone()
	for j := 1; j < z.size; j++ {
		lower := AtMost(0)
		for i := 1; i < z.size; i++ {
			lower = min(lower, z.Bound(i, j))
		}
		result.bounds[j] = lower
	}
	return result
}

// Set returns the valuations of z after a clock is set to a number.
func (z Zone) Set(clock int, number int64) Zone {
	result := z.clone()
	for k := range z.size {
		if k != clock {
			result.bounds[clock*z.size+k] = AtMost(number).plus(z.Bound(0, k))
			result.bounds[k*z.size+clock] = z.Bound(k, 0).plus(AtMost(-number))
		}
	}
	return result
}

// BeforeSet returns the valuations that are in z after a clock is set to a number. ok is false if there are none.
func (z Zone) BeforeSet(clock int, number int64) (result Zone, ok bool) {
	result, ok = z.And(clock, 0, AtMost(number))
	if ok {
		result, ok = result.And(0, clock, AtMost(-number))
	}
	if !ok {
		return Zone{}, false
	}
	result = result.clone()
	for k := range z.size {
		if k != clock {
			result.bounds[clock*z.size+k] = Infinite
			result.bounds[k*z.size+clock] = result.Bound(k, 0)
		}
	}
	return result, true
}

// BeforeDelay returns the valuations from which the passage of any short enough time leads to z. They may attain strict lower bounds of z, and may
// not attain its upper bounds. ok is false if there are none.
func (z Zone) BeforeDelay() (result Zone, ok bool) {
	result = z.WithLowerBounds()
	for i := 1; i < z.size; i++ {
		if upper := z.Bound(i, 0); upper != Infinite {
			if result, ok = result.And(i, 0, Below(upper.number())); !ok {
				return Zone{}, false
			}
		}
	}
	return result, true
}

// WithLowerBounds returns z together with the valuations that attain its strict lower bounds.
func (z Zone) WithLowerBounds() Zone {
	result := z
	for j := 1; j < z.size; j++ {
		if lower := z.Bound(0, j); lower.isStrict() {
			if &result.bounds[0] == &z.bounds[0] {
				result = z.clone()
			}
			result.bounds[j] = AtMost(lower.number())
		}
	}
	if &result.bounds[0] == &z.bounds[0] {
		return z
	}
	result.close()
	return result
}

// close restores the canonical form of a nonempty zone, by the algorithm of Floyd and Warshall.
func (z Zone) close() {
	for k := range z.size {
		for i := range z.size {
			viaK := z.Bound(i, k)
			if viaK == Infinite {
				continue
			}
			for j := range z.size {
				if sum := viaK.plus(z.Bound(k, j)); sum < z.bounds[i*z.size+j] {
					z.bounds[i*z.size+j] = sum
				}
			}
		}
	}
}

// Extrapolate returns a zone that includes z, whose bounds of clock i are between -limits[i] and limits[i]; so there are finitely many such zones.
// For each valuation of the result, z has a valuation that satisfies the same constraints between a clock i and a number up to limits[i].
func (z Zone) Extrapolate(limits []int64) Zone {
	result := z.clone()
	for i := range z.size {
		for j := range z.size {
			bound := z.Bound(i, j)
			switch {
			case i == j || bound == Infinite:
			case i > 0 && bound > AtMost(limits[i]):
				result.bounds[i*z.size+j] = Infinite
			case j > 0 && bound < Below(-limits[j]):
				result.bounds[i*z.size+j] = Below(-limits[j])
			}
		}
	}
	result.close()
	return result
}

// String returns the constraints of the zone, such as 1<=c1<=2 & c1-c2<3. Clocks have the names c1, c2, ...
func (z Zone) String() string {
	var parts []string
	for i := 1; i < z.size; i++ {
		if text := z.ClockText(i, fmt.Sprintf("c%d", i)); text != "" {
			parts = append(parts, text)
		}
	}
	for i := 1; i < z.size; i++ {
		for j := 1; j < z.size; j++ {
			if bound := z.Bound(i, j); i != j && bound < z.Bound(i, 0).plus(z.Bound(0, j)) {
				parts = append(parts, fmt.Sprintf("c%d-c%d%s", i, j, bound))
			}
		}
	}
	if len(parts) == 0 {
		return "true"
	}
	return strings.Join(parts, " & ")
}

// ClockText returns the constraints of one clock, such as x=1, x>2 or 1<=x<2, where x is the name of the clock. It returns "" if the clock may have
// any value.
func (z Zone) ClockText(clock int, name string) string {
	lower, upper := z.Bound(0, clock), z.Bound(clock, 0)
	low := -lower.number()
	switch {
	case lower.plus(upper) == AtMost(0):
		return fmt.Sprintf("%s=%d", name, low)
	case upper == Infinite && lower == AtMost(0):
		return ""
	case upper == Infinite && lower.isStrict():
		return fmt.Sprintf("%s>%d", name, low)
	case upper == Infinite:
		return fmt.Sprintf("%s>=%d", name, low)
	case lower == AtMost(0):
		return name + upper.String()
	case lower.isStrict():
		return fmt.Sprintf("%d<%s%s", low, name, upper)
	}
	return fmt.Sprintf("%d<=%s%s", low, name, upper)
}
