package sparse

import "slices"

// Renumber returns the model in which state s has become state number[s]; number must be a permutation.
// The choices of a state, and the transitions of a choice, keep their order. The tables of weights are
// shared.
func (m *Model) Renumber(number []uint32) *Model {
	n := m.NumStates()
	old := make([]uint32, n)
	for s, k := range number {
		old[k] = uint32(s)
	}
	builder := NewDerivedBuilder(m, m.Kind)
	builder.Grow(n, m.NumChoices(), m.NumTransitions())
	var actions []Action
	target := func(i int) uint32 { return number[m.Target[i]] }
	for _, s := range old {
		builder.State()
		first, end := m.Choices(int(s))
		for c := first; c < end; c++ {
			builder.Copy(c, target)
		}
		if m.Actions != nil {
			lo, hi := m.actionRange(first, end)
			actions = append(actions, m.Actions[lo:hi]...)
		}
	}
	out := builder.Finish()
	out.Actions, out.Player = actions, selectEntries(m.Player, old)
	m.renumberAnnotations(out, number, old, builder.Origin)
	return out
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
func renumberSet(s *Set, number []uint32) *Set {
	out := NewSet(s.Len())
	for i := range s.All() {
		out.Add(int(number[i]))
	}
	return out
}

// selectEntries returns a slice whose entry i is x[old[i]]; nil stays nil.
func selectEntries[T any](x []T, indexes []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(indexes))
	for i, j := range indexes {
		out[i] = x[j]
	}
	return out
}
