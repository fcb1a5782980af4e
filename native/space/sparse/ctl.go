package sparse

// The operators of CTL: a path may take any choice and any transition, without fairness assumptions.

// ExistsNext returns the states with a successor in the set.
func (g *Graph) ExistsNext(set *Set) *Set {
	out := NewSet(g.NumStates())
	for target := range set.All() {
		for _, c := range g.Into(target) {
			out.Add(g.Owner(c))
		}
	}
	return out
}

// ForallNext returns the states with all successors in the set.
func (g *Graph) ForallNext(set *Set) *Set { return g.ExistsNext(set.Complement()).Complement() }

// ExistsUntil returns the states with a path that satisfies left U right.
func (g *Graph) ExistsUntil(left, right *Set) *Set {
	out := right.Clone()
	g.backwardSearch(right, func(c uint32) (int, bool) {
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
	openTransitions := make([]uint32, g.NumStates())
	for s := range openTransitions {
		first, end := g.Choices(s)
		openTransitions[s] = g.Start[end] - g.Start[first]
	}
	g.backwardSearch(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		openTransitions[s]--
		if openTransitions[s] > 0 || out.Has(s) || !left.Has(s) {
			return s, false
		}
		out.Add(s)
		return s, true
	})
	return out
}

// ExistsGlobally returns the states with a path that stays in the set forever.
func (g *Graph) ExistsGlobally(set *Set) *Set {
	return g.ForallUntil(FullSet(set.Len()), set.Complement()).Complement()
}

// ForallGlobally returns the states all of whose paths stay in the set forever.
func (g *Graph) ForallGlobally(set *Set) *Set {
	return g.ExistsUntil(FullSet(set.Len()), set.Complement()).Complement()
}
