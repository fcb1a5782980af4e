package solve

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// exactReleaser drops the fractions of states that no unsolved state needs, to limit memory.
type exactReleaser struct {
	system      *system
	keep        *sparse.Set
	pendingUses []uint32 // of each state: transitions to it from unsolved states
	placeholder *big.Rat // replaces dropped fractions
}

// newExactReleaser returns nil if all fractions are wanted. keep are the wanted states, states the ones
// to be solved.
func (sys *system) newExactReleaser(keep *sparse.Set, states []uint32) *exactReleaser {
	if keep == nil || !sys.exact() || sys.v.Scheduler != nil {
		return nil
	}
	r := &exactReleaser{sys, keep, make([]uint32, sys.g.NumStates()), new(big.Rat)}
	for _, s := range states {
		for _, t := range sys.successors(s) {
			r.pendingUses[t]++
		}
	}
	return r
}

// successors returns the targets of all choices of a state.
func (sys *system) successors(s uint32) []uint32 {
	first, end := sys.g.Choices(int(s))
	return sys.g.Target[sys.g.Start[first]:sys.g.Start[end]]
}

// solved records that the states have their values, and drops fractions that are needed no more.
func (r *exactReleaser) solved(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, t := range r.system.successors(s) {
			if r.pendingUses[t]--; r.pendingUses[t] == 0 && r.system.open.Has(int(t)) && !r.keep.Has(int(t)) {
				r.system.v.Exact[t] = r.placeholder
			}
		}
	}
}
