package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// quadEvaluation is the evaluation by a sum over lines for 4x4 boards.
//
// It is fast because a new tile changes only one row and one column. A move to the left or right after it differs from the same move without
// the tile in one row, which has one cell in each column. So the sums over the other rows, and the moved columns without that cell, are
// computed once.
type quadEvaluation struct {
	boardEvaluation
	rows, cols [4]*lineValues
	slides     *[1 << 16]slide
}

type lineValues [1 << 16]int64

// slide has the results of the moves of a line towards its start and towards its end.
type slide struct {
	// lanes has the cells of both results, one cell of each line in 16 bits: of start in bits 0 to 3, of end in bits 8 to 11.
	lanes      uint64
	start, end uint16
}

// newQuadEvaluation returns a faster version of the evaluation plain for 4x4 boards. The value of a board must be the sum of the values of its lines.
func newQuadEvaluation(plain boardEvaluation, sum *lineSum) *quadEvaluation {
	quad := &quadEvaluation{boardEvaluation: plain, slides: new([1 << 16]slide)}
	for i := range 4 {
		quad.rows[i], quad.cols[i] = (*lineValues)(sum.rows[i].values), (*lineValues)(sum.cols[i].values)
	}
	for line := range quad.slides {
		// A line that overflows stays unchanged: sumOverLastTiles leaves boards with two of the largest tiles to boardEvaluation.
		start, _, _ := plain.rules.Move(game.Board(line), game.Left)
		end, _, _ := plain.rules.Move(game.Board(line), game.Right)
		quad.slides[line] = slide{lanes: lanesOf(uint16(start)) | lanesOf(uint16(end))<<8, start: uint16(start), end: uint16(end)}
	}
	return quad
}

// oneCell masks the lowest 4 bits of each lane of 16 bits.
const oneCell = 0x000F_000F_000F_000F

// lanesOf puts the four cells of a line into the lowest bits of four lanes.
func lanesOf(line uint16) uint64 {
	x := uint64(line)
	x = (x | x<<24) & 0x0000_00FF_0000_00FF
	return (x | x<<12) & oneCell
}

func (q *quadEvaluation) value(board game.Board) int64 {
	return sumLines(&q.rows, uint64(board)) + sumLines(&q.cols, transposed(uint64(board)))
}

// sumLines adds the values of the four lines of a board, 16 bits each.
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

// emptyCells returns a mask with the lowest bit of each empty cell of a 4x4 board.
func emptyCells(b uint64) uint64 {
	b |= b >> 2
	b |= b >> 1
	return ^b & 0x1111_1111_1111_1111
}

// axis has both moves of a board along an axis, whose lines are its rows or its columns. In each pair the first element is for the move towards
// the start of the lines, the second for the move towards their end.
type axis struct {
	lines [4]uint16
	moved [2]uint64    // the board after the move; lane i is line i of the other axis
	sums  [4][2]int64  // for each line, the sum of the values of the other three moved lines
	moves [4][2]uint32 // for each line, not 0 if one of the other three lines changes
}

// setLines computes the moves of a board towards the start and the end of its lines. lines has 16 bits for each line. values are the values of lines,
// and slides their results.
func (a *axis) setLines(lines uint64, values *[4]*lineValues, slides *[1 << 16]slide) {
	var sums [2]int64
	var moves [2]uint32
	var starts, ends uint64
	for i := range 4 {
		line := uint16(lines >> (16 * i))
		slid := &slides[line]
		starts |= slid.lanes & oneCell << (4 * i)
		ends |= slid.lanes >> 8 & oneCell << (4 * i)
		a.lines[i] = line
		a.sums[i] = [2]int64{values[i][slid.start], values[i][slid.end]}
		a.moves[i] = [2]uint32{uint32(slid.start ^ line), uint32(slid.end ^ line)}
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

func (q *quadEvaluation) sumOverLastTiles(board game.Board, fours bool) (two, four int64, err error) {
	packed := uint64(board)
	if twoLargest(packed) {
		return q.boardEvaluation.sumOverLastTiles(board, fours)
	}
	last := uint16(1)
	if fours {
		last = 2
	}
	floor := q.floor()
	var horizontal, vertical axis
	horizontal.setLines(packed, &q.rows, q.slides)
	vertical.setLines(transposed(packed), &q.cols, q.slides)
	for empty := emptyCells(packed); empty != 0; empty &= empty - 1 {
		shift := uint(bits.TrailingZeros64(empty))
		i, j := shift>>4&3, shift>>2&3 // row and column
		inRow, inCol := 4*j&15, 4*i&15
		left, right := horizontal.moved[0]&^(oneCell<<inCol), horizontal.moved[1]&^(oneCell<<inCol)
		up, down := vertical.moved[0]&^(oneCell<<inRow), vertical.moved[1]&^(oneCell<<inRow)
		for exponent := uint16(1); exponent <= last; exponent++ {
			row := horizontal.lines[i] | exponent<<inRow
			slid := &q.slides[row]
			best := max(floor,
				orFloor(horizontal.sums[i][0]+q.rows[i][slid.start]+sumLines(&q.cols, left|slid.lanes&oneCell<<inCol), horizontal.moves[i][0]|uint32(slid.start^row), floor),
				orFloor(horizontal.sums[i][1]+q.rows[i][slid.end]+sumLines(&q.cols, right|slid.lanes>>8&oneCell<<inCol), horizontal.moves[i][1]|uint32(slid.end^row), floor))
			col := vertical.lines[j] | exponent<<inCol
			slid = &q.slides[col]
			best = max(best,
				orFloor(vertical.sums[j][0]+q.cols[j][slid.start]+sumLines(&q.rows, up|slid.lanes&oneCell<<inRow), vertical.moves[j][0]|uint32(slid.start^col), floor),
				orFloor(vertical.sums[j][1]+q.cols[j][slid.end]+sumLines(&q.rows, down|slid.lanes>>8&oneCell<<inRow), vertical.moves[j][1]|uint32(slid.end^col), floor))
			best = q.replaceLost(board|game.Board(exponent)<<shift, best)
			if exponent == 1 {
				two += best
			} else {
				four += best
			}
		}
	}
	return two, four, nil
}

// orFloor returns value, or floor if changes is 0. The compiler makes no branch of it; the branch would be hard to predict.
func orFloor(value int64, changes uint32, floor int64) int64 {
	if changes == 0 {
		value = floor
	}
	return value
}

// twoLargest reports whether b has at least two tiles of the largest exponent, which a move may not be able to merge.
func twoLargest(b uint64) bool {
	b &= b >> 2
	b &= b >> 1 & 0x1111_1111_1111_1111
	return b&(b-1) != 0
}
