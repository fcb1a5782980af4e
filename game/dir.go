package game

import (
	"fmt"
	"math/bits"
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

// Has reports whether d is in the set.
func (m Moves) Has(d Dir) bool { return m>>d&1 != 0 }

// Len returns the number of directions in the set, 0 to 4.
func (m Moves) Len() int { return bits.OnesCount8(uint8(m)) }

// At returns the n-th direction of the set in the order of the constants, counted from 0. It panics unless 0 <= n < Len().
// m.At(rng.IntN(m.Len())) is a uniform choice.
func (m Moves) At(n int) Dir {
	checkRange("move", n, m.Len())
	for range n {
		m &= m - 1
	}
	return Dir(bits.TrailingZeros8(uint8(m)))
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
	if i < 0 || i >= limit {
		panic(fmt.Sprintf("game: %s %d out of range [0,%d)", what, i, limit))
	}
}
