package sparse

import "slices"

// Topological are states in an order in which every transition from one of them
// to another one leads to an earlier one.
type Topological struct {
	Order []uint32
	// Start divides the order: no transition leads from one of the states
	// Order[Start[i]:Start[i+1]] to another one.
	Start []int
}

// Topological orders states. It reports false if there is no such order: there is
// a cycle through several of them.
//
// Source: Kahn, Topological sorting of large networks, CACM 5 (1962).
func (m *Model) Topological(states *Set) (Topological, bool) {
	waiting := make([]uint32, m.NumStates()) // for so many transitions to be followed
	for s := range states.All() {
		for _, t := range m.successors(s) {
			if int(t) != s {
				waiting[t]++
			}
		}
	}
	n := states.Count()
	out := Topological{Order: make([]uint32, 0, n), Start: []int{n}}
	for s := range states.All() {
		if waiting[s] == 0 {
			out.Order = append(out.Order, uint32(s))
		}
	}
	for i, end := 0, 0; i < len(out.Order); i++ {
		if i == end {
			end = len(out.Order)
			out.Start = append(out.Start, n-end)
		}
		s := out.Order[i]
		for _, t := range m.successors(int(s)) {
			if t == s {
				continue
			}
			if waiting[t]--; waiting[t] == 0 && states.Has(int(t)) {
				out.Order = append(out.Order, t)
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
