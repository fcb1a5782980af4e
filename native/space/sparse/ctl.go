package sparse

// The operators of CTL: a path may take any choice and any transition, without fairness assumptions.

// ExistsNext returns the states with a successor in the set.
func (g *Graph) ExistsNext(set *Set) *Set {
	predecessors := NewSet(g.NumStates())
	for target := range set.All() {
		for _, choice := range g.Into(target) {
			predecessors.Add(g.Owner(choice))
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
		state := g.Owner(c)
		if satisfying.Has(state) || !left.Has(state) {
			return state, false
		}
		satisfying.Add(state)
		return state, true
	})
	return satisfying
}

// ForallUntil returns the states with only paths that satisfy left U right. A backward search finds the states
// with only transitions to such states.
func (g *Graph) ForallUntil(left, right *Set) *Set {
	satisfying := right.Clone()
	remaining := make([]uint32, g.NumStates()) // the number of transitions to other states
	for state := range remaining {
		first, end := g.Choices(state)
		remaining[state] = g.Start[end] - g.Start[first]
	}
	g.backwardSearch(right, func(c uint32) (int, bool) {
		state := g.Owner(c)
		remaining[state]--
		if remaining[state] > 0 || satisfying.Has(state) || !left.Has(state) {
			return state, false
		}
		satisfying.Add(state)
		return state, true
	})
	return satisfying
}

// ExistsGlobally returns the states with a path that stays in the set forever.
func (g *Graph) ExistsGlobally(set *Set) *Set {
	return g.ForallUntil(FullSet(set.Len()), set.Complement()).Complement()
}

// ForallGlobally returns the states with only paths that stay in the set forever.
func (g *Graph) ForallGlobally(set *Set) *Set {
	return g.ExistsUntil(FullSet(set.Len()), set.Complement()).Complement()
}
