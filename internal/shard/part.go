package shard

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// Part is part Index, from 1, of Of parts; the zero value is the whole work. Index may be larger than Of: such a part has
// only later blocks of unfinished streams.
type Part struct{ Index, Of int }

// maxParts is an upper limit above the number of tasks of any cluster.
const maxParts = 1 << 24

// Parse reads "2/5".
func Parse(text string) (Part, error) {
	i, n, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil || index < 1 || of < 1 || index > maxParts || of > maxParts {
		return Part{}, fmt.Errorf("found %q, want a part and a number of parts, such as 2/5", text)
	}
	return Part{index, of}, nil
}

// String returns "2/5".
func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Index, p.Of) }

// Range returns the part's range of the numbers 0 to n-1. The ranges of the parts 1/N to N/N are consecutive, and their lengths
// differ by at most 1. Parts with a larger Index have an empty range.
func (p Part) Range(n int64) (first, end int64) {
	if p.Of <= 1 && p.Index <= 1 {
		return 0, n
	}
	if p.Index > p.Of {
		return n, n
	}
	i, of := int64(p.Index), int64(p.Of)
	each, more := n/of, n%of
	cut := func(i int64) int64 { return each*i + min(i, more) }
	return cut(i - 1), cut(i)
}

// Block returns the part's block of the numbers 0 to end-1. The blocks of the first Of parts have the given size, the blocks of the next
// Of parts twice that size, and so on: each round of parts doubles the size.
func (p Part) Block(size, end int64) (first, last int64) {
	round, place := (p.Index-1)/p.Of, int64((p.Index-1)%p.Of)
	size, before := max(size, 1), int64(0)
	for range round {
		before = plus(before, times(size, int64(p.Of)))
		size = times(size, 2)
	}
	first = min(plus(before, times(size, place)), end)
	return first, min(plus(first, size), end)
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
	if p.Of <= 1 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(identity)) // never fails
	return int(mix(h.Sum64())%uint64(p.Of)) == p.Index-1
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
