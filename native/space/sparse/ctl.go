package sparse

// The operators of CTL: a path may take any choice and any transition, without fairness assumptions.

// ExistsNext returns the states with a successor in the set.
func (g *Graph) ExistsNext(set *Set) *Set {
	predecessors := NewSet(g.NumStates())
	for target := range set.All() {
		for _, c := range g.Into(target) {
			predecessors.Add(g.Owner(c))
		}
	}
	return predecessors
}

// ForallNext returns the states with all successors in the set.
func (g *Graph) ForallNext(set *Set) *Set { return g.ExistsNext(set.Complement()).Complement() }

// ExistsUntil returns the states with a path that satisfies left U right.
func (g *Graph) ExistsUntil(left, right *Set) *Set {
	satisfying := right.Clone()
	g.backwardSearch(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if satisfying.Has(s) || !left.Has(s) {
			return s, false
		}
		satisfying.Add(s)
		return s, true
	})
	return satisfying
}

// ForallUntil returns the states all of whose paths satisfy left U right. A backward search counts, for each state, the
// transitions that do not yet lead to such a state.
func (g *Graph) ForallUntil(left, right *Set) *Set {
	satisfying := right.Clone()
	remaining := make([]uint32, g.NumStates())
	for s := range remaining {
		first, end := g.Choices(s)
		remaining[s] = g.Start[end] - g.Start[first]
	}
	g.backwardSearch(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		remaining[s]--
		if remaining[s] > 0 || satisfying.Has(s) || !left.Has(s) {
			return s, false
		}
		satisfying.Add(s)
		return s, true
	})
	return satisfying
}

// ExistsGlobally returns the states with a path that stays in the set forever.
func (g *Graph) ExistsGlobally(set *Set) *Set {
	return g.ForallUntil(FullSet(set.Len()), set.Complement()).Complement()
}

// ForallGlobally returns the states all of whose paths stay in the set forever.
func (g *Graph) ForallGlobally(set *Set) *Set {
	return g.ExistsUntil(FullSet(set.Len()), set.Complement()).Complement()
}
