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
	for _, x := range f {
		for _, y := range other {
			if both, ok := x.Intersect(y); ok {
				result = result.Add(both)
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
	for _, z := range other {
		var rest Federation
		for _, x := range f {
			rest = append(rest, x.minus(z)...)
		}
		f = rest
	}
	return f
}

// Includes reports whether every valuation of a zone is in the federation.
func (f Federation) Includes(z Zone) bool {
	rest := Federation{z}
	for _, other := range f {
		if rest = rest.Minus(Federation{other}); len(rest) == 0 {
			return true
		}
	}
	return len(rest) == 0
}

// Contains reports whether a valuation is in the federation.
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
	rest := z
	for i := range z.size {
		for j := range z.size {
			bound := other.Bound(i, j)
			if bound >= rest.Bound(i, j) {
				continue
			}
			if outside, ok := rest.And(j, i, bound.Negated()); ok {
				result = append(result, outside)
			}
			rest, _ = rest.And(i, j, bound) // not empty, since z and other intersect
		}
	}
	return result
}

// DownAvoiding returns the valuations from which the passage of time leads to z, without any valuation of bad before or then.
//
// Source: Cassez, David, Fleury, Larsen and Lime, Efficient on-the-fly algorithms for the analysis of timed games (CONCUR 2005).
func (z Zone) DownAvoiding(bad Federation) Federation {
	result := Federation{z.Down()}
	for _, b := range bad {
		pastOfBad := b.Down()
		avoiding := Federation{z.Down()}.Minus(Federation{pastOfBad}) // the time of bad is over, or never comes
		if early, ok := z.Intersect(pastOfBad); ok {
			for _, before := range early.minus(b) { // z is reached before bad
				avoiding = avoiding.Add(before.Down())
			}
		}
		result = result.Intersect(avoiding)
	}
	return result
}
