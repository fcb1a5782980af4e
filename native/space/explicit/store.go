package explicit

import (
	"math/bits"
	"slices"
	"sync"
)

// store numbers packed states in the order in which they are added.
type store struct {
	words int // per state
	pages [][]uint64
	n     int
	// slots is a hash table with linear probing, at most 4/5 full. A slot is 0 or holds a
	// state's hash in its upper 32 bits and the state's number plus one in the lower 32. So
	// most probes do not read states, and resizing reads none.
	slots   []uint64
	shift   uint      // 32 - log2(len(slots))
	touched uint64    // see touch
	sealed  sync.Once // rebuilds a table that was dropped
}

// pageStates is the number of states on a page. Pages do not move: growing copies no states.
const (
	pageBits   = 14
	pageStates = 1 << pageBits
)

func newStore(words int) *store { return newStoreOf(words, 0) }

// newStoreOf returns a store whose table has room for n states.
func newStoreOf(words, n int) *store {
	s := &store{words: words}
	s.resize(logFor(n))
	return s
}

// logFor returns the binary logarithm of the table size for n states.
func logFor(n int) uint {
	log := uint(10)
	for n*5 > 4<<log {
		log++
	}
	return log
}

// at returns the words of state i, which must not be changed.
func (s *store) at(i int) []uint64 {
	at := i & (pageStates - 1) * s.words
	return s.pages[i>>pageBits][at : at+s.words : at+s.words]
}

// hash returns a 32-bit hash; a table of 2^k slots uses its upper k bits.
func hash(packed []uint64) uint32 { return uint32(mix(packed) >> 32) }

// mix returns a 64-bit hash.
func mix(packed []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range packed {
		hi, lo := bits.Mul64(h^w, 0xe7037ed1a0b428db)
		h = hi ^ lo
	}
	return h * 0x9e3779b97f4a7c15
}

// add returns the number of a state, and whether it is new.
func (s *store) add(packed []uint64) (int, bool) { return s.addHashed(packed, hash(packed)) }

// addHashed is add for a state with a known hash.
func (s *store) addHashed(packed []uint64, h uint32) (int, bool) {
	i, k := s.probe(packed, h)
	if k >= 0 {
		return k, false
	}
	n := s.n
	if n>>pageBits == len(s.pages) {
		s.pages = append(s.pages, make([]uint64, 0, pageStates*s.words))
	}
	s.pages[n>>pageBits] = append(s.pages[n>>pageBits], packed...)
	s.n++
	s.slots[i] = uint64(h)<<32 | uint64(s.n)
	if s.n*5 > len(s.slots)*4 {
		s.resize(33 - s.shift)
	}
	return n, true
}

// probe returns the number of a state; for a new state, -1 and the free slot for it.
func (s *store) probe(packed []uint64, h uint32) (slot uint32, number int) {
	mask := uint32(len(s.slots) - 1)
	for i := h >> s.shift & mask; ; i = (i + 1) & mask {
		k := s.slots[i]
		if k == 0 {
			return i, -1
		}
		if uint32(k>>32) == h && equalWords(s.at(int(uint32(k)-1)), packed) {
			return i, int(uint32(k) - 1)
		}
	}
}

// group is the number of states that addAll looks up together.
const group = 64

// addAll adds states and appends their numbers to dst. It reads the memory that a group of states
// needs in advance, so that cache misses overlap.
func (s *store) addAll(dst []uint32, packed []uint64, hashes []uint32) []uint32 {
	for len(hashes) > 0 {
		n := min(group, len(hashes))
		s.touch(hashes[:n])
		for i, h := range hashes[:n] {
			k, _ := s.addHashed(packed[i*s.words:(i+1)*s.words], h)
			dst = append(dst, uint32(k))
		}
		hashes, packed = hashes[n:], packed[n*s.words:]
	}
	return dst
}

// touch reads the slots of some states, and the states to which they probably refer, into the
// cache.
func (s *store) touch(hashes []uint32) {
	var found [group]uint64
	for i, h := range hashes {
		found[i] = s.slots[h>>s.shift]
	}
	sum := uint64(0)
	for i, h := range hashes {
		if k := found[i]; uint32(k>>32) == h && uint32(k) != 0 {
			sum += s.at(int(uint32(k) - 1))[0]
		}
	}
	s.touched = sum // so that the reads are not optimised away
}

func equalWords(a, b []uint64) bool {
	if len(a) == 1 && len(b) == 1 {
		return a[0] == b[0]
	}
	return slices.Equal(a, b)
}

// resize replaces the table by one of 2^log slots. Entries keep their order, except for those that
// wrapped round, which are first in the old table.
func (s *store) resize(log uint) {
	old := s.slots
	s.slots, s.shift = make([]uint64, 1<<log), 32-log
	mask := uint32(len(s.slots) - 1)
	for _, k := range old {
		if k == 0 {
			continue
		}
		i := uint32(k>>32) >> s.shift
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = k
	}
}

// seal drops the table, because no more states will be added. find rebuilds it if necessary.
func (s *store) seal() { s.slots = nil }

// find returns the number of a state, if it is known. It is safe for concurrent use.
func (s *store) find(packed []uint64) (int, bool) {
	s.sealed.Do(s.unseal)
	_, k := s.probe(packed, hash(packed))
	return max(k, 0), k >= 0
}

// unseal rebuilds the table if it was dropped.
func (s *store) unseal() {
	if s.slots != nil {
		return
	}
	s.resize(logFor(s.n))
	for n := range s.n {
		h := hash(s.at(n))
		i, _ := s.probe(s.at(n), h)
		s.slots[i] = uint64(h)<<32 | uint64(n+1)
	}
}

// bytes returns the memory that the states use.
func (s *store) bytes() int64 { return int64(len(s.pages) * pageStates * s.words * 8) }

// tableBytes returns the memory that the table uses, including its next size if it is due to grow
// soon.
func (s *store) tableBytes() int64 {
	size := int64(8 * len(s.slots))
	if s.n*5 > len(s.slots)*3 {
		size *= 3
	}
	return size
}
