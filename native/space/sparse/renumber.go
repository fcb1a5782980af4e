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
	renumbered.Actions, renumbered.Player = m.reorderActions(old), selectEntries(m.Player, old)
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

// renumberAnnotations translates the initial states, deadlocks, labels and rewards of m to out. number has the new
// number of each state; old and choice have the old numbers of each new state and of each new choice.
func (m *Model) renumberAnnotations(out *Model, number, old, choice []uint32) {
	for _, s := range m.Initial {
		out.Initial = append(out.Initial, number[s])
	}
	slices.Sort(out.Initial)
	if m.Deadlocks != nil {
		out.Deadlocks = renumberSet(m.Deadlocks, number)
	}
	for _, label := range m.Labels {
		out.Labels = append(out.Labels, Label{label.Name, renumberSet(label.States, number)})
	}
	for _, reward := range m.Rewards {
		out.Rewards = append(out.Rewards, Reward{
			Name: reward.Name, Err: reward.Err,
			State: selectEntries(reward.State, old), Choice: selectEntries(reward.Choice, choice),
			StateRat: selectEntries(reward.StateRat, old), ChoiceRat: selectEntries(reward.ChoiceRat, choice),
		})
	}
}

// renumberSet returns the set of number[i] for the members i of s.
func renumberSet(set *Set, number []uint32) *Set {
	out := NewSet(set.Len())
	for i := range set.All() {
		out.Add(int(number[i]))
	}
	return out
}

// selectEntries returns a slice whose entry i is values[indices[i]]; nil stays nil.
func selectEntries[T any](values []T, indices []uint32) []T {
	if values == nil {
		return nil
	}
	selected := make([]T, len(indices))
	for i, index := range indices {
		selected[i] = values[index]
	}
	return selected
}
