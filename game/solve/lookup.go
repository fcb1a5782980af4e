package solve

import "math/bits"

// lookup is a hash table of the values of boards, with open addressing and linear probing. The board 0 marks a free slot.
type lookup struct {
	slots []slot
}

type slot struct {
	board uint64
	value float64
}

// lookupBytes is the memory of a board in a lookup: a slot of 16 bytes and half of a free one.
const lookupBytes = 24

// slotsFor returns the number of slots for n boards.
func slotsFor(n int) int { return n + n/2 + 1 }

// reset removes all boards and makes room for n.
func (l *lookup) reset(size int) {
	l.slots = resized(l.slots, slotsFor(size))
	clear(l.slots)
}

// resized returns a slice of n slots with arbitrary contents.
func resized(slots []slot, n int) []slot {
	if cap(slots) < n {
		return make([]slot, n)
	}
	return slots[:n]
}

// startIndex returns the index at which the search for a board starts.
func (l *lookup) startIndex(board uint64) int {
	hi, _ := bits.Mul64((board^board>>29)*0x9E37_79B9_7F4A_7C15, uint64(len(l.slots)))
	return int(hi)
}

// add adds a board that is not in the lookup.
func (l *lookup) add(board uint64, value float64) {
	for index := l.startIndex(board); ; {
		if candidate := &l.slots[index]; candidate.board == 0 {
			*candidate = slot{board, value}
			return
		}
		if index++; index == len(l.slots) {
			index = 0
		}
	}
}

// get returns the value of a board; false if the board is not in the lookup.
func (l *lookup) get(board uint64) (float64, bool) {
	for index := l.startIndex(board); ; {
		candidate := &l.slots[index]
		if candidate.board == board {
			return candidate.value, true
		}
		if candidate.board == 0 {
			return 0, false
		}
		if index++; index == len(l.slots) {
			index = 0
		}
	}
}

// lookups has a lookup for each part of a layer, in one allocation.
type lookups struct {
	slots []slot
	parts []lookup
}

// reset makes room for boardsOf(part) boards of each part. The caller must clear a part before use.
func (l *lookups) reset(parts int, boardsOf func(part int) int) {
	sizes, total := make([]int, parts), 0
	for part := range sizes {
		sizes[part] = slotsFor(boardsOf(part))
		total += sizes[part]
	}
	if cap(l.slots) < total {
		l.slots = nil // lets the garbage collector free it before the next allocation
	}
	l.slots = resized(l.slots, total)
	l.parts = l.parts[:0]
	free := l.slots
	for _, size := range sizes {
		l.parts = append(l.parts, lookup{free[:size:size]})
		free = free[size:]
	}
}
