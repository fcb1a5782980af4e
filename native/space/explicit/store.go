package explicit

import (
	"math/bits"
	"slices"
	"sync"
)

// store numbers packed states in the order in which they are added. It is a hash set.
type store struct {
	wordsPerState int // per state
	pages         [][]uint64
	numStates     int
	// slots is a hash table with linear probing, at most 4/5 full. A slot is 0 if it is free.
	// Otherwise its upper 32 bits are the hash of a state and its lower 32 bits the number of the
	// state plus one. So most probes do not read states, and resizing reads none.
	slots       []uint64
	shift       uint      // 32 - log2(len(slots))
	keepReads   uint64    // see prefetch
	restoreOnce sync.Once // rebuilds a table that was dropped
}

// pageStates is the number of states on a page. Pages do not move: growing copies no states.
const (
	pageBits   = 14
	pageStates = 1 << pageBits
)

// newStore returns an empty store of states with the given number of words.
func newStore(wordsPerState int) *store { return newStoreOf(wordsPerState, 0) }

// newStoreOf returns an empty store of states with the given number of words. Its table has room for n states.
func newStoreOf(wordsPerState, n int) *store {
	s := &store{wordsPerState: wordsPerState}
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

// packedState returns the words of state i, which the caller must not change.
func (store *store) packedState(i int) []uint64 {
	at := i & (pageStates - 1) * store.wordsPerState
	return store.pages[i>>pageBits][at : at+store.wordsPerState : at+store.wordsPerState]
}

// hash32 returns a 32-bit hash of a packed state. A table with 2^k slots uses its upper k bits.
func hash32(packed []uint64) uint32 { return uint32(hash64(packed) >> 32) }

// hash64 returns a 64-bit hash of a packed state. It multiplies 64-bit words to 128 bits and folds the product, as wyhash does.
func hash64(packed []uint64) uint64 {
	const goldenRatio, multiplier = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	hash := uint64(goldenRatio)
	for _, word := range packed {
		hi, lo := bits.Mul64(hash^word, multiplier)
		hash = hi ^ lo
	}
	return hash * goldenRatio
}

// addState adds a packed state unless the store has it. It returns the number of the state, and whether the state is new.
func (store *store) addState(packed []uint64) (int, bool) {
	return store.addHashed(packed, hash32(packed))
}

// addHashed adds a packed state, unless the store contains it, and returns the number of the state. hash must be hash32 of the state.
func (store *store) addHashed(packed []uint64, hash uint32) (number int, isNew bool) {
	slot, number := store.findSlot(packed, hash)
	if number >= 0 {
		return number, false
	}
	number = store.numStates
	page := number >> pageBits
	if page == len(store.pages) {
		store.pages = append(store.pages, make([]uint64, 0, pageStates*store.wordsPerState))
	}
	store.pages[page] = append(store.pages[page], packed...)
	store.numStates++
	store.slots[slot] = uint64(hash)<<32 | uint64(store.numStates)
	if store.numStates*5 > len(store.slots)*4 { // more than 4/5 full
		logSlots := 32 - store.shift
		store.resize(logSlots + 1)
	}
	return number, true
}

// findSlot searches a packed state in the hash table, and returns its number. If the store does not contain the state, the number is -1, and slot is the
// free slot for the state.
func (store *store) findSlot(packed []uint64, hash uint32) (slot uint32, number int) {
	mask := uint32(len(store.slots) - 1)
	for slot = hash >> store.shift & mask; ; slot = (slot + 1) & mask {
		entry := store.slots[slot]
		if entry == 0 {
			return slot, -1
		}
		entryHash, entryNumber := uint32(entry>>32), int(uint32(entry)-1)
		if entryHash == hash && equalWords(store.packedState(entryNumber), packed) {
			return slot, entryNumber
		}
	}
}

// prefetchGroup is the number of states that addStates looks up together.
const prefetchGroup = 64

// addStates adds packed states to the store, and appends their numbers to the slice numbers. hashes has hash32 of each state. It handles the states in
// groups, and first loads the memory for a group, so that waiting times for the memory overlap.
func (store *store) addStates(numbers []uint32, packed []uint64, hashes []uint32) []uint32 {
	for len(hashes) > 0 {
		count := min(prefetchGroup, len(hashes))
		store.prefetchStates(hashes[:count])
		for i, hash := range hashes[:count] {
			number, _ := store.addHashed(packed[i*store.wordsPerState:(i+1)*store.wordsPerState], hash)
			numbers = append(numbers, uint32(number))
		}
		hashes, packed = hashes[count:], packed[count*store.wordsPerState:]
	}
	return numbers
}

// prefetchStates reads the slots of the given hashes and the states in these slots, to bring them into the processor's cache.
func (store *store) prefetchStates(hashes []uint32) {
	var entries [prefetchGroup]uint64
	for i, hash := range hashes {
		entries[i] = store.slots[hash>>store.shift]
	}
	sum := uint64(0)
	for i, hash := range hashes {
		if entry := entries[i]; uint32(entry>>32) == hash && uint32(entry) != 0 {
			sum += store.packedState(int(uint32(entry) - 1))[0]
		}
	}
	store.keepReads = sum // without this use of the sum, the compiler would remove the reads
}

// equalWords reports whether two packed states are equal.
func equalWords(left, right []uint64) bool {
	if len(left) == 1 && len(right) == 1 {
		return left[0] == right[0]
	}
	return slices.Equal(left, right)
}

// resize moves all entries to a new hash table with 2^logSlots slots.
func (store *store) resize(logSlots uint) {
	oldSlots := store.slots
	store.slots, store.shift = make([]uint64, 1<<logSlots), 32-logSlots
	mask := uint32(len(store.slots) - 1)
	for _, entry := range oldSlots {
		if entry == 0 {
			continue
		}
		slot := uint32(entry>>32) >> store.shift
		for store.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		store.slots[slot] = entry
	}
}

// releaseHashTable releases the memory of the hash table when no state is to be added. findState builds the table again if it is called.
func (store *store) releaseHashTable() { store.slots, store.restoreOnce = nil, sync.Once{} }

// findState returns the number of a state, and whether the store has it. It is safe for concurrent use.
func (store *store) findState(packed []uint64) (int, bool) {
	store.restoreOnce.Do(store.restoreTable)
	_, number := store.findSlot(packed, hash32(packed))
	return max(number, 0), number >= 0
}

// restoreTable builds the hash table again if releaseHashTable has dropped it.
func (store *store) restoreTable() {
	if store.slots != nil {
		return
	}
	store.resize(tableLog(store.numStates))
	for number := range store.numStates {
		packed := store.packedState(number)
		hash := hash32(packed)
		slot, _ := store.findSlot(packed, hash)
		store.slots[slot] = uint64(hash)<<32 | uint64(number+1)
	}
}

// numBytes returns the memory that the states use, in bytes.
func (store *store) numBytes() int64 {
	return int64(len(store.pages) * pageStates * store.wordsPerState * 8)
}

// tableBytes returns the memory that the hash table uses, in bytes. If the table will grow soon, it includes the
// larger table.
func (store *store) tableBytes() int64 {
	size := int64(8 * len(store.slots))
	if store.numStates*5 > len(store.slots)*3 {
		size *= 3
	}
	return size
}
