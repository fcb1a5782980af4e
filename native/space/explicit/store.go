package explicit

import (
	"math/bits"
	"slices"
	"sync"
)

// store numbers packed states in the order in which they are added. It is a hash set.
type store struct {
	words int // per state
	pages [][]uint64
	n     int
	// slots is a hash table with linear probing, at most 4/5 full. A slot is 0 if it is free.
	// Otherwise its upper 32 bits are the hash of a state and its lower 32 bits the number of the
	// state plus one. So most probes do not read states, and resizing reads none.
	slots      []uint64
	shift      uint      // 32 - log2(len(slots))
	prefetched uint64    // see prefetch
	unsealOnce sync.Once // rebuilds a table that was dropped
}

// pageStates is the number of states on a page. Pages do not move: growing copies no states.
const (
	pageBits   = 14
	pageStates = 1 << pageBits
)

// newStore returns an empty store of states with the given number of words.
func newStore(words int) *store { return newStoreOf(words, 0) }

// newStoreOf returns an empty store of states with the given number of words. Its table has room for n states.
func newStoreOf(words, n int) *store {
	s := &store{words: words}
	s.resize(tableLog(n))
	return s
}

// tableLog returns the binary logarithm of the number of slots for n states, at least 10.
func tableLog(n int) uint {
	logSlots := uint(10)
	for n*5 > 4<<logSlots { // more than 4/5 full
		logSlots++
	}
	return logSlots
}

// state returns the words of state i, which the caller must not change.
func (s *store) state(i int) []uint64 {
	at := i & (pageStates - 1) * s.words
	return s.pages[i>>pageBits][at : at+s.words : at+s.words]
}

// hash32 returns a 32-bit hash of a packed state. A table with 2^k slots uses its upper k bits.
func hash32(packed []uint64) uint32 { return uint32(hash64(packed) >> 32) }

// hash64 returns a 64-bit hash of a packed state. It multiplies words to 128 bits, as wyhash does.
func hash64(packed []uint64) uint64 {
	const goldenRatio, multiplier = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	hash := uint64(goldenRatio)
	for _, word := range packed {
		hi, lo := bits.Mul64(hash^word, multiplier)
		hash = hi ^ lo
	}
	return hash * goldenRatio
}

// add adds a packed state unless the store has it. It returns the number of the state, and whether the state is new.
func (s *store) add(packed []uint64) (int, bool) { return s.addHashed(packed, hash32(packed)) }

// addHashed adds a packed state with a known hash unless the store has it. It returns the number of the state.
func (s *store) addHashed(packed []uint64, hash uint32) (number int, isNew bool) {
	slot, number := s.probe(packed, hash)
	if number >= 0 {
		return number, false
	}
	number = s.n
	page := number >> pageBits
	if page == len(s.pages) {
		s.pages = append(s.pages, make([]uint64, 0, pageStates*s.words))
	}
	s.pages[page] = append(s.pages[page], packed...)
	s.n++
	s.slots[slot] = uint64(hash)<<32 | uint64(s.n)
	if s.n*5 > len(s.slots)*4 { // more than 4/5 full
		logSlots := 32 - s.shift
		s.resize(logSlots + 1)
	}
	return number, true
}

// probe returns the number of a packed state. If the state is new, the number is -1, and slot is the free slot for
// it.
func (s *store) probe(packed []uint64, hash uint32) (slot uint32, number int) {
	mask := uint32(len(s.slots) - 1)
	for slot = hash >> s.shift & mask; ; slot = (slot + 1) & mask {
		entry := s.slots[slot]
		if entry == 0 {
			return slot, -1
		}
		entryHash, entryNumber := uint32(entry>>32), int(uint32(entry)-1)
		if entryHash == hash && equalWords(s.state(entryNumber), packed) {
			return slot, entryNumber
		}
	}
}

// prefetchGroup is the number of states that addAll looks up together.
const prefetchGroup = 64

// addAll adds packed states with known hashes and appends their numbers to dst. It prefetches the memory for a
// group of states, so cache misses overlap.
func (s *store) addAll(dst []uint32, packed []uint64, hashes []uint32) []uint32 {
	for len(hashes) > 0 {
		count := min(prefetchGroup, len(hashes))
		s.prefetch(hashes[:count])
		for i, hash := range hashes[:count] {
			number, _ := s.addHashed(packed[i*s.words:(i+1)*s.words], hash)
			dst = append(dst, uint32(number))
		}
		hashes, packed = hashes[count:], packed[count*s.words:]
	}
	return dst
}

// prefetch reads the slots of some hashes and the states in them. So they are in the processor's cache.
func (s *store) prefetch(hashes []uint32) {
	var entries [prefetchGroup]uint64
	for i, hash := range hashes {
		entries[i] = s.slots[hash>>s.shift]
	}
	sum := uint64(0)
	for i, hash := range hashes {
		if entry := entries[i]; uint32(entry>>32) == hash && uint32(entry) != 0 {
			sum += s.state(int(uint32(entry) - 1))[0]
		}
	}
	s.prefetched = sum // a use of the sum, so the compiler keeps the reads
}

// equalWords reports whether two packed states are equal.
func equalWords(left, right []uint64) bool {
	if len(left) == 1 && len(right) == 1 {
		return left[0] == right[0]
	}
	return slices.Equal(left, right)
}

// resize replaces the hash table by a table with 2^logSlots slots and the same entries.
func (s *store) resize(logSlots uint) {
	old := s.slots
	s.slots, s.shift = make([]uint64, 1<<logSlots), 32-logSlots
	mask := uint32(len(s.slots) - 1)
	for _, entry := range old {
		if entry == 0 {
			continue
		}
		slot := uint32(entry>>32) >> s.shift
		for s.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s.slots[slot] = entry
	}
}

// seal drops the table to save memory after the last state was added. find rebuilds it if necessary.
func (s *store) seal() { s.slots = nil }

// find returns the number of a state, and whether the store has it. It is safe for concurrent use.
func (s *store) find(packed []uint64) (int, bool) {
	s.unsealOnce.Do(s.unseal)
	_, number := s.probe(packed, hash32(packed))
	return max(number, 0), number >= 0
}

// unseal rebuilds the hash table if it was dropped.
func (s *store) unseal() {
	if s.slots != nil {
		return
	}
	s.resize(tableLog(s.n))
	for number := range s.n {
		packed := s.state(number)
		hash := hash32(packed)
		slot, _ := s.probe(packed, hash)
		s.slots[slot] = uint64(hash)<<32 | uint64(number+1)
	}
}

// bytes returns the memory that the states use, in bytes.
func (s *store) bytes() int64 { return int64(len(s.pages) * pageStates * s.words * 8) }

// tableBytes returns the memory that the hash table uses, in bytes. If the table will grow soon, it includes the
// larger table.
func (s *store) tableBytes() int64 {
	size := int64(8 * len(s.slots))
	if s.n*5 > len(s.slots)*3 {
		size *= 3
	}
	return size
}
