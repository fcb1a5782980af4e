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
	transposed   bool
	rows, cols   int // of the board, after it has been transposed
	width        int // columns of a half
	numExponents int // of the digits: the exponents below that of the winning tile
	rowCodes     int // number of rows of a half
	rowBits      int // bits of a row in the field rowsOf

	boards      []game.Board // of each code: the half as a board
	flipped     []uint32     // of each code: the half upside down
	classOf     []int32      // of each code: half the sum of the tiles
	rankInClass []uint32     // of each code: its place in its class
	rowsOf      []uint64     // of each code: the codes of its rows, the last row in the lowest bits
	cellWeights []uint32     // of each cell of a half: the weight of its digit in a code

	members   [][]uint32 // of each class: its codes; in the first ones, a half and the half upside down follow each other
	numPaired []int      // of each class: the number of members that come in such pairs

	verticalMoves [2][]uint32 // of each code: the half after a move up and after a move down, or winning
	// leftMoves has what a move to the left makes of a row, by row number, the row's left half and its right half: what both halves of the row add to
	// the codes of the halves of the board. The right one is shifted by rightShift. A row that gets the winning tile adds 1<<winShift.
	leftMoves [][]uint64

	cellCodes [][1 << 16]uint64 // of each four cells of a board: what they add to the code of the left half, and, shifted by 32, of the right half
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
	result := &halves{rows: shape.Rows, cols: shape.Cols, numExponents: maxExp, rowCodes: 1}
	if result.cols%2 != 0 {
		result.transposed, result.rows, result.cols = true, result.cols, result.rows
	}
	if result.cols%2 != 0 || result.rows < 2 || maxExp < 3 {
		return nil, nil
	}
	result.width = result.cols / 2
	for range result.width {
		result.rowCodes *= result.numExponents
	}
	count := 1
	for range result.rows {
		if count *= result.rowCodes; count > maxHalves {
			return nil, nil
		}
	}
	result.rowBits = bits.Len(uint(result.rowCodes - 1))
	result.numberHalves(count)
	result.addCellCodes(shape.Cells())
	for row := range result.rows {
		if err := result.addLeftMoves(row); err != nil {
			return nil, err
		}
	}
	return result, result.addVerticalMoves()
}

// numberHalves numbers all half boards: the code of a half board has a digit for each cell. For each code it computes the board, the class, which is half
// of the sum of the tiles, the code of the half board upside down, and its place among the members of its class.
func (h *halves) numberHalves(count int) {
	cells := h.rows * h.width
	h.cellWeights = make([]uint32, cells)
	for cell, value := cells-1, 1; cell >= 0; cell-- {
		h.cellWeights[cell] = uint32(value)
		value *= h.numExponents
	}
	h.boards = make([]game.Board, count)
	h.flipped = make([]uint32, count)
	h.classOf = make([]int32, count)
	h.rankInClass = make([]uint32, count)
	h.rowsOf = make([]uint64, count)
	maxClass := 0
	for code := range count {
		var board game.Board
		for cell := range cells {
			exp := code / int(h.cellWeights[cell]) % h.numExponents
			board = board.With(cell, exp)
			h.flipped[code] += uint32(exp) * h.cellWeights[(h.rows-1-cell/h.width)*h.width+cell%h.width]
		}
		for row, remaining := 0, code; row < h.rows; row++ {
			h.rowsOf[code] |= uint64(remaining%h.rowCodes) << (row * h.rowBits)
			remaining /= h.rowCodes
		}
		h.boards[code], h.classOf[code] = board, int32(board.Sum()/2)
		maxClass = max(maxClass, board.Sum()/2)
	}
	h.members, h.numPaired = make([][]uint32, maxClass+1), make([]int, maxClass+1)
	for _, paired := range []bool{true, false} {
		for code, flipped := range h.flipped {
			switch {
			case paired && uint32(code) < flipped:
				h.addMember(uint32(code))
				h.addMember(flipped)
				h.numPaired[h.classOf[code]] += 2
			case !paired && uint32(code) == flipped:
				h.addMember(flipped)
			}
		}
	}
}

