package sparse

// The operators of CTL: a path may take any choice and any transition, without fairness assumptions.

// ExistsNext returns the states that have a transition to a state of the set (CTL: EX set).
func (graph *Graph) ExistsNext(set *Set) *Set {
	predecessors := NewSet(graph.NumStates())
	for target := range set.All() {
		for _, choice := range graph.Into(target) {
			predecessors.Add(graph.Owner(choice))
		}
	}
	return predecessors
}

// ForallNext returns the states with all successors in the set.
func (graph *Graph) ForallNext(set *Set) *Set { return graph.ExistsNext(set.Complement()).Complement() }

// ExistsUntil returns the states from which some path satisfies left U right.
func (graph *Graph) ExistsUntil(left, right *Set) *Set {
	satisfying := right.Clone()
	graph.backwardSearch(right, func(choice uint32) (int, bool) {
		state := graph.Owner(choice)
		if satisfying.Has(state) || !left.Has(state) {
			return state, false
		}
		satisfying.Add(state)
		return state, true
	})
	return satisfying
}

// ForallUntil returns the states from which all paths satisfy left U right. It searches backwards from right: a state of left is added when
// all of its transitions lead to states found before.
func (graph *Graph) ForallUntil(left, right *Set) *Set {
	satisfying := right.Clone()
	otherTransitions := make([]uint32, graph.NumStates()) // the number of transitions to states that the search has not found yet
	for state := range otherTransitions {
		first, end := graph.Choices(state)
		otherTransitions[state] = graph.FirstTransition[end] - graph.FirstTransition[first]
	}
	graph.backwardSearch(right, func(choice uint32) (int, bool) { // called once for each transition to a state that is found
		state := graph.Owner(choice)
		otherTransitions[state]--
		if otherTransitions[state] > 0 || satisfying.Has(state) || !left.Has(state) {
			return state, false
		}
		satisfying.Add(state)
		return state, true
	})
	return satisfying
}

// ExistsGlobally returns the states with a path that stays in the set forever.
func (graph *Graph) ExistsGlobally(set *Set) *Set {
	return graph.ForallUntil(FullSet(set.Len()), set.Complement()).Complement()
}

// ForallGlobally returns the states with only paths that stay in the set forever.
func (graph *Graph) ForallGlobally(set *Set) *Set {
	return graph.ExistsUntil(FullSet(set.Len()), set.Complement()).Complement()
}
