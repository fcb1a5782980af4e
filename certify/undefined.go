package certify

import (
	"fmt"

	"tilecheck/certify/certificate"
)

// checkDefined returns an error if the value of some state is not proven to be defined.
func (b *bounds) checkDefined(states []int) error {
	for _, s := range states {
		if b.undefined.Has(s) {
			return fmt.Errorf("the condition is not proven to have a positive probability in state %d", s)
		}
	}
	return nil
}

// mayBeUndefined reports whether the value of one of n states in a set is not proven to be defined.
func (b *bounds) mayBeUndefined(states certificate.Bits, n int) bool {
	for s := range n {
		if states.Has(s) && b.undefined.Has(s) {
			return true
		}
	}
	return false
}

// membersIfDefined changes the membership function of a set of kind Bound: a state whose value may be undefined is neither certainly in the set
// nor certainly outside.
func (b *bounds) membersIfDefined(member memberFunc) memberFunc {
	if b.undefined == nil {
		return member
	}
	return func(side, s int) (bool, string) {
		if b.undefined.Has(s) {
			return side == upper, ""
		}
		return member(side, s)
	}
}