// addMember adds a half to its class.
func (h *halves) addMember(code uint32) {
	class := h.classOf[code]
	h.rankInClass[code] = uint32(len(h.members[class]))
	h.members[class] = append(h.members[class], code)
}

// addVerticalMoves computes the moves up and down of all half boards. Such a move changes each half independently of the other.
func (h *halves) addVerticalMoves() error {
	rules, err := game.New(game.Shape{Rows: h.rows, Cols: h.width})
	if err != nil {
		return fmt.Errorf("half of a board: %w", err)
	}
	var moved [4]game.Board
	for direction, dir := range []game.Dir{game.Up, game.Down} {
		h.verticalMoves[direction] = make([]uint32, len(h.boards))
		for code, board := range h.boards {
			rules.Moved(board, &moved)
			if moved[dir].AtLeast(h.numExponents) {
				h.verticalMoves[direction][code] = winning
				continue
			}
			for cell, weight := range h.cellWeights {
				h.verticalMoves[direction][code] += uint32(moved[dir]>>(4*cell)&15) * weight
			}
		}
	}
	return nil
}

// addLeftMoves computes the move to the left for each pair of codes of the left and the right half of a row. The results have the summands of the codes of
// both halves, or a bit that the move wins.
func (h *halves) addLeftMoves(row int) error {
	rules, err := game.New(game.Shape{Rows: 1, Cols: h.cols})
	if err != nil {
		return fmt.Errorf("row of a board: %w", err)
	}
	weights := h.cellWeights[row*h.width : (row+1)*h.width]
	results := make([]uint64, h.rowCodes*h.rowCodes)
	for leftCode := range h.rowCodes {
		for rightCode := range h.rowCodes {
			var line game.Board
			for i, leftRest, rightRest := h.width-1, leftCode, rightCode; i >= 0; i-- {
				line = line.With(i, leftRest%h.numExponents).With(h.cols-1-i, rightRest%h.numExponents)
				leftRest, rightRest = leftRest/h.numExponents, rightRest/h.numExponents
			}
			var moved [4]game.Board
			rules.Moved(line, &moved)
			movedLine, index := moved[game.Left], leftCode*h.rowCodes+rightCode
			if movedLine.AtLeast(h.numExponents) {
				results[index] = 1 << winShift
				continue
			}
			for i, weight := range weights {
				results[index] += uint64(movedLine>>(4*i)&15) * uint64(weight)
				results[index] += uint64(movedLine>>(4*(h.cols-1-i))&15) * uint64(weight) << rightShift
			}
		}
	}
	h.leftMoves = append(h.leftMoves, results)
	return nil
}

// addCellCodes computes, for each group of four cells and each combination of tiles in them, what the cells add to the codes of the two halves of a
// board.
func (h *halves) addCellCodes(cells int) {
	h.cellCodes = make([][1 << 16]uint64, (cells+3)/4)
	for cell := range cells {
		row, col := cell/h.cols, cell%h.cols
		if h.transposed {
			row, col = cell%h.rows, cell/h.rows
		}
		shift := 0
		if col >= h.width {
			col, shift = h.cols-1-col, 32
		}
		weight := uint64(h.cellWeights[row*h.width+col]) << shift
		groupCodes := &h.cellCodes[cell/4]
		for tiles := range groupCodes {
			groupCodes[tiles] += uint64(tiles>>(4*(cell%4))&15) * weight
		}
	}
}

// codesOf returns the codes of the halves of a board without the winning tile.
func (h *halves) codesOf(board game.Board) (leftCode, rightCode uint32) {
	codes := uint64(0)
	for i := range h.cellCodes {
		codes += h.cellCodes[i][board>>(16*i)&0xFFFF]
	}
	return uint32(codes), uint32(codes >> 32)
}
