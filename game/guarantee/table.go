package guarantee

import (
	"math/bits"

	"tilecheck/game"
)

// table maps boards to small numbers, with open addressing and linear probing. The number 0 stands for a board that is not in the table; the empty
// board is never in it.
type table struct {
	boards []game.Board
	values []uint8
	count  int
}

const firstSlots = 1 << 12

// tableBytes is the largest memory of a board: while a table grows that is three quarters full, there are three times as many slots.
const tableBytes = 9 * 3 * 4 / 3

func newTable() *table {
	return &table{boards: make([]game.Board, firstSlots), values: make([]uint8, firstSlots)}
}

// slot returns the index of a board, or of the free slot where it belongs.
func (t *table) slot(b game.Board) int {
	x := uint64(b)
	hi, _ := bits.Mul64((x^x>>29)*0x9E37_79B9_7F4A_7C15, uint64(len(t.boards)))
	for at := int(hi); ; {
		if t.boards[at] == b || t.boards[at] == 0 {
			return at
		}
		if at++; at == len(t.boards) {
			at = 0
		}
	}
}

// get returns the number of a board.
func (t *table) get(b game.Board) uint8 { return t.values[t.slot(b)] }

// set sets the number of a board.
func (t *table) set(b game.Board, value uint8) {
	if 4*t.count >= 3*len(t.boards) {
		t.grow()
	}
	at := t.slot(b)
	if t.boards[at] == 0 {
		t.count++
	}
	t.boards[at], t.values[at] = b, value
}

// grow doubles the number of slots.
func (t *table) grow() {
	old := *t
	t.boards, t.values = make([]game.Board, 2*len(old.boards)), make([]uint8, 2*len(old.boards))
	for i, b := range old.boards {
		if b != 0 {
			at := t.slot(b)
			t.boards[at], t.values[at] = b, old.values[i]
		}
	}
}
