package solve

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// exactReleaser drops the fractions of states that no unsolved state needs, to limit memory.
type exactReleaser struct {
	system      *system
	wanted        *sparse.Set
	pendingUses []uint32 // of each state: transitions to it from unsolved states
	placeholder *big.Rat // replaces dropped fractions
}

// newExactReleaser returns nil if all fractions are wanted. keep are the wanted states, states the ones
// to be solved.
func (sys *system) newExactReleaser(keep *sparse.Set, states []uint32) *exactReleaser {
	if keep == nil || !sys.exact() || sys.values.Scheduler != nil {
		return nil
	}
	releaser := &exactReleaser{sys, keep, make([]uint32, sys.graph.NumStates()), new(big.Rat)}
	for _, s := range states {
		for _, t := range sys.successors(s) {
			releaser.pendingUses[t]++
		}
	}
	return releaser
}

// successors returns the targets of all choices of a state.
func (sys *system) successors(s uint32) []uint32 {
	first, end := sys.graph.Choices(int(s))
	return sys.graph.Target[sys.graph.Start[first]:sys.graph.Start[end]]
}

// releaseAfter records that the states have their values, and drops fractions that are needed no more.
func (r *exactReleaser) releaseAfter(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, t := range r.system.successors(s) {
			if r.pendingUses[t]--; r.pendingUses[t] == 0 && r.system.maybe.Has(int(t)) && !r.wanted.Has(int(t)) {
				r.system.values.Exact[t] = r.placeholder
			}
		}
	}
}
