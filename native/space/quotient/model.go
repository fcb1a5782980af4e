package quotient

import (
	"maps"
	"slices"

	"tilecheck/native/space/sparse"
)

// Model returns the quotient. Its states are the blocks, with the choices of their first states; of several
// equivalent choices it keeps the first. The second result has, for each choice of the quotient, the choice of the
// model. Initial states, deadlocks and labels are copied, and must not distinguish states of a block; rewards
// are not copied.
func (p *Partition) Model(model *sparse.Model, rewards []*sparse.Reward) (*sparse.Model, []uint32, error) {
	builder := sparse.NewBuilder(model.Kind)
	var kept []uint32
	for _, s := range p.First {
		builder.State()
		first, end := model.Choices(int(s))
		firstKept := len(kept)
		for c := first; c < end; c++ {
			isEquivalent := func(other uint32) bool { return p.equivalentChoices(model, c, int(other), rewards) }
			if !slices.ContainsFunc(kept[firstKept:], isEquivalent) {
				kept = append(kept, uint32(c))
				p.addChoice(builder, model, c)
			}
		}
	}
	quotient, err := builder.Finish()
	if err != nil {
		return nil, nil, err
	}
	p.copySets(quotient, model)
	return quotient, kept, nil
}

// copySets copies the initial states, the deadlocks and the labels of a model to its quotient.
func (p *Partition) copySets(quotient, model *sparse.Model) {
	for _, s := range model.Initial {
		quotient.Initial = append(quotient.Initial, p.Block[s])
	}
	slices.Sort(quotient.Initial)
	quotient.Initial = slices.Compact(quotient.Initial)
	if model.Deadlocks != nil {
		quotient.Deadlocks = sparse.NewSet(len(p.First))
		for s := range model.Deadlocks.All() {
			quotient.Deadlocks.Add(int(p.Block[s]))
		}
	}
	for _, label := range model.Labels {
		set := sparse.NewSet(len(p.First))
		for block, first := range p.First {
			if label.States.Has(int(first)) {
				set.Add(block)
			}
		}
		quotient.Labels = append(quotient.Labels, sparse.Label{Name: label.Name, States: set})
	}
}

// addChoice adds a choice of the model, with blocks as targets. It adds up the weights to each block.
func (p *Partition) addChoice(builder *sparse.Builder, model *sparse.Model, choice int) {
	if model.Kind == sparse.MDP {
		action := sparse.NoAction
		if model.Actions != nil {
			action = model.Actions[choice]
		}
		builder.Choice(action)
	}
	sums := p.blockWeights(model, choice)
	for _, block := range slices.Sorted(maps.Keys(sums)) {
		builder.AddRat(int(block), sums[block], sparse.NoAction)
	}
}

// Reward translates a reward structure of the model to the quotient. kept has the choice of the model for each
// choice of the quotient, as Model returns it.
func (p *Partition) Reward(reward *sparse.Reward, kept []uint32) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, Err: reward.Err, Unfit: reward.Unfit,
		State: sparse.SelectEntries(reward.State, p.First), StateRat: sparse.SelectEntries(reward.StateRat, p.First),
		Choice: sparse.SelectEntries(reward.Choice, kept), ChoiceRat: sparse.SelectEntries(reward.ChoiceRat, kept),
	}
}
