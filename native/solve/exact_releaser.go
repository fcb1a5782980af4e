package solve

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// exactReleaser frees fractions that no equation needs any more.
type exactReleaser struct {
	system       *system
	wantedStates *sparse.Set
	pendingUses  []uint32 // of each state: transitions to it from unsolved states
	placeholder  *big.Rat // replaces released fractions
}

// newExactReleaser returns a releaser for the fractions of unsolved states. The fractions of wanted states are not released.
// It returns nil if all fractions are needed.
func (sys *system) newExactReleaser(wanted *sparse.Set, states []uint32) *exactReleaser {
	if wanted == nil || !sys.isExact() || sys.values.Scheduler != nil {
		return nil
	}
	releaser := &exactReleaser{
		system: sys, wantedStates: wanted, pendingUses: make([]uint32, sys.graph.NumStates()), placeholder: new(big.Rat),
	}
	for _, s := range states {
		for _, target := range sys.successors(s) {
			releaser.pendingUses[target]++
		}
	}
	return releaser
}

// successors returns the targets of all choices of a state.
func (sys *system) successors(s uint32) []uint32 {
	first, end := sys.graph.Choices(int(s))
	return sys.graph.Target[sys.graph.Start[first]:sys.graph.Start[end]]
}

// releaseAfter records that the given states are solved. It releases the fractions of successors that no unsolved state needs.
func (releaser *exactReleaser) releaseAfter(states []uint32) {
	if releaser == nil {
		return
	}
	for _, s := range states {
		for _, target := range releaser.system.successors(s) {
			releaser.pendingUses[target]--
			isNeeded := releaser.pendingUses[target] > 0 || releaser.wantedStates.Has(int(target))
			if !isNeeded && releaser.system.maybe.Has(int(target)) {
				releaser.system.values.Exact[target] = releaser.placeholder
			}
		}
	}
}
