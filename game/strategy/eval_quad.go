package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// quadLeaves are the leaves of 4x4 boards that are evaluated by a sum over lines.
//
// A new tile changes one row and one column. Moves to the left and right then change one row more than they did without the new tile,
// and with it one cell of each column: the sums over the other rows, and the columns without that cell, are made once.
type quadLeaves struct {
	plainLeaves
	rows, cols [4]*lineValues
	slides     *[1 << 16]slide
}

type lineValues [1 << 16]int64

// slide is what a line becomes by a move towards its start and towards its end.
type slide struct {
	// lanes has the same with a lane of 16 bits for each cell: towards the start in cell 0 of the lane, towards the end in cell 2.
	lanes      uint64
	start, end uint16
}

func newQuadLeaves(plain plainLeaves, sum *lineSum) *quadLeaves {
	q := &quadLeaves{plainLeaves: plain, slides: new([1 << 16]slide)}
	for i := range 4 {
		q.rows[i], q.cols[i] = (*lineValues)(sum.rows[i].values), (*lineValues)(sum.cols[i].values)
	}
	for line := range q.slides {
		// A line that overflows stays as it is: boards with two of the largest tiles are left to plainLeaves.
		start, _, _ := plain.rules.Move(game.Board(line), game.Left)
		end, _, _ := plain.rules.Move(game.Board(line), game.Right)
		q.slides[line] = slide{lanes: lanesOf(uint16(start)) | lanesOf(uint16(end))<<8, start: uint16(start), end: uint16(end)}
	}
	return q
}

// oneCell is cell 0 of each lane.
const oneCell = 0x000F_000F_000F_000F

// lanesOf puts the four cells of a line into cell 0 of four lanes.
func lanesOf(line uint16) uint64 {
	x := uint64(line)
	x = (x | x<<24) & 0x0000_00FF_0000_00FF
	return (x | x<<12) & oneCell
}

func (q *quadLeaves) value(b game.Board) int64 {
	return sumLines(&q.rows, uint64(b)) + sumLines(&q.cols, transposed(uint64(b)))
}

// sumLines adds up the values of four lines, 16 bits each.
func sumLines(of *[4]*lineValues, lines uint64) int64 {
	return of[0][uint16(lines)] + of[1][uint16(lines>>16)] + of[2][uint16(lines>>32)] + of[3][lines>>48]
}

// transposed swaps rows and columns.
func transposed(x uint64) uint64 {
	t := (x ^ x>>12) & 0x0000_F0F0_0000_F0F0
	x ^= t ^ t<<12
	t = (x ^ x>>24) & 0x0000_0000_FF00_FF00
	return x ^ t ^ t<<24
}

// emptyCells has the lowest bit of each empty cell of a 4x4 board set.
func emptyCells(b uint64) uint64 {
	b |= b >> 2
	b |= b >> 1
	return ^b & 0x1111_1111_1111_1111
}

// axis is both moves of a board along its lines, which are its rows or its columns. Of every pair the first is of the move towards the
// start, the second of that towards the end.
type axis struct {
	lines [4]uint16
	moved [2]uint64    // the board after the move; lane i is line i of the other axis
	sums  [4][2]int64  // of the values of all moved lines but this
	moves [4][2]uint32 // not 0 if some line but this moves
}

// set makes the moves of a board whose lines are lanes.
func (a *axis) set(lines uint64, values *[4]*lineValues, slides *[1 << 16]slide) {
	var sums [2]int64
	var moves [2]uint32
	var starts, ends uint64
	for i := range 4 {
		line := uint16(lines >> (16 * i))
		s := &slides[line]
		starts |= s.lanes & oneCell << (4 * i)
		ends |= s.lanes >> 8 & oneCell << (4 * i)
		a.lines[i] = line
		a.sums[i] = [2]int64{values[i][s.start], values[i][s.end]}
		a.moves[i] = [2]uint32{uint32(s.start ^ line), uint32(s.end ^ line)}
		sums[0] += a.sums[i][0]
		sums[1] += a.sums[i][1]
		moves[0] += a.moves[i][0]
		moves[1] += a.moves[i][1]
	}
	for i := range 4 {
		a.sums[i] = [2]int64{sums[0] - a.sums[i][0], sums[1] - a.sums[i][1]}
		a.moves[i] = [2]uint32{moves[0] - a.moves[i][0], moves[1] - a.moves[i][1]}
	}
	a.moved = [2]uint64{starts, ends}
}

func (q *quadLeaves) lastRound(board game.Board, fours bool) (two, four int64, err error) {
	b := uint64(board)
	if twoLargest(b) {
		return q.plainLeaves.lastRound(board, fours)
	}
	last := uint16(1)
	if fours {
		last = 2
	}
	floor := q.floor()
	var h, v axis
	h.set(b, &q.rows, q.slides)
	v.set(transposed(b), &q.cols, q.slides)
	for empty := emptyCells(b); empty != 0; empty &= empty - 1 {
		at := uint(bits.TrailingZeros64(empty))
		i, j := at>>4&3, at>>2&3 // row and column
		inRow, inCol := 4*j&15, 4*i&15
		left, right := h.moved[0]&^(oneCell<<inCol), h.moved[1]&^(oneCell<<inCol)
		up, down := v.moved[0]&^(oneCell<<inRow), v.moved[1]&^(oneCell<<inRow)
		for exp := uint16(1); exp <= last; exp++ {
			row := h.lines[i] | exp<<inRow
			s := &q.slides[row]
			best := max(floor,
				orFloor(h.sums[i][0]+q.rows[i][s.start]+sumLines(&q.cols, left|s.lanes&oneCell<<inCol), h.moves[i][0]|uint32(s.start^row), floor),
				orFloor(h.sums[i][1]+q.rows[i][s.end]+sumLines(&q.cols, right|s.lanes>>8&oneCell<<inCol), h.moves[i][1]|uint32(s.end^row), floor))
			col := v.lines[j] | exp<<inCol
			s = &q.slides[col]
			best = max(best,
				orFloor(v.sums[j][0]+q.cols[j][s.start]+sumLines(&q.rows, up|s.lanes&oneCell<<inRow), v.moves[j][0]|uint32(s.start^col), floor),
				orFloor(v.sums[j][1]+q.cols[j][s.end]+sumLines(&q.rows, down|s.lanes>>8&oneCell<<inRow), v.moves[j][1]|uint32(s.end^col), floor))
			best = q.orLost(board|game.Board(exp)<<at, best)
			if exp == 1 {
				two += best
			} else {
				four += best
			}
		}
	}
	return two, four, nil
}

// orFloor returns the value of a move, or floor if it changes nothing. The compiler makes no branch of it, which would be hard to foresee.
func orFloor(value int64, changes uint32, floor int64) int64 {
	if changes == 0 {
		value = floor
	}
	return value
}

// twoLargest reports whether two tiles are of the largest exponent, which a move may have to merge.
func twoLargest(b uint64) bool {
	b &= b >> 2
	b &= b >> 1 & 0x1111_1111_1111_1111
	return b&(b-1) != 0
}
