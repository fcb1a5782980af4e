package sparse

import "slices"

// Renumber returns the model in which state s has become state number[s]; number must be a permutation.
// The choices of a state, and the transitions of a choice, keep their order. The tables of weights are
// shared.
func (m *Model) Renumber(number []uint32) *Model {
	old := make([]uint32, len(number)) // the old number of each new state
	for s, newNumber := range number {
		old[newNumber] = uint32(s)
	}
	builder := NewDerivedBuilder(m, m.Kind)
	builder.Grow(m.NumStates(), m.NumChoices(), m.NumTransitions())
	target := func(i int) uint32 { return number[m.Target[i]] }
	for _, s := range old {
		builder.State()
		first, end := m.Choices(int(s))
		for c := first; c < end; c++ {
			builder.Copy(c, target)
		}
	}
	renumbered := builder.Finish()
	renumbered.Actions, renumbered.Player = m.reorderActions(old), SelectEntries(m.Player, old)
	m.renumberAnnotations(renumbered, number, old, builder.Origin)
	return renumbered
}

// reorderActions returns the actions of the given states, in their order; nil if there are no actions.
func (m *Model) reorderActions(states []uint32) []Action {
	if m.Actions == nil {
		return nil
	}
	actions := make([]Action, 0, len(m.Actions))
	for _, s := range states {
		first, end := m.actionRange(m.Choices(int(s)))
		actions = append(actions, m.Actions[first:end]...)
	}
	return actions
}

// actionRange returns the range of Actions for the choices from first to end.
func (m *Model) actionRange(first, end int) (int, int) {
	if m.Kind == MDP {
		return first, end
	}
	return int(m.Start[first]), int(m.Start[end])
}

// renumberAnnotations translates the initial states, deadlocks, labels and rewards to a renumbered model. number has the new
// number of each state; old and choice have the old numbers of each new state and of each new choice.
func (m *Model) renumberAnnotations(renumbered *Model, number, old, choice []uint32) {
	for _, s := range m.Initial {
		renumbered.Initial = append(renumbered.Initial, number[s])
	}
	slices.Sort(renumbered.Initial)
	if m.Deadlocks != nil {
		renumbered.Deadlocks = renumberSet(m.Deadlocks, number)
	}
	for _, label := range m.Labels {
		renumbered.Labels = append(renumbered.Labels, Label{label.Name, renumberSet(label.States, number)})
	}
	for _, reward := range m.Rewards {
		renumbered.Rewards = append(renumbered.Rewards, Reward{
			Name: reward.Name, Err: reward.Err,
			State: SelectEntries(reward.State, old), Choice: SelectEntries(reward.Choice, choice),
			StateRat: SelectEntries(reward.StateRat, old), ChoiceRat: SelectEntries(reward.ChoiceRat, choice),
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

// SelectEntries returns a slice whose entry i is values[indices[i]]; nil stays nil.
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
