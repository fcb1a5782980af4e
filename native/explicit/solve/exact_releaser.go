package solve

import (
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// release forgets fractions that nothing needs any more, so that not those of all states
// are in memory at the same time.
type exactReleaser struct {
	y           *system
	keep        *sparse.Set
	pendingUses []uint32 // how many transitions to each state are of states without a value
	placeholder *big.Rat // is put in the place of what is forgotten
}

// newRelease returns nil if all fractions are wanted. States are those to be solved.
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

// targets are those of all choices of a state.
func (sys *system) successors(s uint32) []uint32 {
	first, end := sys.g.Choices(int(s))
	return sys.g.Target[sys.g.Start[first]:sys.g.Start[end]]
}

// after notes that states have their values.
func (r *exactReleaser) solved(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, t := range r.y.successors(s) {
			if r.pendingUses[t]--; r.pendingUses[t] == 0 && r.y.open.Has(int(t)) && !r.keep.Has(int(t)) {
				r.y.v.Exact[t] = r.placeholder
			}
		}
	}
}
