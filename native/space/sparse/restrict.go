package sparse

// Restrict returns the MDP with the given choices only. Every state must have at least one of them. States keep
// their numbers, and choices keep their order. The models share the tables of weights.
func (model *Model) Restrict(choices *Set) *Model {
	builder := NewDerivedBuilder(model, model.Kind)
	sameTarget := func(i int) uint32 { return model.Target[i] }
	for state := range model.NumStates() {
		builder.State()
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			if choices.Has(choice) {
				builder.Copy(choice, sameTarget)
			}
		}
	}
	restricted, keptChoices := builder.Finish(), builder.Origin
	restricted.Initial, restricted.Deadlocks, restricted.Labels = model.Initial, model.Deadlocks, model.Labels
	restricted.Actions, restricted.Player = SelectEntries(model.Actions, keptChoices), model.Player
	for _, reward := range model.Rewards {
		reward.Choice, reward.ChoiceFractions = SelectEntries(reward.Choice, keptChoices), SelectEntries(reward.ChoiceFractions, keptChoices)
		restricted.Rewards = append(restricted.Rewards, reward)
	}
	return restricted
}
