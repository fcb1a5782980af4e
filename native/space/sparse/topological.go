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
	indegree := make([]uint32, m.NumStates()) // number of incoming transitions from unordered states
	for s := range states.All() {
		for _, target := range m.successors(s) {
			if int(target) != s {
				indegree[target]++
			}
		}
	}
	n := states.Count()
	out := Topological{Order: make([]uint32, 0, n), Start: []int{n}}
	for s := range states.All() {
		if indegree[s] == 0 {
			out.Order = append(out.Order, uint32(s))
		}
	}
	for i, end := 0, 0; i < len(out.Order); i++ {
		if i == end {
			end = len(out.Order)
			out.Start = append(out.Start, n-end)
		}
		s := out.Order[i]
		for _, target := range m.successors(int(s)) {
			if target == s {
				continue
			}
			indegree[target]--
			if indegree[target] == 0 && states.Has(int(target)) {
				out.Order = append(out.Order, target)
			}
		}
	}
	slices.Reverse(out.Order)
	slices.Reverse(out.Start)
	return out, len(out.Order) == n
}

// successors returns the targets of all choices of a state.
func (m *Model) successors(s int) []uint32 {
	first, end := m.Choices(s)
	return m.Target[m.Start[first]:m.Start[end]]
}
