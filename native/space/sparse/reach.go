package sparse

// ReachableFrom returns the states that are reachable from a set of states, and the set itself.
func (m *Model) ReachableFrom(from *Set) *Set {
	reached := from.Clone()
	var stack []int
	for s := range from.All() {
		stack = append(stack, s)
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, target := range m.successors(s) {
			if !reached.Has(int(target)) {
				reached.Add(int(target))
				stack = append(stack, int(target))
			}
		}
	}
	return reached
}

// Reachable returns the states that are reachable from the initial states.
func (m *Model) Reachable() *Set {
	initial := NewSet(m.NumStates())
	for _, s := range m.Initial {
		initial.Add(int(s))
	}
	return m.ReachableFrom(initial)
}
