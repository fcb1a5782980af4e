package tiles

import "math/bits"

// table maps boards to numbers, with open addressing and linear probing. The empty board is never in it.
type table struct {
	boards []board
	values []uint64 // nil if the table is only a set
	count  int
}

// newTable returns an empty table, or an empty set.
func newTable(set bool) *table {
	t := &table{boards: make([]board, 64)}
	if !set {
		t.values = make([]uint64, 64)
	}
	return t
}

// slot returns the index of a board, or of the free slot where it belongs.
func (t *table) slot(b board) (at int, found bool) {
	hi, _ := bits.Mul64((uint64(b)^uint64(b)>>31)*0xD6E8_FEB8_6659_FD93, uint64(len(t.boards)))
	for at = int(hi); t.boards[at] != 0; {
		if t.boards[at] == b {
			return at, true
		}
		if at++; at == len(t.boards) {
			at = 0
		}
	}
	return at, false
}

// get returns the number of a board, and whether it is in the table. A nil table is empty.
func (t *table) get(b board) (value uint64, found bool) {
	if t == nil {
		return 0, false
	}
	at, found := t.slot(b)
	if found && t.values != nil {
		value = t.values[at]
	}
	return value, found
}

// add adds a board and reports whether it is new.
func (t *table) add(b board, value uint64) bool {
	if 3*t.count >= 2*len(t.boards) {
		old := *t
		t.boards = make([]board, 2*len(old.boards))
		if t.values != nil {
			t.values = make([]uint64, 2*len(old.boards))
		}
		for i, other := range old.boards {
			if other != 0 {
				at, _ := t.slot(other)
				t.boards[at] = other
				if t.values != nil {
					t.values[at] = old.values[i]
				}
			}
		}
	}
	at, found := t.slot(b)
	if found {
		return false
	}
	t.count++
	t.boards[at] = b
	if t.values != nil {
		t.values[at] = value
	}
	return true
}

// layers has the boards of a certificate by the sum of their tiles. Sums descend, so only the layers that a new tile can lead to are kept.
type layers map[int]*table

// aboveAllSums is greater than the sum of the tiles of every board.
const aboveAllSums = 1 << 20

// begin begins the layer of a sum, and drops those that no board with this sum leads to: a new tile adds 2 or 4.
func (l layers) begin(sum int, set bool) {
	l[sum] = newTable(set)
	for other := range l {
		if other > sum+4 {
			delete(l, other)
		}
	}
}
