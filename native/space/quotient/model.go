package quotient

import (
	"maps"
	"slices"

	"tilecheck/native/space/sparse"
)

// Model returns the quotient: its states are the blocks, with the choices of their first states. Of several
// equivalent choices only the first is kept. The second result is the choice of m for each choice of the quotient.
// Initial states, deadlocks and labels are copied, and must not distinguish states of a block; rewards
// are not copied.
func (p *Partition) Model(model *sparse.Model, rewards []*sparse.Reward) (*sparse.Model, []uint32, error) {
	builder := sparse.NewBuilder(model.Kind)
	var kept []uint32
	for _, s := range p.First {
		builder.State()
		first, end := model.Choices(int(s))
		firstKept := len(kept)
		for c := first; c < end; c++ {
			equivalent := func(d uint32) bool { return p.equivalentChoices(model, c, int(d), rewards) }
			if slices.ContainsFunc(kept[firstKept:], equivalent) {
				continue
			}
			kept = append(kept, uint32(c))
			if model.Kind == sparse.MDP {
				action := sparse.NoAction
				if model.Actions != nil {
					action = model.Actions[c]
				}
				builder.Choice(action)
			}
			p.addRow(builder, model, c)
		}
	}
	out, err := builder.Finish()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range model.Initial {
		out.Initial = append(out.Initial, p.Block[s])
	}
	slices.Sort(out.Initial)
	out.Initial = slices.Compact(out.Initial)
	if model.Deadlocks != nil {
		out.Deadlocks = sparse.NewSet(len(p.First))
		for s := range model.Deadlocks.All() {
			out.Deadlocks.Add(int(p.Block[s]))
		}
	}
	for _, label := range model.Labels {
		set := sparse.NewSet(len(p.First))
		for i, s := range p.First {
			if label.States.Has(int(s)) {
				set.Add(i)
			}
		}
		out.Labels = append(out.Labels, sparse.Label{Name: label.Name, States: set})
	}
	return out, kept, nil
}

// addRow adds the transitions of choice c of m, with blocks as targets. It adds up the weights to each block.
func (p *Partition) addRow(builder *sparse.Builder, model *sparse.Model, c int) {
	sums := p.blockWeights(model, c)
	for _, block := range slices.Sorted(maps.Keys(sums)) {
		builder.AddRat(int(block), sums[block], sparse.NoAction)
	}
}

// Reward translates a reward structure of the model to the quotient. kept has the choice of the model for each
// choice of the quotient, as Model returns it.
func (p *Partition) Reward(reward *sparse.Reward, kept []uint32) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, Err: reward.Err, Unfit: reward.Unfit,
		State: selectEntries(reward.State, p.First), StateRat: selectEntries(reward.StateRat, p.First),
		Choice: selectEntries(reward.Choice, kept), ChoiceRat: selectEntries(reward.ChoiceRat, kept),
	}
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
