package sparse

import "slices"

// Topological is a reverse topological order of states: every transition between two of them leads to the
// earlier one. Self-loops do not count.
type Topological struct {
	Order []uint32
	// Start divides the order into levels: no transition connects two different states of
	// Order[Start[i]:Start[i+1]].
	Start []int
}

// Topological returns the given states in reverse topological order: each state follows its successors. ok is false if a cycle contains
// several of these states.
//
// Source: Kahn, Topological sorting of large networks, CACM 5 (1962).
func (model *Model) Topological(states *Set) (order Topological, ok bool) {
	indegree := model.indegrees(states) // for each state, the number of transitions to it from states that are not ordered yet
	numStates := states.Count()
	order = Topological{Order: make([]uint32, 0, numStates), Start: []int{numStates}}
	for state := range states.All() {
		if indegree[state] == 0 {
			order.Order = append(order.Order, uint32(state))
		}
	}
	// Build the order from the last state to the first, level by level.
	for levelStart := 0; levelStart < len(order.Order); {
		levelEnd := len(order.Order)
		order.Start = append(order.Start, numStates-levelEnd)
		for _, state := range order.Order[levelStart:levelEnd] {
			order.Order = model.appendWithoutPredecessors(order.Order, state, indegree, states)
		}
		levelStart = levelEnd
	}
	slices.Reverse(order.Order)
	slices.Reverse(order.Start)
	return order, len(order.Order) == numStates
}

// appendWithoutPredecessors removes the transitions of a state from the indegrees of its successors. It appends each successor in states whose indegree
// becomes 0 to order.
func (model *Model) appendWithoutPredecessors(order []uint32, state uint32, indegree []uint32, states *Set) []uint32 {
	for _, target := range model.successors(int(state)) {
		if target == state {
			continue
		}
		indegree[target]--
		if indegree[target] == 0 && states.Has(int(target)) {
			order = append(order, target)
		}
	}
	return order
}

// indegrees returns, for each state, the number of transitions that lead to it from other states in the given set.
func (model *Model) indegrees(states *Set) []uint32 {
	indegree := make([]uint32, model.NumStates())
	for state := range states.All() {
		for _, target := range model.successors(state) {
			if int(target) != state {
				indegree[target]++
			}
		}
	}
	return indegree
}

// successors returns the targets of all choices of a state.
func (model *Model) successors(s int) []uint32 {
	first, end := model.Choices(s)
	return model.Target[model.FirstTransition[first]:model.FirstTransition[end]]
}
