package game

import (
	"errors"
	"math/bits"
	"math/rand/v2"
)

// ErrOverflow is returned by a move that merges two tiles of 2^15 = 32768: their sum does not fit a cell.
var ErrOverflow = errors.New("merge of two 32768 tiles does not fit a cell")

// FourOdds says how often a new tile is a 4: once in FourOdds times; otherwise it is a 2.
const FourOdds = 10

// Rules are the rules of 2048 on boards of one shape. They do not change once made, and may be shared by goroutines.
// The boards passed to the methods must be of that shape.
type Rules struct {
	shape      Shape
	rows, cols slider

	cells        uint64 // flags of the cells in the shape
	hasRight     uint64 // flags of the cells with a right neighbour
	hasBelow     uint64 // flags of the cells with a neighbour below
	below        int    // bits from a cell to the one below it
	transpose    permutation
	untranspose  permutation
	flipH, flipV permutation
}

// New returns the rules for a shape. The error is that of shape.Validate.
//
// For lines of four cells it builds tables of half a megabyte, in a millisecond or two: do it once.
func New(shape Shape) (*Rules, error) {
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	rows, cols := shape.Rows, shape.Cols
	r := &Rules{shape: shape, below: 4 * cols, rows: newSlider(rows, cols)}
	r.cols = r.rows
	if rows != cols {
		r.cols = newSlider(cols, rows)
	}
	r.setFlags()
	r.transpose = newPermutation(shape, func(row, col int) int { return col*rows + row })
	r.untranspose = newPermutation(Shape{cols, rows}, func(row, col int) int { return col*cols + row })
	r.flipH = newPermutation(shape, func(row, col int) int { return row*cols + cols - 1 - col })
	r.flipV = newPermutation(shape, func(row, col int) int { return (rows-1-row)*cols + col })
	return r, nil
}

func (r *Rules) setFlags() {
	for i := range r.shape.Cells() {
		flag := uint64(1) << (4 * i)
		r.cells |= flag
		if i%r.shape.Cols < r.shape.Cols-1 {
			r.hasRight |= flag
		}
		if i/r.shape.Cols < r.shape.Rows-1 {
			r.hasBelow |= flag
		}
	}
}

// Shape returns the shape the rules are for.
func (r *Rules) Shape() Shape { return r.shape }

// Move slides all tiles towards d and returns the board after it and the score, the sum of the values of the merged tiles. No new tile
// is added. The move is illegal exactly when next == b and err is nil. Move panics when d is none of the four directions.
//
// A merge of two tiles of 2^15 returns b, 0 and ErrOverflow. By the rules that move is legal, and Legal says so.
//
// Source: thesis section 3.1; Slide is the same on one line.
func (r *Rules) Move(b Board, d Dir) (next Board, score int, err error) {
	var s slid
	switch d {
	case Left, Right:
		s = r.rows.slide(uint64(b), d == Right)
	case Up, Down:
		s = r.cols.slide(r.transposed(uint64(b)), d == Down)
		s.cells = r.untransposed(s.cells)
	default:
		checkRange("direction", int(d), numDirs)
	}
	if s.overflow {
		return b, 0, ErrOverflow
	}
	return Board(s.cells), s.score, nil
}

// Legal returns the directions that change the board: some tile has an empty cell or an equal tile next to it on that side.
// The set is empty for an empty board and for one that is lost.
//
// Source: thesis section 3.5, movable and mergeable.
func (r *Rules) Legal(b Board) Moves {
	tiles := filled(b)
	empty := r.cells &^ tiles
	// Flags are for the left (upper) cell of each pair of neighbours.
	equalH := ^filled(b^b>>4) & tiles & r.hasRight
	equalV := ^filled(b^b>>r.below) & tiles & r.hasBelow
	var m Moves
	if empty&(tiles>>4)&r.hasRight|equalH != 0 {
		m |= 1 << Left
	}
	if tiles&(empty>>4)&r.hasRight|equalH != 0 {
		m |= 1 << Right
	}
	if empty&(tiles>>r.below)&r.hasBelow|equalV != 0 {
		m |= 1 << Up
	}
	if tiles&(empty>>r.below)&r.hasBelow|equalV != 0 {
		m |= 1 << Down
	}
	return m
}

// Lost reports whether the board is full and no move is legal.
//
// Source: thesis section 3.6, the fail condition.
func (r *Rules) Lost(b Board) bool { return filled(b) == r.cells && r.Legal(b) == 0 }

// Empties returns the number of empty cells.
func (r *Rules) Empties(b Board) int { return bits.OnesCount64(r.cells &^ filled(b)) }

// Spawn puts a tile of exponent exp into the n-th empty cell, row-major and counted from 0.
// It panics unless 0 <= n < Empties(b) and 1 <= exp <= MaxExponent.
func (r *Rules) Spawn(b Board, n, exp int) Board {
	checkRange("empty cell", n, r.Empties(b))
	checkRange("exponent less one", exp-1, MaxExponent)
	return b.With(nth(r.cells&^filled(b), n), exp)
}

// AddRandom puts a 2, or once in FourOdds times a 4, into an empty cell chosen uniformly. It draws once from rng (with the usual
// rejection, so nothing is biased). It panics when the board is full.
//
// Source: thesis section 3.1.
func (r *Rules) AddRandom(b Board, rng *rand.Rand) Board {
	empty := r.cells &^ filled(b)
	draw := int(rng.Uint32N(uint32(FourOdds * bits.OnesCount64(empty))))
	exp := Board(1)
	if draw%FourOdds == 0 {
		exp = 2
	}
	return b | exp<<(4*nth(empty, draw/FourOdds))
}

// Start returns the board a game starts with: two random tiles.
func (r *Rules) Start(rng *rand.Rand) Board { return r.AddRandom(r.AddRandom(0, rng), rng) }
