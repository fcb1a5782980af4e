package induced

import (
	"math/bits"

	"tilecheck/game"
)

// table is a hash table from boards other than the empty one to values, with open addressing, linear probing and a load of at most two thirds.
type table[V any] struct {
	slots []slot[V]
	len   int
}

type slot[V any] struct {
	board game.Board // 0 if the slot is free
	value V
}

// newTable returns a table with room for n boards.
func newTable[V any](n int) *table[V] {
	return &table[V]{slots: make([]slot[V], 1<<bits.Len(uint(n+n/2+8)))}
}

// find returns the slot of a board, or the free slot in which to insert it.
func (t *table[V]) find(board game.Board) *slot[V] {
	mask := uint64(len(t.slots) - 1)
	for i := mix(board) & mask; ; i = (i + 1) & mask {
		if candidate := &t.slots[i]; candidate.board == board || candidate.board == 0 {
			return candidate
		}
	}
}

// mix hashes a board.
//
// Source: S. Vigna's splitmix64 after D. Stafford's variant 13 of the finalizer of MurmurHash3.
func mix(board game.Board) uint64 {
	x := uint64(board)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// valueAt returns a pointer to the value of a board, which it inserts with a zero value if it is new. The pointer is valid until the next call.
func (t *table[V]) valueAt(board game.Board) *V {
	slot := t.find(board)
	if slot.board == 0 {
		if 3*t.len >= 2*len(t.slots) {
			t.grow()
			slot = t.find(board)
		}
		slot.board = board
		t.len++
	}
	return &slot.value
}

// get returns the value of a board and whether the table has it. A nil table is empty.
func (t *table[V]) get(board game.Board) (V, bool) {
	if t == nil {
		var zero V
		return zero, false
	}
	slot := t.find(board)
	return slot.value, slot.board != 0
}

// grow doubles the number of slots.
func (t *table[V]) grow() {
	oldSlots := t.slots
	t.slots = make([]slot[V], 2*len(oldSlots))
	for _, entry := range oldSlots {
		if entry.board != 0 {
			*t.find(entry.board) = entry
		}
	}
}
