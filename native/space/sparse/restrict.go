package sparse

// Restrict returns the MDP with the given choices only. They must contain at least one of every state.
// States keep their numbers and choices their order; the tables of weights are shared.
func (m *Model) Restrict(choices *Set) *Model {
	builder := NewDerivedBuilder(m, m.Kind)
	sameTarget := func(i int) uint32 { return m.Target[i] }
	for s := range m.NumStates() {
		builder.State()
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if choices.Has(c) {
				builder.Copy(c, sameTarget)
			}
		}
	}
	restricted, kept := builder.Finish(), builder.Origin
	restricted.Initial, restricted.Deadlocks, restricted.Labels = m.Initial, m.Deadlocks, m.Labels
	restricted.Actions, restricted.Player = SelectEntries(m.Actions, kept), m.Player
	for _, reward := range m.Rewards {
		reward.Choice, reward.ChoiceRat = SelectEntries(reward.Choice, kept), SelectEntries(reward.ChoiceRat, kept)
		restricted.Rewards = append(restricted.Rewards, reward)
	}
	return restricted
}
