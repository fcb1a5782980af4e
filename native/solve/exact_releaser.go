package solve

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// exactReleaser frees fractions that no equation needs any more.
type exactReleaser struct {
	system      *equationSystem
	keptStates  *sparse.Set
	openUses    []uint32 // of each state: transitions to it from unsolved states
	placeholder *big.Rat // replaces released fractions
}

// newExactReleaser returns a releaser, which frees the exact values of states that are not needed any more, while the given states are solved. The values of
// keptStates are kept. It returns nil if all values are needed.
func (system *equationSystem) newExactReleaser(keptStates *sparse.Set, states []uint32) *exactReleaser {
	if keptStates == nil || !system.isExact() || system.values.Scheduler != nil {
		return nil
	}
	releaser := &exactReleaser{
		system: system, keptStates: keptStates, openUses: make([]uint32, system.graph.NumStates()), placeholder: new(big.Rat),
	}
	for _, state := range states {
		for _, target := range system.successors(state) {
			releaser.openUses[target]++
		}
	}
	return releaser
}

// successors returns the targets of all choices of a state.
func (system *equationSystem) successors(state uint32) []uint32 {
	first, end := system.graph.Choices(int(state))
	return system.graph.Target[system.graph.FirstTransition[first]:system.graph.FirstTransition[end]]
}

// releaseAfter is called when the given states are solved. It frees the exact value of a successor if no unsolved state has a transition to it and the
// caller does not need it.
func (releaser *exactReleaser) releaseAfter(states []uint32) {
	if releaser == nil {
		return
	}
	for _, state := range states {
		for _, target := range releaser.system.successors(state) {
			releaser.openUses[target]--
			isNeeded := releaser.openUses[target] > 0 || releaser.keptStates.Has(int(target))
			if !isNeeded && releaser.system.maybe.Has(int(target)) {
				releaser.system.values.Exact[target] = releaser.placeholder
			}
		}
	}
}
