package strategy

import "tilecheck/game"

// searchTable stores the values of boards that a search has computed, each with the level of its search. Only reset removes values, so a result
// does not depend on earlier searches.
type searchTable struct {
	maxBoards    int         // number of boards to store; further ones are not stored
	slots        []tableSlot // hash table with open addressing; the length is a power of two
	shift        int         // 64 minus the binary logarithm of the length
	used         int
	searchNumber uint32
}

// tableSlot is free unless its searchNumber is that of the table.
type tableSlot struct {
	board        game.Board
	value        int64
	level        int32
	searchNumber uint32
}

// The number of slots of a new table, and the largest number of boards, which take 48 MiB.
const (
	fewSlots  = 1 << 8
	maxBoards = 1 << 20
)

func newSearchTable() searchTable { return searchTable{maxBoards: maxBoards} }

// reset removes all values in constant time: slots of earlier searches count as free.
func (t *searchTable) reset() {
	t.searchNumber++
	t.used = 0
	if t.slots == nil || t.searchNumber == 0 {
		t.resize(fewSlots)
		t.searchNumber = 1
	}
}

func (t *searchTable) resize(slots int) {
	t.slots, t.shift = make([]tableSlot, slots), 64
	for ; slots > 1; slots /= 2 {
		t.shift--
	}
}

// find returns the slot of a board, or the free slot in which to insert it.
func (t *searchTable) find(board game.Board) *tableSlot {
	const multiplier = 0x9E37_79B9_7F4A_7C15 // 2^64 over the golden ratio; spreads boards that differ little
	for i := uint64(board) * multiplier >> (t.shift & 63); ; i++ {
		slot := &t.slots[i&uint64(len(t.slots)-1)]
		if slot.searchNumber != t.searchNumber || slot.board == board {
			return slot
		}
	}
}

// get returns the slot of a board; nil if there is none.
func (t *searchTable) get(board game.Board) *tableSlot {
	if s := t.find(board); s.searchNumber == t.searchNumber {
		return s
	}
	return nil
}

// put stores the value of a board at a level, and replaces an earlier value of the board. It stores no new board if the table is full.
func (t *searchTable) put(board game.Board, level int, value int64) {
	slot := t.find(board)
	if slot.searchNumber != t.searchNumber {
		if t.used >= t.maxBoards {
			return
		}
		t.used++
	}
	*slot = tableSlot{board: board, value: value, level: int32(level), searchNumber: t.searchNumber}
	if 2*t.used > len(t.slots) {
		t.grow()
	}
}

// grow doubles the number of slots.
func (t *searchTable) grow() {
	oldSlots := t.slots
	t.resize(2 * len(oldSlots))
	for _, slot := range oldSlots {
		if slot.searchNumber == t.searchNumber {
			*t.find(slot.board) = slot
		}
	}
}
