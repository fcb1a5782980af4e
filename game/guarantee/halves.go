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

// newHalves returns nil if a shape has no two equal halves of at least two rows, or too many of them, or if a new tile can be the winning one.
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

// number numbers the halves.
func (h *halves) number(count int) {
	cells := h.rows * h.width
	h.digit = make([]uint32, cells)
	for i, value := cells-1, 1; i >= 0; i-- {
		h.digit[i] = uint32(value)
		value *= h.base
	}
	h.boards = make([]game.Board, count)
	h.flipped = make([]uint32, count)
	h.class = make([]int32, count)
	h.place = make([]uint32, count)
	h.rowsOf = make([]uint64, count)
	greatest := 0
	for code := range count {
		var b game.Board
		for i := range cells {
			exp := code / int(h.digit[i]) % h.base
			b = b.With(i, exp)
			h.flipped[code] += uint32(exp) * h.digit[(h.rows-1-i/h.width)*h.width+i%h.width]
		}
		for row, rest := 0, code; row < h.rows; row++ {
			h.rowsOf[code] |= uint64(rest%h.rowCodes) << (row * h.rowBits)
			rest /= h.rowCodes
		}
		h.boards[code], h.class[code] = b, int32(b.Sum()/2)
		greatest = max(greatest, b.Sum()/2)
	}
	h.members, h.pairs = make([][]uint32, greatest+1), make([]int, greatest+1)
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

// addVertical computes the moves up and down. They change each half for itself.
func (h *halves) addVertical() error {
	rules, err := game.New(game.Shape{Rows: h.rows, Cols: h.width})
	if err != nil {
		return fmt.Errorf("half of a board: %w", err)
	}
	var next [4]game.Board
	for i, dir := range []game.Dir{game.Up, game.Down} {
		h.vertical[i] = make([]uint32, len(h.boards))
		for code, b := range h.boards {
			rules.Moved(b, &next)
			if next[dir].AtLeast(h.base) {
				h.vertical[i][code] = winning
				continue
			}
			for cell, digit := range h.digit {
				h.vertical[i][code] += uint32(next[dir]>>(4*cell)&15) * digit
			}
		}
	}
	return nil
}

// addLeft computes the moves of a row to the left.
func (h *halves) addLeft(row int) error {
	rules, err := game.New(game.Shape{Rows: 1, Cols: h.cols})
	if err != nil {
		return fmt.Errorf("row of a board: %w", err)
	}
	digit := h.digit[row*h.width : (row+1)*h.width]
	of := make([]uint64, h.rowCodes*h.rowCodes)
	for left := range h.rowCodes {
		for right := range h.rowCodes {
			var line game.Board
			for i, l, r := h.width-1, left, right; i >= 0; i-- {
				line = line.With(i, l%h.base).With(h.cols-1-i, r%h.base)
				l, r = l/h.base, r/h.base
			}
			var next [4]game.Board
			rules.Moved(line, &next)
			after, at := next[game.Left], left*h.rowCodes+right
			if after.AtLeast(h.base) {
				of[at] = 1 << winShift
				continue
			}
			for i, value := range digit {
				of[at] += uint64(after>>(4*i)&15) * uint64(value)
				of[at] += uint64(after>>(4*(h.cols-1-i))&15) * uint64(value) << rightShift
			}
		}
	}
	h.left = append(h.left, of)
	return nil
}

// addParts computes what four cells of a board add to the codes of its halves.
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
func (h *halves) cut(b game.Board) (left, right uint32) {
	both := uint64(0)
	for i := range h.parts {
		both += h.parts[i][b>>(16*i)&0xFFFF]
	}
	return uint32(both), uint32(both >> 32)
}
