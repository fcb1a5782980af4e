package game

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// Dir is the direction of a move, the wall the tiles slide to.
type Dir uint8

// The four directions. Their order is fixed: it is that of Moves.At and of tie breaks.
const (
	Left Dir = iota
	Right
	Up
	Down
	numDirs = 4
)

// String returns "left", "right", "up" or "down".
func (d Dir) String() string {
	switch d {
	case Left:
		return "left"
	case Right:
		return "right"
	case Up:
		return "up"
	case Down:
		return "down"
	}
	return fmt.Sprintf("Dir(%d)", uint8(d))
}

// Moves is a set of directions; bit d is set when d is in it. The zero value is the empty set.
type Moves uint8

// Has reports whether a direction is in the set.
func (m Moves) Has(dir Dir) bool { return m>>dir&1 != 0 }

// Len returns the number of directions in the set, 0 to 4.
func (m Moves) Len() int { return bits.OnesCount8(uint8(m)) }

// At returns the n-th direction of the set in the order of the constants, counted from 0. It panics unless 0 <= n < Len().
func (m Moves) At(n int) Dir {
	// Two bits for each direction in the set, for each of the 16 sets: a loop, or a branch, would be mispredicted half of the time.
	const inOrder = "\x00\x00\x01\x04\x02\x08\x09\x24\x03\x0C\x0D\x34\x0E\x38\x39\xE4"
	checkRange("move", n, m.Len())
	return Dir(inOrder[m&15] >> (2 * n & 7) & 3)
}

// Random returns a direction of the set, each equally likely. It draws once from rng (with the usual rejection). It panics when the set is
// empty.
func (m Moves) Random(rng *rand.Rand) Dir {
	size := uint64(m.Len())
	for {
		move, fraction := bits.Mul64(rng.Uint64(), size)
		if fraction >= size || fraction >= -size%size {
			return m.At(int(move))
		}
	}
}

// String returns the directions separated by commas, "left,up".
func (m Moves) String() string {
	names := make([]string, m.Len())
	for n := range names {
		names[n] = m.At(n).String()
	}
	return strings.Join(names, ",")
}

// checkRange panics unless 0 <= i < limit: a caller's bug, like an index out of range.
func checkRange(what string, i, limit int) {
	if uint(i) >= uint(limit) {
		outOfRange(what, i, limit)
	}
}

// outOfRange panics. It is a function of its own so that checkRange is small enough to be inlined.
func outOfRange(what string, i, limit int) {
	panic(fmt.Sprintf("game: %s %d out of range [0,%d)", what, i, limit))
}
