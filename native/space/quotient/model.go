package quotient

import (
	"maps"
	"slices"

	"tilecheck/native/space/sparse"
)

// Model returns the quotient. Its states are the blocks, in which the first state of a block gives the choices; it keeps one of several equivalent choices.
// origins[c] is the choice of the model from which choice c of the quotient comes.
//
// Initial states, deadlocks and labels are copied. They must not distinguish states of a block. Rewards are not copied.
func (partition *Partition) Model(model *sparse.Model, rewards []*sparse.Reward) (quotient *sparse.Model, origins []uint32, err error) {
	builder := sparse.NewBuilder(model.Kind)
	for _, state := range partition.First {
		builder.State()
		first, end := model.Choices(int(state))
		firstOrigin := len(origins)
		for choice := first; choice < end; choice++ {
			isEquivalent := func(other uint32) bool { return partition.equivalentChoices(model, choice, int(other), rewards) }
			if !slices.ContainsFunc(origins[firstOrigin:], isEquivalent) {
				origins = append(origins, uint32(choice))
				partition.addChoice(builder, model, choice)
			}
		}
	}
	quotient, err = builder.Finish()
	if err != nil {
		return nil, nil, err
	}
	partition.copySets(quotient, model)
	return quotient, origins, nil
}

// copySets copies the initial states, the deadlocks and the labels of a model to its quotient.
func (partition *Partition) copySets(quotient, model *sparse.Model) {
	for _, state := range model.Initial {
		quotient.Initial = append(quotient.Initial, partition.Block[state])
	}
	slices.Sort(quotient.Initial)
	quotient.Initial = slices.Compact(quotient.Initial)
	if model.Deadlocks != nil {
		quotient.Deadlocks = sparse.NewSet(len(partition.First))
		for state := range model.Deadlocks.All() {
			quotient.Deadlocks.Add(int(partition.Block[state]))
		}
	}
	for _, label := range model.Labels {
		set := sparse.NewSet(len(partition.First))
		for block, first := range partition.First {
			if label.States.Has(int(first)) {
				set.Add(block)
			}
		}
		quotient.Labels = append(quotient.Labels, sparse.Label{Name: label.Name, States: set})
	}
}

// addChoice adds a choice of the model to the quotient. It replaces targets by their blocks, and adds the weights of transitions into the same block.
func (partition *Partition) addChoice(builder *sparse.Builder, model *sparse.Model, choice int) {
	if model.Kind == sparse.MDP {
		action := sparse.NoAction
		if model.Actions != nil {
			action = model.Actions[choice]
		}
		builder.Choice(action)
	}
	sums := partition.blockWeights(model, choice)
	for _, block := range slices.Sorted(maps.Keys(sums)) {
		builder.AddRat(int(block), sums[block], sparse.NoAction)
	}
}

// Reward translates a reward structure of the model to the quotient. origins has the choice of the model for each
// choice of the quotient.
func (partition *Partition) Reward(reward *sparse.Reward, origins []uint32) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, RelErr: reward.RelErr, RangeErr: reward.RangeErr,
		State: sparse.SelectEntries(reward.State, partition.First), StateFractions: sparse.SelectEntries(reward.StateFractions, partition.First),
		Choice: sparse.SelectEntries(reward.Choice, origins), ChoiceFractions: sparse.SelectEntries(reward.ChoiceFractions, origins),
	}
}
