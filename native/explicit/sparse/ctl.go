package sparse

// The operators of CTL: a path may take any choice and any transition of
// positive weight, no fairness is assumed.

// ExistsNext returns the states with a successor in x.
func (g *Graph) ExistsNext(x *Set) *Set {
	out := NewSet(g.NumStates())
	for t := range x.All() {
		for _, c := range g.Into(t) {
			out.Add(g.Owner(c))
		}
	}
	return out
}

// ForallNext returns the states with all successors in x.
func (g *Graph) ForallNext(x *Set) *Set { return g.ExistsNext(x.Complement()).Complement() }

// ExistsUntil returns the states with a path that satisfies left U right.
func (g *Graph) ExistsUntil(left, right *Set) *Set {
	out := right.Clone()
	g.backwards(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if out.Has(s) || !left.Has(s) {
			return s, false
		}
		out.Add(s)
		return s, true
	})
	return out
}

// ForallUntil returns the states all of whose paths satisfy left U right.
func (g *Graph) ForallUntil(left, right *Set) *Set {
	out := right.Clone()
	missing := make([]uint32, g.NumStates())
	for s := range missing {
		first, end := g.Choices(s)
		missing[s] = g.Start[end] - g.Start[first]
	}
	g.backwards(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		missing[s]--
		if missing[s] > 0 || out.Has(s) || !left.Has(s) {
			return s, false
		}
		out.Add(s)
		return s, true
	})
	return out
}

// ExistsGlobally returns the states with a path that stays in x for ever.
func (g *Graph) ExistsGlobally(x *Set) *Set {
	return g.ForallUntil(FullSet(x.Len()), x.Complement()).Complement()
}

// ForallGlobally returns the states all of whose paths stay in x for ever.
func (g *Graph) ForallGlobally(x *Set) *Set {
	return g.ExistsUntil(FullSet(x.Len()), x.Complement()).Complement()
}
