package sparse

// Restrict returns the MDP restricted to a set of choices, which must contain at least one of every state.
// States keep their numbers and choices their order; the tables of weights are shared.
func (m *Model) Restrict(choices *Set) *Model {
	out := &Model{
		Kind: m.Kind, Weights: m.Weights, Rats: m.Rats, Err: m.Err,
		Initial: m.Initial, Deadlocks: m.Deadlocks, Labels: m.Labels,
		First: make([]uint32, 0, len(m.First)),
	}
	var kept []uint32
	for s := range m.NumStates() {
		out.First = append(out.First, uint32(len(kept)))
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if !choices.Has(c) {
				continue
			}
			kept = append(kept, uint32(c))
			out.Start = append(out.Start, uint32(len(out.Target)))
			lo, hi := m.Row(c)
			out.Target = append(out.Target, m.Target[lo:hi]...)
			out.Weight = append(out.Weight, m.Weight[lo:hi]...)
			if m.High != nil {
				out.High = append(out.High, m.High[lo:hi]...)
			}
		}
	}
	out.First = append(out.First, uint32(len(kept)))
	out.Start = append(out.Start, uint32(len(out.Target)))
	out.Actions = permute(m.Actions, kept)
	for _, r := range m.Rewards {
		r.Choice, r.ChoiceRat = permute(r.Choice, kept), permute(r.ChoiceRat, kept)
		out.Rewards = append(out.Rewards, r)
	}
	return out
}
