package guarantee

import (
	"fmt"
	"math/bits"

	"tilecheck/game"
)

// halves numbers the halves of the boards without the winning tile. A board is cut between its columns, or between its rows if it has an odd
// number of columns; it is transposed then. The right half is reflected. So the outer column of both halves is the first, and the same numbers
// serve both.
//
// The code of a half is a number with a digit for each tile, row by row. The codes of a class are the halves with one sum of the tiles.
type halves struct {
	transposed bool
	rows, cols int // of the board, after it has been transposed
	width      int // columns of a half
	base       int // of the digits: the exponents below that of the winning tile
	rowCodes   int // number of rows of a half
	rowBits    int // bits of a row in the field rowsOf

	boards  []game.Board // of each code: the half as a board
	flipped []uint32     // of each code: the half upside down
	class   []int32      // of each code: half the sum of the tiles
	place   []uint32     // of each code: its place in its class
	rowsOf  []uint64     // of each code: the codes of its rows, the last row in the lowest bits
	digit   []uint32     // of each cell of a half: what a digit counts there

	members [][]uint32 // of each class: its codes; in the first ones, a half and the half upside down follow each other
	pairs   []int      // of each class: number of those first ones

	vertical [2][]uint32 // of each code: the half after a move up and after a move down, or winning
	// left has what a move to the left makes of a row, by row number, the row's left half and its right half: what both halves of the row add to
	// the codes of the halves of the board. The right one is shifted by rightShift. A row that gets the winning tile adds 1<<winShift.
	left [][]uint64

	parts [][1 << 16]uint64 // of each four cells of a board: what they add to the code of the left half, and, shifted by 32, of the right half
}

const (
	rightShift = 28
	leftMask   = 1<<rightShift - 1
	winShift   = 2 * rightShift

	winning = 1<<32 - 1
)

// maxHalves is the greatest number of halves. With it, the boards take 8 GB, one bit each.
const maxHalves = 1 << 18

// newHalves returns the tables of all half boards of a shape and of their moves. maxExp is the exponent of the winning tile. It returns nil if the
// board cannot be divided into two halves of at least two rows, if there are too many half boards, or if a new tile can win.
func newHalves(shape game.Shape, maxExp int) (*halves, error) {
	h := &halves{rows: shape.Rows, cols: shape.Cols, base: maxExp, rowCodes: 1}
	if h.cols%2 != 0 {
		h.transposed, h.rows, h.cols = true, h.cols, h.rows
	}
	if h.cols%2 != 0 || h.rows < 2 || maxExp < 3 {
		return nil, nil
	}
	h.width = h.cols / 2
	for range h.width {
		h.rowCodes *= h.base
	}
	count := 1
	for range h.rows {
		if count *= h.rowCodes; count > maxHalves {
			return nil, nil
		}
	}
	h.rowBits = bits.Len(uint(h.rowCodes - 1))
	h.number(count)
	h.addParts(shape.Cells())
	for row := range h.rows {
		if err := h.addLeft(row); err != nil {
			return nil, err
		}
	}
	return h, h.addVertical()
}

// number numbers all half boards: the code of a half board has a digit for each cell. For each code it computes the board, the class, which is half
// of the sum of the tiles, the code of the half board upside down, and its place among the members of its class.
func (h *halves) number(count int) {
	cells := h.rows * h.width
	h.digit = make([]uint32, cells)
	for cell, value := cells-1, 1; cell >= 0; cell-- {
		h.digit[cell] = uint32(value)
		value *= h.base
	}
	h.boards = make([]game.Board, count)
	h.flipped = make([]uint32, count)
	h.class = make([]int32, count)
	h.place = make([]uint32, count)
	h.rowsOf = make([]uint64, count)
	maxClass := 0
	for code := range count {
		var board game.Board
		for cell := range cells {
			exp := code / int(h.digit[cell]) % h.base
			board = board.With(cell, exp)
			h.flipped[code] += uint32(exp) * h.digit[(h.rows-1-cell/h.width)*h.width+cell%h.width]
		}
		for row, remaining := 0, code; row < h.rows; row++ {
			h.rowsOf[code] |= uint64(remaining%h.rowCodes) << (row * h.rowBits)
			remaining /= h.rowCodes
		}
		h.boards[code], h.class[code] = board, int32(board.Sum()/2)
		maxClass = max(maxClass, board.Sum()/2)
	}
	h.members, h.pairs = make([][]uint32, maxClass+1), make([]int, maxClass+1)
	for _, paired := range []bool{true, false} {
		for code, flipped := range h.flipped {
			switch {
			case paired && uint32(code) < flipped:
				h.addMember(uint32(code))
				h.addMember(flipped)
				h.pairs[h.class[code]] += 2
			case !paired && uint32(code) == flipped:
				h.addMember(flipped)
			}
		}
	}
}

