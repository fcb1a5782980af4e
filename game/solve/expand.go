package solve

import (
	"math/bits"

	"tilecheck/game"
)

// expander computes successors of canonical boards. A position is a board with the player to move; an afterstate is a board
// after a move and before the new tile. Both are stored as canonical boards. Neither contains MAX, which ends the game.
type expander struct {
	*partition
	*numbering
	problem Problem
	rules   *game.Rules
	orbit   *orbit
	cells   uint64 // a flag for each cell
	toMax   uint64 // added to a cell in a byte of its own, carries into bit 4 from MAX upwards
}

// order is the order and numbering of boards in records.
type order struct {
	*partition
	*numbering
}

func (e *expander) order() order { return order{e.partition, e.numbering} }

const flags = 0x1111_1111_1111_1111 // the lowest bit of each cell

func newExpander(p Problem) (*expander, error) {
	rules, err := game.New(p.Shape)
	if err != nil {
		return nil, err
	}
	o := newOrbit(p.Shape)
	return &expander{
		partition: newPartition(p, o), numbering: newNumbering(p.MaxExp), problem: p, rules: rules, orbit: o,
		cells: flags & (1<<(4*p.Shape.Cells()) - 1), // of sixteen: 1<<64 is 0
		toMax: uint64(16-p.MaxExp) * 0x0101_0101_0101_0101,
	}, nil
}

// won reports whether MAX is on the board. It is game.Board.AtLeast with the constant made before.
func (e *expander) won(b game.Board) bool {
	const low = 0x0F0F_0F0F_0F0F_0F0F
	return ((uint64(b)&low+e.toMax)|(uint64(b)>>4&low+e.toMax))&^low != 0
}

// odds returns the weight, out of Of, of a new tile with exponent exp, which is 1 or 2.
func (e *expander) odds(exp int) uint32 {
	if exp == 1 {
		return e.problem.Twos
	}
	return e.problem.Of - e.problem.Twos
}

// spawnWins reports whether a new tile of exponent exp is MAX.
func (e *expander) spawnWins(exp int) bool { return exp >= e.problem.MaxExp }

// spawns reports whether a new tile of exponent exp is possible and does not end the game.
func (e *expander) spawns(exp int) bool { return e.odds(exp) > 0 && !e.spawnWins(exp) }

// spawn appends the canonical positions that a tile of exponent exp makes of an afterstate, in those empty cells that are in cells.
func (e *expander) spawn(dst []uint64, after uint64, exp int, cells uint64) []uint64 {
	empty := e.empties(after) & cells
	if empty == 0 {
		return dst
	}
	var images [8]uint64
	e.orbit.all(after, &images)
	for ; empty != 0; empty &= empty - 1 {
		dst = append(dst, e.orbit.leastWith(&images, bits.TrailingZeros64(empty)/4, uint64(exp)))
	}
	return dst
}

// empties returns flags of the empty cells.
func (e *expander) empties(b uint64) uint64 {
	b |= b >> 2
	b |= b >> 1
	return e.cells &^ b
}
