package solve

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// AddPredecessors adds states of the block to a set: a state with some choice that has a transition into the set. If forAll is true, every choice must have
// one. If within is not nil, the choice must also have all its transitions within that set. States whose value is given are not added. It reports
// whether a state was added.
//
// The states are visited once, in the order of sweeps. A caller repeats the call, for all blocks, until none adds a state: then the set is the least
// fixpoint.
func (block *Block) AddPredecessors(set, within *sparse.Set, forAll bool) (added bool) {
	block.forEachState(func(i int, row uint32) {
		state := block.First + int64(i)
		if !set.Has(int(state)) && block.leadsInto(state, row, set, within, forAll) {
			set.Add(int(state))
			added = true
		}
	})
	return added
}

// leadsInto reports whether some choice of a state, or every one if forAll is true, has a transition into a set and none out of within.
func (block *Block) leadsInto(state int64, row uint32, set, within *sparse.Set, forAll bool) bool {
	numChoices := block.Operands[row] // 0 in a deadlock, whose self-loop is not stored
	position := int(row) + 1
	for range numChoices {
		first := position + 2
		position = first + int(block.Operands[first-2])
		if leads := choiceLeadsInto(state, block.Operands[first:position], set, within); leads != forAll {
			return leads
		}
	}
	return forAll && numChoices > 0
}

// choiceLeadsInto reports whether a choice has a transition into a set and none out of within. A set that is nil has all states. differences has the
// numbers of the targets minus that of the state.
func choiceLeadsInto(state int64, differences []int64, set, within *sparse.Set) bool {
	intoSet := false
	for _, difference := range differences {
		target := int(state + difference)
		if within != nil && !within.Has(target) {
			return false
		}
		intoSet = intoSet || set == nil || set.Has(target)
	}
	return intoSet
}

// AddEarning adds to a set the states of the block that have a choice with a positive reward. If within is not nil, all transitions of the choice must stay
// within that set. States whose value is given are not added.
func (block *Block) AddEarning(set, within *sparse.Set) {
	block.forEachState(func(i int, row uint32) {
		state := block.First + int64(i)
		if block.hasChoice(i, row, func(reward float64, differences []int64) bool {
			return reward > 0 && choiceLeadsInto(state, differences, nil, within)
		}) {
			set.Add(int(state))
		}
	})
}

// RemoveEarning removes from a set the states of the block that cannot stay in the set for one step without a reward: no choice has the reward 0 and all its
// transitions within the set. If ignoreLoops is true, a choice that only leads back to its state does not count. It reports whether a state was removed.
//
// If a caller repeats the call, for all blocks, until none removes a state, then the set is the greatest fixpoint.
func (block *Block) RemoveEarning(set *sparse.Set, ignoreLoops bool) (removed bool) {
	block.forEachState(func(i int, row uint32) {
		state := block.First + int64(i)
		if set.Has(int(state)) && !block.hasChoice(i, row, func(reward float64, differences []int64) bool {
			onlyLoops := ignoreLoops && !slices.ContainsFunc(differences, func(difference int64) bool { return difference != 0 })
			return reward == 0 && !onlyLoops && choiceLeadsInto(state, differences, nil, set)
		}) {
			set.Remove(int(state))
			removed = true
		}
	})
	return removed
}

// hasChoice reports whether a condition holds for some choice of state First+index. differences has the numbers of the targets minus that of the state. The
// self-loop of a deadlock counts as a choice.
func (block *Block) hasChoice(index int, row uint32, condition func(reward float64, differences []int64) bool) bool {
	rewards := block.Rewards[block.FirstReward[index]:]
	numChoices := block.Operands[row]
	if numChoices == 0 {
		return condition(rewards[0], []int64{0})
	}
	position := int(row) + 1
	for choice := range numChoices {
		first := position + 2
		position = first + int(block.Operands[first-2])
		if condition(rewards[choice], block.Operands[first:position]) {
			return true
		}
	}
	return false
}
