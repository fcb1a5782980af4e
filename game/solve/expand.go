package solve

import (
	"math/bits"

	"tilecheck/game"
)

// expander computes successors of canonical boards. A position is a board with the player to move. An afterstate is a board after a move and
// before the new tile. Neither contains the winning tile MAX, which ends the game.
type expander struct {
	*partition
	*numbering
	problem  Problem
	rules    *game.Rules
	orbit    *orbit
	cells    uint64 // flag of each cell
	maxCarry uint64 // added to a cell in a byte of its own, it carries into bit 4 if the cell has at least MAX
}

// order is the order and numbering of boards in records.
type order struct {
	*partition
	*numbering
}

func (e *expander) order() order { return order{e.partition, e.numbering} }

const cellFlags = 0x1111_1111_1111_1111 // the lowest bit of each cell

// newExpander returns the tables for the boards of a problem: the rules, the symmetries, the partition and the numbering of boards.
func newExpander(problem Problem) (*expander, error) {
	rules, err := game.New(problem.Shape)
	if err != nil {
		return nil, err
	}
	symmetries := newOrbit(problem.Shape)
	return &expander{
		partition: newPartition(problem, symmetries), numbering: newNumbering(problem.MaxExp), problem: problem, rules: rules, orbit: symmetries,
		cells:    cellFlags & (1<<(4*problem.Shape.Cells()) - 1), // with sixteen cells 1<<64 is 0
		maxCarry: uint64(16-problem.MaxExp) * 0x0101_0101_0101_0101,
	}, nil
}

// won reports whether MAX is on the board. It is a faster game.Board.AtLeast.
func (e *expander) won(board game.Board) bool {
	const low = 0x0F0F_0F0F_0F0F_0F0F
	return ((uint64(board)&low+e.maxCarry)|(uint64(board)>>4&low+e.maxCarry))&^low != 0
}

// tileWeight returns the weight of a new tile with exponent exp, 1 or 2; its probability is the weight divided by Total.
func (e *expander) tileWeight(exp int) uint32 {
	if exp == 1 {
		return e.problem.Twos
	}
	return e.problem.Total - e.problem.Twos
}

// spawnWins reports whether a new tile of exponent exp is MAX.
func (e *expander) spawnWins(exp int) bool { return exp >= e.problem.MaxExp }

// canSpawn reports whether a new tile of exponent exp is possible and does not end the game.
func (e *expander) canSpawn(exp int) bool { return e.tileWeight(exp) > 0 && !e.spawnWins(exp) }

// spawn appends to dst the canonical positions after a new tile with an exponent, one for each empty cell of the afterstate that is in cells.
func (e *expander) spawn(dst []uint64, afterstate uint64, exponent int, cells uint64) []uint64 {
	empty := e.empties(afterstate) & cells
	if empty == 0 {
		return dst
	}
	var images [8]uint64
	e.orbit.allImages(afterstate, &images)
	for ; empty != 0; empty &= empty - 1 {
		dst = append(dst, e.orbit.leastImageWithTile(&images, bits.TrailingZeros64(empty)/4, uint64(exponent)))
	}
	return dst
}

// empties returns the flags of the empty cells.
func (e *expander) empties(b uint64) uint64 {
	b |= b >> 2
	b |= b >> 1
	return e.cells &^ b
}
