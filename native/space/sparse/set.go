package sparse

import (
	"iter"
	"math/bits"
)

// Set is a set of numbers from 0 to Len()-1, such as states or choices, as a bit vector.
type Set struct {
	words []uint64
	size  int
}

// NewSet returns the empty subset of 0..n-1.
func NewSet(n int) *Set { return &Set{words: make([]uint64, (n+63)/64), size: n} }

// FullSet returns the set of all numbers 0..n-1.
func FullSet(n int) *Set { return NewSet(n).Complement() }

// SelectStates returns the set of those states, from 0 to numStates-1, that satisfy a condition.
func SelectStates(numStates int, condition func(state int) bool) *Set {
	selected := NewSet(numStates)
	for state := range numStates {
		if condition(state) {
			selected.Add(state)
		}
	}
	return selected
}

// SetOf returns the subset of 0..n-1 with the given members.
func SetOf(n int, members ...int) *Set {
	set := NewSet(n)
	for _, i := range members {
		set.Add(i)
	}
	return set
}

// Len returns the size of the universe, not of the set.
func (set *Set) Len() int { return set.size }

// Has reports whether i is a member.
func (set *Set) Has(i int) bool { return set.words[i>>6]>>(i&63)&1 != 0 }

// Add inserts i.
func (set *Set) Add(i int) { set.words[i>>6] |= 1 << (i & 63) }

// Remove removes i.
func (set *Set) Remove(i int) { set.words[i>>6] &^= 1 << (i & 63) }

// Count returns the number of members.
func (set *Set) Count() int {
	count := 0
	for _, word := range set.words {
		count += bits.OnesCount64(word)
	}
	return count
}

// Empty reports whether the set has no members.
func (set *Set) Empty() bool {
	for _, word := range set.words {
		if word != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether two sets have the same members and the same universe.
func (set *Set) Equal(other *Set) bool {
	for i, word := range set.words {
		if word != other.words[i] {
			return false
		}
	}
	return set.size == other.size
}

// Clone returns a copy.
func (set *Set) Clone() *Set {
	return &Set{words: append([]uint64(nil), set.words...), size: set.size}
}

// Complement returns the set of the numbers below Len() that are not in the set.
func (set *Set) Complement() *Set {
	result := NewSet(set.size)
	for i, word := range set.words {
		result.words[i] = ^word
	}
	if tail := set.size & 63; tail != 0 { // clear the bits of numbers beyond the universe
		result.words[len(result.words)-1] &= 1<<tail - 1
	}
	return result
}

// Union returns the numbers in set or in other.
func (set *Set) Union(other *Set) *Set {
	return set.combine(other, func(a, b uint64) uint64 { return a | b })
}

// Intersect returns the numbers in set and in other.
func (set *Set) Intersect(other *Set) *Set {
	return set.combine(other, func(a, b uint64) uint64 { return a & b })
}

// Minus returns the numbers in set that are not in other.
func (set *Set) Minus(other *Set) *Set {
	return set.combine(other, func(a, b uint64) uint64 { return a &^ b })
}

// combine applies an operation to the words of two sets with the same universe.
func (set *Set) combine(other *Set, operation func(a, b uint64) uint64) *Set {
	result := NewSet(set.size)
	for i, word := range set.words {
		result.words[i] = operation(word, other.words[i])
	}
	return result
}

// All yields the members in increasing order.
func (set *Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range set.words {
			for ; word != 0; word &= word - 1 { // clears the lowest bit
				if !yield(i<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
