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

// Topological returns the given states in reverse topological order, successors first. It reports false if
// there is a cycle through several of them.
//
// Source: Kahn, Topological sorting of large networks, CACM 5 (1962).
func (m *Model) Topological(states *Set) (Topological, bool) {
	indegree := m.indegrees(states) // the number of transitions from states that are not yet ordered
	n := states.Count()
	result := Topological{Order: make([]uint32, 0, n), Start: []int{n}}
	for s := range states.All() {
		if indegree[s] == 0 {
			result.Order = append(result.Order, uint32(s))
		}
	}
	// Build the order from the last state to the first, level by level.
	for levelStart := 0; levelStart < len(result.Order); {
		levelEnd := len(result.Order)
		result.Start = append(result.Start, n-levelEnd)
		for _, s := range result.Order[levelStart:levelEnd] {
			for _, target := range m.successors(int(s)) {
				if target == s {
					continue
				}
				indegree[target]--
				if indegree[target] == 0 && states.Has(int(target)) {
					result.Order = append(result.Order, target)
				}
			}
		}
		levelStart = levelEnd
	}
	slices.Reverse(result.Order)
	slices.Reverse(result.Start)
	return result, len(result.Order) == n
}

// indegrees returns for each state the number of transitions from the given states, without self-loops.
func (m *Model) indegrees(states *Set) []uint32 {
	indegree := make([]uint32, m.NumStates())
	for s := range states.All() {
		for _, target := range m.successors(s) {
			if int(target) != s {
				indegree[target]++
			}
		}
	}
	return indegree
}

// successors returns the targets of all choices of a state.
func (m *Model) successors(s int) []uint32 {
	first, end := m.Choices(s)
	return m.Target[m.Start[first]:m.Start[end]]
}
