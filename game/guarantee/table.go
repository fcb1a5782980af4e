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

// slot returns the index of a board in the hash table, or of the free slot for it.
func (t *table) slot(board game.Board) int {
	key := uint64(board)
	firstSlot, _ := bits.Mul64((key^key>>29)*0x9E37_79B9_7F4A_7C15, uint64(len(t.boards)))
	for index := int(firstSlot); ; {
		if t.boards[index] == board || t.boards[index] == 0 {
			return index
		}
		if index++; index == len(t.boards) {
			index = 0
		}
	}
}

// get returns the number of a board.
func (t *table) get(board game.Board) uint8 { return t.values[t.slot(board)] }

// set stores the value of a board.
func (t *table) set(board game.Board, value uint8) {
	if 4*t.count >= 3*len(t.boards) {
		t.grow()
	}
	index := t.slot(board)
	if t.boards[index] == 0 {
		t.count++
	}
	t.boards[index], t.values[index] = board, value
}

// grow doubles the number of slots.
func (t *table) grow() {
	oldTable := *t
	t.boards, t.values = make([]game.Board, 2*len(oldTable.boards)), make([]uint8, 2*len(oldTable.boards))
	for i, board := range oldTable.boards {
		if board != 0 {
			index := t.slot(board)
			t.boards[index], t.values[index] = board, oldTable.values[i]
		}
	}
}

// tableDecisions has the boards that a depth-first search has decided. The key of a board is the board.
type tableDecisions struct {
	*table
	rules *game.Rules
}

func (d tableDecisions) key(board game.Board) uint64 { return uint64(board) }

func (d tableDecisions) get(key uint64, _ int) uint8 {
	board, _ := d.rules.Canonical(game.Board(key))
	return d.table.get(board)
}

func (d tableDecisions) newSet() boardSet { return &tableSet{rules: d.rules, tables: map[int]*table{}} }

// tableSet is a set of canonical boards, with a table for each sum of the tiles.
type tableSet struct {
	rules  *game.Rules
	tables map[int]*table // by half of the sum
}

func (s *tableSet) has(key uint64, half int) bool {
	t := s.tables[half]
	if t == nil {
		return false
	}
	board, _ := s.rules.Canonical(game.Board(key))
	return t.get(board) != 0
}

func (s *tableSet) add(board game.Board, half int) {
	if s.tables[half] == nil {
		s.tables[half] = newTable()
	}
	s.tables[half].set(board, 1)
}

// dropLayer removes the values of the boards whose tiles have the sum 2*half.
func (s *tableSet) dropLayer(half int) { delete(s.tables, half) }
