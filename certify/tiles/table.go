package tiles

import "math/bits"

// table maps boards to numbers, with open addressing and linear probing. The empty board is never in it.
type table struct {
	boards []board
	values []uint64 // nil if the table is only a set
	count  int
}

// newTable returns an empty table or, if isSet is true, an empty set of boards.
func newTable(isSet bool) *table {
	t := &table{boards: make([]board, 64)}
	if !isSet {
		t.values = make([]uint64, 64)
	}
	return t
}

// slotOf returns the index of the slot that contains a board. If the table does not have the board, it returns the free slot for it.
func (t *table) slotOf(b board) (index int, isPresent bool) {
	hash := (uint64(b) ^ uint64(b)>>31) * 0xD6E8_FEB8_6659_FD93
	scaledHash, _ := bits.Mul64(hash, uint64(len(t.boards))) // hash * len / 2^64
	for index = int(scaledHash); t.boards[index] != 0; {
		if t.boards[index] == b {
			return index, true
		}
		index++
		if index == len(t.boards) {
			index = 0
		}
	}
	return index, false
}

// lookUp returns the number of a board, and whether it is in the table. A nil table is empty.
func (t *table) lookUp(b board) (value uint64, isPresent bool) {
	if t == nil {
		return 0, false
	}
	index, isPresent := t.slotOf(b)
	if isPresent && t.values != nil {
		value = t.values[index]
	}
	return value, isPresent
}

// addBoard adds a board with its number, and reports whether the board is new. A set ignores the number.
func (t *table) addBoard(b board, value uint64) (isNew bool) {
	isNearlyFull := 3*t.count >= 2*len(t.boards)
	if isNearlyFull {
		t.grow()
	}
	index, isPresent := t.slotOf(b)
	if isPresent {
		return false
	}
	t.count++
	t.boards[index] = b
	if t.values != nil {
		t.values[index] = value
	}
	return true
}

// grow doubles the number of slots.
func (t *table) grow() {
	oldTable := *t
	t.boards = make([]board, 2*len(oldTable.boards))
	if t.values != nil {
		t.values = make([]uint64, 2*len(oldTable.boards))
	}
	for i, b := range oldTable.boards {
		if b == 0 {
			continue
		}
		index, _ := t.slotOf(b)
		t.boards[index] = b
		if t.values != nil {
			t.values[index] = oldTable.values[i]
		}
	}
}

// layers has the boards of a certificate by the sum of their tiles. Sums descend, so only the layers that a new tile can lead to are kept.
type layers map[int]*table

// aboveAllSums is greater than the sum of the tiles of every board.
const aboveAllSums = 1 << 20

// addLayer adds an empty layer for the boards whose tiles have the given sum: a set of boards if isSet is true, a table of values otherwise. It removes the
// layers above sum+4, which are no longer needed: a new tile adds at most 4 to the sum.
func (l layers) addLayer(sum int, isSet bool) {
	l[sum] = newTable(isSet)
	for oldSum := range l {
		if oldSum > sum+4 {
			delete(l, oldSum)
		}
	}
}
