package sparse

// Restrict returns the MDP with the given choices only. They must contain at least one of every state.
// States keep their numbers and choices their order; the tables of weights are shared.
func (m *Model) Restrict(choices *Set) *Model {
	builder := NewDerivedBuilder(m, m.Kind)
	same := func(i int) uint32 { return m.Target[i] }
	for s := range m.NumStates() {
		builder.State()
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if choices.Has(c) {
				builder.Copy(c, same)
			}
		}
	}
	out, kept := builder.Finish(), builder.Origin
	out.Initial, out.Deadlocks, out.Labels = m.Initial, m.Deadlocks, m.Labels
	out.Actions, out.Player = selectEntries(m.Actions, kept), m.Player
	for _, reward := range m.Rewards {
		reward.Choice, reward.ChoiceRat = selectEntries(reward.Choice, kept), selectEntries(reward.ChoiceRat, kept)
		out.Rewards = append(out.Rewards, reward)
	}
	return out
}
