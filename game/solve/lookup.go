package solve

import (
	"math/bits"
	"sync/atomic"
)

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

// reset makes room for n boards and forgets all there are.
func (l *lookup) reset(n uint64) {
	size := int(n + n/2 + 1)
	if cap(l.slots) < size {
		l.slots = nil // before more is asked for
		l.slots = make([]slot, size)
		return
	}
	l.slots = l.slots[:size]
	clear(l.slots)
}

// home returns where the search for a board starts.
func (l *lookup) home(board uint64) int {
	hi, _ := bits.Mul64((board^board>>29)*0x9E37_79B9_7F4A_7C15, uint64(len(l.slots)))
	return int(hi)
}

// add adds a board that is not there yet. Calls may run at the same time: where boards end up depends on their order, what get finds does
// not.
func (l *lookup) add(board uint64, value float64) {
	for at := l.home(board); ; {
		s := &l.slots[at]
		if atomic.LoadUint64(&s.board) == 0 && atomic.CompareAndSwapUint64(&s.board, 0, board) {
			s.value = value
			return
		}
		if at++; at == len(l.slots) {
			at = 0
		}
	}
}

// get returns the value of a board, false when it is not there. It must not run at the same time as add.
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
