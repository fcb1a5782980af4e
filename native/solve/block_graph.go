package solve

import "tilecheck/native/space/sparse"

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

// choiceLeadsInto reports whether a choice has a transition into a set and none out of within. differences has the numbers of the targets minus that of
// the state.
func choiceLeadsInto(state int64, differences []int64, set, within *sparse.Set) bool {
	intoSet := false
	for _, difference := range differences {
		target := int(state + difference)
		if within != nil && !within.Has(target) {
			return false
		}
		intoSet = intoSet || set.Has(target)
	}
	return intoSet
}
