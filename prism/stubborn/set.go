package stubborn

import (
	"iter"
	"math/bits"
)

// set is a set of small integers, with a bit for each.
type set []uint64

// newSet returns an empty set of integers below n.
func newSet(n int) set { return make(set, (n+63)/64) }

// newSets returns count empty sets of integers below n.
func newSets(count, n int) []set {
	sets := make([]set, count)
	for i := range sets {
		sets[i] = newSet(n)
	}
	return sets
}

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// isEmpty reports whether the set has no element.
func (s set) isEmpty() bool {
	for _, word := range s {
		if word != 0 {
			return false
		}
	}
	return true
}

// all returns the elements in increasing order.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
