package strategy

import "tilecheck/game"

// table is what a search knows already: the value of boards, each with the level at which it was searched. Nothing is ever lost but by
// reset, so that what a search finds does not depend on the searches before it.
type table struct {
	most   int    // boards kept; a search that has found more goes on without keeping them
	slots  []slot // open addressing; the length is a power of two
	shift  int    // 64 less its logarithm
	used   int
	search uint32 // number of the search
}

// slot is free unless search is that of the table.
type slot struct {
	board  game.Board
	value  int64
	level  int32
	search uint32
}

// Slots of a new table, and boards kept at most: 48 MiB.
const (
	fewSlots  = 1 << 8
	maxBoards = 1 << 20
)

func newTable() table { return table{most: maxBoards} }

// reset forgets everything.
func (t *table) reset() {
	t.search++
	t.used = 0
	if t.slots == nil || t.search == 0 {
		t.resize(fewSlots)
		t.search = 1
	}
}

func (t *table) resize(slots int) {
	t.slots, t.shift = make([]slot, slots), 64
	for ; slots > 1; slots /= 2 {
		t.shift--
	}
}

// find returns the slot of b, or a free one where it would be.
func (t *table) find(b game.Board) *slot {
	const multiplier = 0x9E37_79B9_7F4A_7C15 // 2^64 over the golden ratio; spreads boards that differ little
	for i := uint64(b) * multiplier >> (t.shift & 63); ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.search != t.search || s.board == b {
			return s
		}
	}
}

// get returns the slot of b, nil when there is none.
func (t *table) get(b game.Board) *slot {
	if s := t.find(b); s.search == t.search {
		return s
	}
	return nil
}

// put keeps the value of b at a level, in place of one kept before.
func (t *table) put(b game.Board, level int, value int64) {
	s := t.find(b)
	if s.search != t.search {
		if t.used >= t.most {
			return
		}
		t.used++
	}
	*s = slot{board: b, value: value, level: int32(level), search: t.search}
	if 2*t.used > len(t.slots) {
		t.grow()
	}
}

func (t *table) grow() {
	old := t.slots
	t.resize(2 * len(old))
	for _, s := range old {
		if s.search == t.search {
			*t.find(s.board) = s
		}
	}
}
