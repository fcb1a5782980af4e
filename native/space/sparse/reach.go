package sparse

// ReachableFrom returns the states that are reachable from a set of states, including the set itself.
func (model *Model) ReachableFrom(from *Set) *Set {
	reached := from.Clone()
	var stack []int
	for state := range from.All() {
		stack = append(stack, state)
	}
	for len(stack) > 0 {
		state := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, target := range model.successors(state) {
			if !reached.Has(int(target)) {
				reached.Add(int(target))
				stack = append(stack, int(target))
			}
		}
	}
	return reached
}

// Reachable returns the states that are reachable from the initial states.
func (model *Model) Reachable() *Set {
	initial := NewSet(model.NumStates())
	for _, s := range model.Initial {
		initial.Add(int(s))
	}
	return model.ReachableFrom(initial)
}
