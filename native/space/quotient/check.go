package quotient

import (
	"context"
	"fmt"
	"maps"
	"math/big"

	"tilecheck/native/space/sparse"
)

// MistakeError says that a partition is not a bisimulation, because two states of a block differ. Why is the
// difference, as a clause of the message.
type MistakeError struct {
	States [2]int
	Why    string
}

func (e *MistakeError) Error() string {
	return fmt.Sprintf("states %d and %d are in one block, and %s", e.States[0], e.States[1], e.Why)
}

// Check returns a *MistakeError unless the partition is a bisimulation that refines the initial one. It
// compares every state with the first state of its block, in rational arithmetic. Other errors are the context's
// and ErrInexact.
func (p *Partition) Check(ctx context.Context, model *sparse.Model, initial []uint32, rewards []*sparse.Reward) error {
	if !model.Exact() || model.Intervals() {
		return ErrInexact
	}
	for s := range model.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first := int(p.First[p.Block[s]])
		if p.Block[first] != p.Block[s] || initial[first] != initial[s] {
			return &MistakeError{[2]int{first, s}, "the property distinguishes them"}
		}
		if first == s {
			continue
		}
		if why := p.difference(model, first, s, rewards); why != "" {
			return &MistakeError{[2]int{first, s}, why}
		}
	}
	return nil
}

// difference returns the reason why two states are not bisimilar, or "" if they are.
func (p *Partition) difference(model *sparse.Model, first, second int, rewards []*sparse.Reward) string {
	for _, reward := range rewards {
		if !equalRats(entry(reward.StateRat, first), entry(reward.StateRat, second)) {
			return "they have different rewards"
		}
	}
	if !p.simulates(model, first, second, rewards) || !p.simulates(model, second, first, rewards) {
		return "one has a choice without an equivalent choice of the other"
	}
	return ""
}

// simulates reports whether a second state has an equivalent choice for each choice of the first state.
func (p *Partition) simulates(model *sparse.Model, firstState, secondState int, rewards []*sparse.Reward) bool {
	first, end := model.Choices(firstState)
	for c := first; c < end; c++ {
		if !p.hasEquivalentChoice(model, secondState, c, rewards) {
			return false
		}
	}
	return true
}

// hasEquivalentChoice reports whether state s has a choice that is equivalent to choice c of another state.
func (p *Partition) hasEquivalentChoice(model *sparse.Model, s, c int, rewards []*sparse.Reward) bool {
	first, end := model.Choices(s)
	for candidate := first; candidate < end; candidate++ {
		if p.equivalentChoices(model, c, candidate, rewards) {
			return true
		}
	}
	return false
}

// equivalentChoices reports whether two choices have the same rewards and lead to every block with the
// same probability.
func (p *Partition) equivalentChoices(model *sparse.Model, choice, other int, rewards []*sparse.Reward) bool {
	for _, reward := range rewards {
		if !equalRats(entry(reward.ChoiceRat, choice), entry(reward.ChoiceRat, other)) {
			return false
		}
	}
	return maps.EqualFunc(p.blockWeights(model, choice), p.blockWeights(model, other), equalRats)
}

// blockWeights returns the sum of the weights with which a choice leads to each block.
func (p *Partition) blockWeights(model *sparse.Model, choice int) map[uint32]*big.Rat {
	sums := map[uint32]*big.Rat{}
	first, end := model.Row(choice)
	for i := first; i < end; i++ {
		block := p.Block[model.Target[i]]
		if sums[block] == nil {
			sums[block] = new(big.Rat)
		}
		sums[block].Add(sums[block], model.Rat(i))
	}
	return sums
}

// entry returns values[i], and 0 if values or the entry is nil.
func entry(values []*big.Rat, i int) *big.Rat {
	if values == nil || values[i] == nil {
		return new(big.Rat)
	}
	return values[i]
}

// equalRats reports whether two fractions are equal.
func equalRats(left, right *big.Rat) bool { return left.Cmp(right) == 0 }
