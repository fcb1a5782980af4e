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
	Reason string
}

func (e *MistakeError) Error() string {
	return fmt.Sprintf("states %d and %d are in one block, and %s", e.States[0], e.States[1], e.Reason)
}

// Check returns a *MistakeError unless the partition is a bisimulation that refines the partition initial. It compares each state with the first state of
// its block, in rational arithmetic. It returns ErrInexact if the model is not exact, or the error of the context.
func (partition *Partition) Check(ctx context.Context, model *sparse.Model, initial []uint32, rewards []*sparse.Reward) error {
	if !model.Exact() || model.Intervals() {
		return ErrInexact
	}
	for state := range model.NumStates() {
		if state%pollInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first := int(partition.First[partition.Block[state]])
		if partition.Block[first] != partition.Block[state] || initial[first] != initial[state] {
			return &MistakeError{[2]int{first, state}, "the property distinguishes them"}
		}
		if first == state {
			continue
		}
		if why := partition.difference(model, first, state, rewards); why != "" {
			return &MistakeError{[2]int{first, state}, why}
		}
	}
	return nil
}

// difference returns "" if two states have equal rewards and equivalent choices. Otherwise it returns the reason why they are not bisimilar, as a clause of
// an error message.
func (partition *Partition) difference(model *sparse.Model, first, second int, rewards []*sparse.Reward) string {
	for _, reward := range rewards {
		if !areEqual(fractionAt(reward.StateFractions, first), fractionAt(reward.StateFractions, second)) {
			return "they have different rewards"
		}
	}
	if !partition.matchesChoices(model, first, second, rewards) || !partition.matchesChoices(model, second, first, rewards) {
		return "one has a choice without an equivalent choice of the other"
	}
	return ""
}

// matchesChoices reports whether each choice of firstState is equivalent to some choice of secondState.
func (partition *Partition) matchesChoices(model *sparse.Model, firstState, secondState int, rewards []*sparse.Reward) bool {
	first, end := model.Choices(firstState)
	for choice := first; choice < end; choice++ {
		if !partition.hasEquivalentChoice(model, secondState, choice, rewards) {
			return false
		}
	}
	return true
}

// hasEquivalentChoice reports whether some choice of a state is equivalent to the given choice, which belongs to another state.
func (partition *Partition) hasEquivalentChoice(model *sparse.Model, state, choice int, rewards []*sparse.Reward) bool {
	first, end := model.Choices(state)
	for candidate := first; candidate < end; candidate++ {
		if partition.equivalentChoices(model, choice, candidate, rewards) {
			return true
		}
	}
	return false
}

// equivalentChoices reports whether two choices have equal rewards, and the same probability to move to each block.
func (partition *Partition) equivalentChoices(model *sparse.Model, choice, other int, rewards []*sparse.Reward) bool {
	for _, reward := range rewards {
		if !areEqual(fractionAt(reward.ChoiceFractions, choice), fractionAt(reward.ChoiceFractions, other)) {
			return false
		}
	}
	return maps.EqualFunc(partition.blockWeights(model, choice), partition.blockWeights(model, other), areEqual)
}

// blockWeights returns, for each block to which a choice leads, the sum of the weights of the transitions into this block.
func (partition *Partition) blockWeights(model *sparse.Model, choice int) map[uint32]*big.Rat {
	sums := map[uint32]*big.Rat{}
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		block := partition.Block[model.Target[transition]]
		if sums[block] == nil {
			sums[block] = new(big.Rat)
		}
		sums[block].Add(sums[block], model.Fraction(transition))
	}
	return sums
}

// fractionAt returns values[i], and 0 if values or the entry is nil.
func fractionAt(values []*big.Rat, i int) *big.Rat {
	if values == nil || values[i] == nil {
		return new(big.Rat)
	}
	return values[i]
}

// areEqual reports whether two fractions are equal.
func areEqual(left, right *big.Rat) bool { return left.Cmp(right) == 0 }