// addMember adds a half to its class.
func (h *halves) addMember(code uint32) {
	class := h.class[code]
	h.place[code] = uint32(len(h.members[class]))
	h.members[class] = append(h.members[class], code)
}

// addVertical computes the moves up and down of all half boards. Such a move changes each half independently of the other.
func (h *halves) addVertical() error {
	rules, err := game.New(game.Shape{Rows: h.rows, Cols: h.width})
	if err != nil {
		return fmt.Errorf("half of a board: %w", err)
	}
	var next [4]game.Board
	for direction, dir := range []game.Dir{game.Up, game.Down} {
		h.vertical[direction] = make([]uint32, len(h.boards))
		for code, board := range h.boards {
			rules.Moved(board, &next)
			if next[dir].AtLeast(h.base) {
				h.vertical[direction][code] = winning
				continue
			}
			for cell, digit := range h.digit {
				h.vertical[direction][code] += uint32(next[dir]>>(4*cell)&15) * digit
			}
		}
	}
	return nil
}

// addLeft computes the move to the left for each pair of codes of the left and the right half of a row. The results have the summands of the codes of
// both halves, or a bit that the move wins.
func (h *halves) addLeft(row int) error {
	rules, err := game.New(game.Shape{Rows: 1, Cols: h.cols})
	if err != nil {
		return fmt.Errorf("row of a board: %w", err)
	}
	digit := h.digit[row*h.width : (row+1)*h.width]
	results := make([]uint64, h.rowCodes*h.rowCodes)
	for leftCode := range h.rowCodes {
		for rightCode := range h.rowCodes {
			var line game.Board
			for i, leftRest, rightRest := h.width-1, leftCode, rightCode; i >= 0; i-- {
				line = line.With(i, leftRest%h.base).With(h.cols-1-i, rightRest%h.base)
				leftRest, rightRest = leftRest/h.base, rightRest/h.base
			}
			var next [4]game.Board
			rules.Moved(line, &next)
			after, index := next[game.Left], leftCode*h.rowCodes+rightCode
			if after.AtLeast(h.base) {
				results[index] = 1 << winShift
				continue
			}
			for i, value := range digit {
				results[index] += uint64(after>>(4*i)&15) * uint64(value)
				results[index] += uint64(after>>(4*(h.cols-1-i))&15) * uint64(value) << rightShift
			}
		}
	}
	h.left = append(h.left, results)
	return nil
}

// addParts computes, for each group of four cells and each combination of tiles in them, what the cells add to the codes of the two halves of a
// board.
func (h *halves) addParts(cells int) {
	h.parts = make([][1 << 16]uint64, (cells+3)/4)
	for cell := range cells {
		row, col := cell/h.cols, cell%h.cols
		if h.transposed {
			row, col = cell%h.rows, cell/h.rows
		}
		shift := 0
		if col >= h.width {
			col, shift = h.cols-1-col, 32
		}
		value := uint64(h.digit[row*h.width+col]) << shift
		part := &h.parts[cell/4]
		for tiles := range part {
			part[tiles] += uint64(tiles>>(4*(cell%4))&15) * value
		}
	}
}

// cut returns the codes of the halves of a board without the winning tile.
func (h *halves) cut(board game.Board) (left, right uint32) {
	both := uint64(0)
	for i := range h.parts {
		both += h.parts[i][board>>(16*i)&0xFFFF]
	}
	return uint32(both), uint32(both >> 32)
}
