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
	placeholder  *big.Rat // replaces dropped fractions
}

// newExactReleaser returns a releaser for the states to be solved, or nil if all fractions must be kept.
// wanted are the states whose fractions the caller asked for; nil stands for all.
func (sys *system) newExactReleaser(wanted *sparse.Set, states []uint32) *exactReleaser {
	if wanted == nil || !sys.isExact() || sys.values.Scheduler != nil {
		return nil
	}
	releaser := &exactReleaser{sys, wanted, make([]uint32, sys.graph.NumStates()), new(big.Rat)}
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

// releaseAfter records that the given states are solved. It drops the fractions of their successors that no
// unsolved state needs and the caller did not ask for.
func (r *exactReleaser) releaseAfter(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, target := range r.system.successors(s) {
			r.pendingUses[target]--
			if r.pendingUses[target] == 0 && r.system.maybe.Has(int(target)) && !r.wantedStates.Has(int(target)) {
				r.system.values.Exact[target] = r.placeholder
			}
		}
	}
}
