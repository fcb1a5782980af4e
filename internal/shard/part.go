package shard

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// Part is one of Count parts of some work. Index begins at 1. The zero value is the whole work. A part whose Index is larger
// than Count has only later blocks of unfinished streams.
type Part struct{ Index, Count int }

// maxParts is an upper limit above the number of tasks of any cluster.
const maxParts = 1 << 24

// Parse reads a part from text such as "2/5", which is part 2 of 5 parts.
func Parse(text string) (Part, error) {
	indexText, countText, _ := strings.Cut(text, "/")
	index, indexOK := parsePositive(indexText)
	count, countOK := parsePositive(countText)
	if !indexOK || !countOK {
		return Part{}, fmt.Errorf("found %q, want a part and a number of parts, such as 2/5", text)
	}
	return Part{index, count}, nil
}

// parsePositive reads a number from 1 to maxParts. ok is false if the text is not such a number.
func parsePositive(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= maxParts
}

// String returns "2/5".
func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Index, p.Count) }

// Range returns the part's range of the numbers 0 to n-1. The ranges of the parts 1/N to N/N are consecutive, and their lengths
// differ by at most 1. Parts with a larger Index have an empty range.
func (p Part) Range(n int64) (first, end int64) {
	if p.Count <= 1 && p.Index <= 1 {
		return 0, n
	}
	if p.Index > p.Count {
		return n, n
	}
	length, longer := n/int64(p.Count), n%int64(p.Count) // the first `longer` ranges have one more number
	endOf := func(index int64) int64 { return length*index + min(index, longer) }
	return endOf(int64(p.Index) - 1), endOf(int64(p.Index))
}

// Block returns the part's block of the numbers 0 to end-1, from first to last-1. The blocks of the first Count parts have the given
// size, the blocks of the next Count parts twice that size, and so on: each round of Count parts doubles the size.
func (p Part) Block(size, end int64) (first, last int64) {
	rounds, place := (p.Index-1)/p.Count, int64((p.Index-1)%p.Count) // complete rounds before the part, and its place in its round
	blockSize, roundStart := max(size, 1), int64(0)
	for range rounds {
		roundStart = plus(roundStart, times(blockSize, int64(p.Count)))
		blockSize = times(blockSize, 2)
	}
	first = min(plus(roundStart, times(blockSize, place)), end)
	return first, min(plus(first, blockSize), end)
}

// plus and times compute with nonnegative numbers and saturate at the largest one.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// Holds reports whether the item with this identity belongs to the part. It depends on no other items.
func (p Part) Holds(identity string) bool {
	if p.Count <= 1 {
		return true
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(identity)) // never fails
	return int(mix(hash.Sum64())%uint64(p.Count)) == p.Index-1
}

// mix spreads a hash over all bits.
//
// Source: finalizer of MurmurHash3.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
