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

// newExactReleaser returns a releaser for unsolved states, which preserves the fractions of wanted states.
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
func (r *exactReleaser) releaseAfter(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, target := range r.system.successors(s) {
			r.pendingUses[target]--
			isNeeded := r.pendingUses[target] > 0 || r.wantedStates.Has(int(target))
			if !isNeeded && r.system.maybe.Has(int(target)) {
				r.system.values.Exact[target] = r.placeholder
			}
		}
	}
}
