package solve

import "math/bits"

// lookup finds the values of boards: open addressing with linear probing. No board is 0.
type lookup struct {
	slots []slot
}

type slot struct {
	board uint64
	value float64
}

// lookupBytes is the memory that a board takes: 16 bytes and half as much unused.
const lookupBytes = 24

// slotsFor returns how many slots n boards take.
func slotsFor(n int) int { return n + n/2 + 1 }

// reset makes room for n boards and forgets all there are.
func (l *lookup) reset(n int) {
	l.slots = resized(l.slots, slotsFor(n))
	clear(l.slots)
}

// resized returns a slice of so many slots, with anything in it.
func resized(slots []slot, n int) []slot {
	if cap(slots) < n {
		return make([]slot, n)
	}
	return slots[:n]
}

// home returns where the search for a board starts.
func (l *lookup) home(board uint64) int {
	hi, _ := bits.Mul64((board^board>>29)*0x9E37_79B9_7F4A_7C15, uint64(len(l.slots)))
	return int(hi)
}

// add adds a board that is not there yet.
func (l *lookup) add(board uint64, value float64) {
	for at := l.home(board); ; {
		if s := &l.slots[at]; s.board == 0 {
			*s = slot{board, value}
			return
		}
		if at++; at == len(l.slots) {
			at = 0
		}
	}
}

// get returns the value of a board, false when it is not there.
func (l *lookup) get(board uint64) (float64, bool) {
	for at := l.home(board); ; {
		s := &l.slots[at]
		if s.board == board {
			return s.value, true
		}
		if s.board == 0 {
			return 0, false
		}
		if at++; at == len(l.slots) {
			at = 0
		}
	}
}

// lookups is a lookup for each part of a layer, in one piece of memory.
type lookups struct {
	slots []slot
	parts []lookup
}

// reset makes room for so many boards of each part. The parts must be cleared before they are used.
func (l *lookups) reset(parts int, boardsOf func(part int) int) {
	sizes, total := make([]int, parts), 0
	for part := range sizes {
		sizes[part] = slotsFor(boardsOf(part))
		total += sizes[part]
	}
	if cap(l.slots) < total {
		l.slots = nil // before more is asked for
	}
	l.slots = resized(l.slots, total)
	l.parts = l.parts[:0]
	left := l.slots
	for _, n := range sizes {
		l.parts = append(l.parts, lookup{left[:n:n]})
		left = left[n:]
	}
}
