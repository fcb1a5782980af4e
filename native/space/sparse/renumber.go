package sparse

import "slices"

// Renumber returns the model in which state s has the number number[s]. number must be a permutation. The choices of a state, and the
// transitions of a choice, stay in the same order. Both models share the tables of weights.
func (model *Model) Renumber(number []uint32) *Model {
	oldNumber := make([]uint32, len(number)) // the inverse of number: the old number of each new state
	for state, newNumber := range number {
		oldNumber[newNumber] = uint32(state)
	}
	builder := NewDerivedBuilder(model, model.Kind)
	builder.Grow(model.NumStates(), model.NumChoices(), model.NumTransitions())
	target := func(i int) uint32 { return number[model.Target[i]] }
	for _, state := range oldNumber {
		builder.State()
		first, end := model.Choices(int(state))
		for choice := first; choice < end; choice++ {
			builder.Copy(choice, target)
		}
	}
	renumbered := builder.Finish()
	renumbered.Actions, renumbered.Player = model.reorderActions(oldNumber), SelectEntries(model.Player, oldNumber)
	model.renumberAnnotations(renumbered, number, oldNumber, builder.Origin)
	return renumbered
}

// reorderActions returns the actions of the choices or transitions of all states, if the states are put into the given order. It returns nil if the model
// has no actions.
func (model *Model) reorderActions(states []uint32) []Action {
	if model.Actions == nil {
		return nil
	}
	actions := make([]Action, 0, len(model.Actions))
	for _, state := range states {
		first, end := model.actionRange(model.Choices(int(state)))
		actions = append(actions, model.Actions[first:end]...)
	}
	return actions
}

// actionRange returns the range of Actions for the choices from first to end.
func (model *Model) actionRange(first, end int) (int, int) {
	if model.Kind == MDP {
		return first, end
	}
	return int(model.FirstTransition[first]), int(model.FirstTransition[end])
}

// renumberAnnotations copies the initial states, deadlocks, labels and rewards to a renumbered model. number has the new number of each old
// state; oldStates and oldChoices have the old numbers of the new states and choices.
func (model *Model) renumberAnnotations(renumbered *Model, number, oldStates, oldChoices []uint32) {
	for _, state := range model.Initial {
		renumbered.Initial = append(renumbered.Initial, number[state])
	}
	slices.Sort(renumbered.Initial)
	if model.Deadlocks != nil {
		renumbered.Deadlocks = renumberSet(model.Deadlocks, number)
	}
	for _, label := range model.Labels {
		renumbered.Labels = append(renumbered.Labels, Label{label.Name, renumberSet(label.States, number)})
	}
	for _, reward := range model.Rewards {
		renumbered.Rewards = append(renumbered.Rewards, Reward{
			Name: reward.Name, RelErr: reward.RelErr,
			State: SelectEntries(reward.State, oldStates), Choice: SelectEntries(reward.Choice, oldChoices),
			StateFractions: SelectEntries(reward.StateFractions, oldStates), ChoiceFractions: SelectEntries(reward.ChoiceFractions, oldChoices),
		})
	}
}

// renumberSet returns the set that has number[i] for each member i of a set.
func renumberSet(set *Set, number []uint32) *Set {
	renumbered := NewSet(set.Len())
	for i := range set.All() {
		renumbered.Add(int(number[i]))
	}
	return renumbered
}

// SelectEntries returns a slice with the entry values[indices[i]] at each index i. If values is nil, it returns nil.
func SelectEntries[T any](values []T, indices []uint32) []T {
	if values == nil {
		return nil
	}
	selected := make([]T, len(indices))
	for i, index := range indices {
		selected[i] = values[index]
	}
	return selected
}
