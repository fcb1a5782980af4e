package explicit

import "math/bits"

// store numbers packed states in the order in which they are added.
type store struct {
	words int // per state
	pages [][]uint64
	n     int
	// slots is a hash table with linear probing; a slot holds a state's number
	// plus one, or 0. It is never more than 4/5 full.
	slots []uint32
	shift uint // 64 - log2(len(slots))
}

// pageStates is the number of states on a page. Pages do not move, so that
// growing copies nothing.
const (
	pageBits   = 14
	pageStates = 1 << pageBits
)

func newStore(words int) *store {
	s := &store{words: words}
	s.resize(10)
	return s
}

// at returns a state's words, which must not be changed.
func (s *store) at(i int) []uint64 {
	at := i & (pageStates - 1) * s.words
	return s.pages[i>>pageBits][at : at+s.words : at+s.words]
}

func hash(packed []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range packed {
		hi, lo := bits.Mul64(h^w, 0xe7037ed1a0b428db)
		h = hi ^ lo
	}
	return h * 0x9e3779b97f4a7c15
}

// add returns the number of a state, and whether it is new.
func (s *store) add(packed []uint64) (int, bool) {
	i := hash(packed) >> s.shift
	for {
		k := s.slots[i]
		if k == 0 {
			break
		}
		if equalWords(s.at(int(k-1)), packed) {
			return int(k - 1), false
		}
		i = (i + 1) & uint64(len(s.slots)-1)
	}
	n := s.n
	if n>>pageBits == len(s.pages) {
		s.pages = append(s.pages, make([]uint64, 0, pageStates*s.words))
	}
	s.pages[n>>pageBits] = append(s.pages[n>>pageBits], packed...)
	s.n++
	s.slots[i] = uint32(s.n)
	if s.n*5 > len(s.slots)*4 {
		s.resize(65 - s.shift)
	}
	return n, true
}

func equalWords(a, b []uint64) bool {
	for i, w := range a {
		if w != b[i] {
			return false
		}
	}
	return true
}

// resize rebuilds the table with 2^log slots.
func (s *store) resize(log uint) {
	s.slots, s.shift = make([]uint32, 1<<log), 64-log
	for n := range s.n {
		i := hash(s.at(n)) >> s.shift
		for s.slots[i] != 0 {
			i = (i + 1) & uint64(len(s.slots)-1)
		}
		s.slots[i] = uint32(n + 1)
	}
}

// find returns the number of a state, if it has one.
func (s *store) find(packed []uint64) (int, bool) {
	i := hash(packed) >> s.shift
	for s.slots[i] != 0 {
		if k := int(s.slots[i] - 1); equalWords(s.at(k), packed) {
			return k, true
		}
		i = (i + 1) & uint64(len(s.slots)-1)
	}
	return 0, false
}

// bytes returns the memory that the states and the table take, with the next
// table if that is due soon.
func (s *store) bytes() int64 {
	table := int64(4 * len(s.slots))
	if s.n*5 > len(s.slots)*3 {
		table *= 3
	}
	return table + int64(len(s.pages)*pageStates*s.words*8)
}
