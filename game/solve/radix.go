package solve

import (
	"math/bits"
	"slices"
)

// maxDigit is the largest number of bits of a digit of the radix sort. The counters of such a digit fit a first-level cache.
const maxDigit = 11

// sortUnique sorts keys and removes duplicates, by a radix sort of the bits that vary. scratch must be as long as keys. The result is a prefix of
// keys or of scratch.
func sortUnique(keys, scratch []uint64) []uint64 {
	if len(keys) < 256 {
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	first, varying := keys[0], uint64(0)
	for _, key := range keys {
		varying |= key ^ first
	}
	scratch = scratch[:len(keys)]
	low := bits.TrailingZeros64(varying)
	span := bits.Len64(varying) - low
	digits := (span + maxDigit - 1) / maxDigit
	for digit := range digits { // of similar width
		from, to := low+span*digit/digits, low+span*(digit+1)/digits
		keys, scratch = sortDigit(keys, scratch, from, to-from), keys
	}
	return slices.Compact(keys)
}

// sortDigit writes the keys to target, stably sorted by the digit of width bits at shift, and returns target.
func sortDigit(keys, target []uint64, shift, width int) []uint64 {
	var starts [1 << maxDigit]uint32
	mask := uint64(1)<<width - 1
	for _, key := range keys {
		starts[key>>(shift&63)&mask&(1<<maxDigit-1)]++
	}
	sum := uint32(0)
	for i, count := range starts[:mask+1] {
		starts[i] = sum
		sum += count
	}
	for _, key := range keys {
		place := &starts[key>>(shift&63)&mask&(1<<maxDigit-1)]
		target[*place] = key
		*place++
	}
	return target
}
