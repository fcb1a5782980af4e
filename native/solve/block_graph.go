package solve

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// AddPredecessors adds the predecessors of a set in this block to the set, and reports whether it added any. A predecessor is a state with a choice that has
// a transition into the set; if forAll is true, every choice must have such a transition. If within is not nil, only choices count whose transitions all
// lead into within. States whose value is given are not added.
//
// One call visits each state once. If calls for all blocks are repeated until none adds a state, the set becomes the least fixpoint: all states that can
// (forAll: must be able to) reach the original set.
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

// leadsInto reports whether some choice of a state (every choice, if forAll is true) has a transition into set and no transition out of within. row is the
// position of the state's choices in block.Operands.
func (block *Block) leadsInto(state int64, row uint32, set, within *sparse.Set, forAll bool) bool {
	numChoices := block.Operands[row] // 0 in a deadlock, whose self-loop is not stored
	position := int(row) + 1
	for range numChoices {
		first := position + 2
		position = first + int(block.Operands[first-2])
		leads := choiceLeadsInto(state, block.Operands[first:position], set, within)
		if leads != forAll { // one choice decides: one that leads into the set or, if forAll is true, one that does not
			return leads
		}
	}
	return forAll && numChoices > 0
}

// choiceLeadsInto reports whether a choice has a transition into set and no transition out of within. A nil set contains all states. differences has, for
// each transition, the number of its target minus the number of the state.
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

// AddEarning adds to a set each state of the block that has a choice with a positive reward. If within is not nil, only choices count whose transitions all
// lead into within. States whose value is given are not added.
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

// RemoveEarning removes from a set each state of the block that cannot stay in the set for one step without reward, and reports whether it removed any. A
// state can stay if it has a choice with reward 0 whose transitions all lead into the set. If ignoreLoops is true, a choice that only has self-loops does
// not count.
//
// If calls for all blocks are repeated until none removes a state, the set becomes the greatest fixpoint: the states that can stay forever without reward.
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

// hasChoice reports whether condition holds for some choice of state First+index. The condition gets the reward of the choice and, for each transition, the
// number of its target minus the number of the state. A deadlock has one choice, its self-loop.
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
