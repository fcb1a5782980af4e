package sparse

// Restrict returns the MDP with the given choices only. Every state must have at least one of them. States keep
// their numbers, and choices keep their order. The models share the tables of weights.
func (m *Model) Restrict(choices *Set) *Model {
	builder := NewDerivedBuilder(m, m.Kind)
	sameTarget := func(i int) uint32 { return m.Target[i] }
	for state := range m.NumStates() {
		builder.State()
		first, end := m.Choices(state)
		for choice := first; choice < end; choice++ {
			if choices.Has(choice) {
				builder.Copy(choice, sameTarget)
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
