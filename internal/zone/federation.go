package zone

// Federation is a union of zones of the same clocks, which may overlap. The zero value is the empty set.
type Federation []Zone

// Add returns the union with a zone. It leaves out zones that another zone includes.
func (f Federation) Add(z Zone) Federation {
	for _, other := range f {
		if other.Includes(z) {
			return f
		}
	}
	result := make(Federation, 0, len(f)+1)
	for _, other := range f {
		if !z.Includes(other) {
			result = append(result, other)
		}
	}
	return append(result, z)
}

// Union returns the union of two federations.
func (f Federation) Union(other Federation) Federation {
	for _, z := range other {
		f = f.Add(z)
	}
	return f
}

// Intersect returns the intersection of two federations.
func (f Federation) Intersect(other Federation) Federation {
	var result Federation
	for _, zone := range f {
		for _, otherZone := range other {
			if intersection, ok := zone.Intersect(otherZone); ok {
				result = result.Add(intersection)
			}
		}
	}
	return result
}

// Intersects reports whether a zone has a valuation of the federation.
func (f Federation) Intersects(z Zone) bool {
	for _, other := range f {
		if other.Intersects(z) {
			return true
		}
	}
	return false
}

// Minus returns the valuations of f that are not in other.
func (f Federation) Minus(other Federation) Federation {
	for _, removed := range other {
		var remaining Federation
		for _, z := range f {
			remaining = append(remaining, z.minus(removed)...)
		}
		f = remaining
	}
	return f
}

// Includes reports whether every valuation of a zone is in the federation.
func (f Federation) Includes(z Zone) bool {
	remaining := Federation{z}
	for _, other := range f {
		if remaining = remaining.Minus(Federation{other}); len(remaining) == 0 {
			return true
		}
	}
	return len(remaining) == 0
}

// Contains reports whether a valuation is in the federation; values[i] is the value of clock i+1.
func (f Federation) Contains(values []float64) bool {
	for _, z := range f {
		if z.Contains(values) {
			return true
		}
	}
	return false
}

// minus returns disjoint zones with the valuations of z that are not in other.
func (z Zone) minus(other Zone) Federation {
	if !z.Intersects(other) {
		return Federation{z}
	}
	var result Federation
	remaining := z // the valuations of z that satisfy the visited bounds of other
	for i := range z.size {
		for j := range z.size {
			bound := other.Bound(i, j)
			if bound >= remaining.Bound(i, j) {
				continue
			}
			if outside, ok := remaining.And(j, i, bound.Negated()); ok {
				result = append(result, outside)
			}
			remaining, _ = remaining.And(i, j, bound) // not empty, because z and other intersect
		}
	}
	return result
}

// DownAvoiding returns the valuations from which the passage of time leads to a valuation of z, and neither this valuation nor an earlier one is in
// bad.
//
// Source: Cassez, David, Fleury, Larsen and Lime, Efficient on-the-fly algorithms for the analysis of timed games (CONCUR 2005).
func (z Zone) DownAvoiding(bad Federation) Federation {
	result := Federation{z.Down()}
	for _, badZone := range bad {
		beforeBad := badZone.Down()
		avoiding := Federation{z.Down()}.Minus(Federation{beforeBad}) // valuations from which time never leads to badZone
		if early, ok := z.Intersect(beforeBad); ok {
			for _, reachedFirst := range early.minus(badZone) { // z is reached before badZone
				avoiding = avoiding.Add(reachedFirst.Down())
			}
		}
		result = result.Intersect(avoiding)
	}
	return result
}
