package sparse

// Restrict returns the MDP with the given choices only. They must contain at least one of every state.
// States keep their numbers and choices their order; the tables of weights are shared.
func (m *Model) Restrict(choices *Set) *Model {
	b := NewDerivedBuilder(m, m.Kind)
	same := func(i int) uint32 { return m.Target[i] }
	for s := range m.NumStates() {
		b.State()
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if choices.Has(c) {
				b.Copy(c, same)
			}
		}
	}
	out, kept := b.Finish(), b.Origin
	out.Initial, out.Deadlocks, out.Labels = m.Initial, m.Deadlocks, m.Labels
	out.Actions, out.Player = selectEntries(m.Actions, kept), m.Player
	for _, r := range m.Rewards {
		r.Choice, r.ChoiceRat = selectEntries(r.Choice, kept), selectEntries(r.ChoiceRat, kept)
		out.Rewards = append(out.Rewards, r)
	}
	return out
}
