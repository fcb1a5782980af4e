package sparse

import "slices"

// Renumber returns the model in which state s has number[s]; number must be a permutation. Choices and
// transitions keep their order; the tables of weights are shared.
func (m *Model) Renumber(number []uint32) *Model {
	n := m.NumStates()
	old := make([]uint32, n)
	for s, k := range number {
		old[k] = uint32(s)
	}
	out := &Model{
		Kind: m.Kind, Weights: m.Weights, Rats: m.Rats, Err: m.Err,
		Start:  make([]uint32, 0, len(m.Start)),
		Target: make([]uint32, 0, len(m.Target)),
		Weight: make([]uint32, 0, len(m.Weight)),
	}
	if m.First != nil {
		out.First = make([]uint32, 0, n+1)
	}
	for _, s := range old {
		first, end := m.Choices(int(s))
		if m.First != nil {
			out.First = append(out.First, uint32(len(out.Start)))
		}
		for c := first; c < end; c++ {
			out.Start = append(out.Start, uint32(len(out.Target)))
			lo, hi := m.Row(c)
			for _, t := range m.Target[lo:hi] {
				out.Target = append(out.Target, number[t])
			}
			out.Weight = append(out.Weight, m.Weight[lo:hi]...)
			if m.High != nil {
				out.High = append(out.High, m.High[lo:hi]...)
			}
		}
		if m.Actions != nil {
			lo, hi := m.actionRange(first, end)
			out.Actions = append(out.Actions, m.Actions[lo:hi]...)
		}
	}
	if m.First != nil {
		out.First = append(out.First, uint32(len(out.Start)))
	}
	out.Start = append(out.Start, uint32(len(out.Target)))
	m.renumberSets(out, number, old)
	return out
}

// actionRange returns the range of Actions for the choices from first to end.
func (m *Model) actionRange(first, end int) (int, int) {
	if m.Kind == MDP {
		return first, end
	}
	return int(m.Start[first]), int(m.Start[end])
}

func (m *Model) renumberSets(out *Model, number, old []uint32) {
	for _, s := range m.Initial {
		out.Initial = append(out.Initial, number[s])
	}
	slices.Sort(out.Initial)
	if m.Deadlocks != nil {
		out.Deadlocks = renumberSet(m.Deadlocks, number)
	}
	for _, l := range m.Labels {
		out.Labels = append(out.Labels, Label{l.Name, renumberSet(l.States, number)})
	}
	choice := m.oldChoices(old)
	for _, r := range m.Rewards {
		out.Rewards = append(out.Rewards, Reward{
			Name: r.Name, Err: r.Err,
			State: permute(r.State, old), Choice: permute(r.Choice, choice),
			StateRat: permute(r.StateRat, old), ChoiceRat: permute(r.ChoiceRat, choice),
		})
	}
}

// oldChoices lists the choices of m in the new order of their states.
func (m *Model) oldChoices(old []uint32) []uint32 {
	if m.First == nil {
		return old
	}
	out := make([]uint32, 0, m.NumChoices())
	for _, s := range old {
		first, end := m.Choices(int(s))
		for c := first; c < end; c++ {
			out = append(out, uint32(c))
		}
	}
	return out
}

func renumberSet(s *Set, number []uint32) *Set {
	out := NewSet(s.Len())
	for i := range s.All() {
		out.Add(int(number[i]))
	}
	return out
}

// permute returns the entries of x in the order of old; nil stays nil.
func permute[T any](x []T, old []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(old))
	for i, j := range old {
		out[i] = x[j]
	}
	return out
}
