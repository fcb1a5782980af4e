package solve

import (
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// release forgets fractions that nothing needs any more, so that not those of all states
// are in memory at the same time.
type release struct {
	y       *system
	keep    *sparse.Set
	awaited []uint32 // how many transitions to each state are of states without a value
	nothing *big.Rat // is put in the place of what is forgotten
}

// newRelease returns nil if all fractions are wanted. States are those to be solved.
func (y *system) newRelease(keep *sparse.Set, states []uint32) *release {
	if keep == nil || !y.exact() || y.v.Scheduler != nil {
		return nil
	}
	r := &release{y, keep, make([]uint32, y.g.NumStates()), new(big.Rat)}
	for _, s := range states {
		for _, t := range y.targets(s) {
			r.awaited[t]++
		}
	}
	return r
}

// targets are those of all choices of a state.
func (y *system) targets(s uint32) []uint32 {
	first, end := y.g.Choices(int(s))
	return y.g.Target[y.g.Start[first]:y.g.Start[end]]
}

// after notes that states have their values.
func (r *release) after(states []uint32) {
	if r == nil {
		return
	}
	for _, s := range states {
		for _, t := range r.y.targets(s) {
			if r.awaited[t]--; r.awaited[t] == 0 && r.y.open.Has(int(t)) && !r.keep.Has(int(t)) {
				r.y.v.Exact[t] = r.nothing
			}
		}
	}
}
