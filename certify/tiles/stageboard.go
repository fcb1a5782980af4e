package tiles

import (
	"math/bits"
	"slices"
)

// stageBoard is a board of the checker of stages. Whatever the shape is, a row has 16 bits: cell c of row r is in bits 16r+4c to 16r+4c+3, and has the
// exponent of its tile, 0 if it is empty.
type stageBoard uint64

// stageRules has the rules of 2048 on boards of one shape, as tables of rows.
type stageRules struct {
	rows, cols int
	// toFirst and toLast slide a row to the first and to the last column. reversed has its cells in the opposite order.
	toFirst, toLast, reversed []uint16
	// upwards and downwards slide a column, which is given as a row: cell i of the column is in cell 0 of row i of the result.
	upwards, downwards []stageBoard
	afterMove          [][256]bool // see occupiedAfterMove
}

func newStageRules(rows, cols int) *stageRules {
	r := &stageRules{
		rows: rows, cols: cols,
		toFirst: slideTable(cols, false), toLast: slideTable(cols, true),
		reversed: rowTable(cols, func(line []int) []int { slices.Reverse(line); return line }),
		upwards:  asColumns(slideTable(rows, false)), downwards: asColumns(slideTable(rows, true)),
	}
	r.afterMove = r.occupiedAfterMove()
	return r
}

// rowTable returns the result of a function for each row of the given length: the function gets and returns exponents. The table has 0 for longer rows.
func rowTable(length int, change func([]int) []int) []uint16 {
	table := make([]uint16, 1<<16)
	for i := range 1 << (4 * length) {
		line := make([]int, length)
		for cell := range line {
			line[cell] = i >> (4 * cell) & 15
		}
		for cell, exponent := range change(line) {
			table[i] |= uint16(exponent) << (4 * cell)
		}
	}
	return table
}

// slideTable returns the result of a move for each row of the given length. Tiles of exponent 15 do not merge.
func slideTable(length int, toLast bool) []uint16 {
	return rowTable(length, func(line []int) []int {
		if toLast {
			slices.Reverse(line)
		}
		moved := make([]int, 0, length)
		mayMerge := false
		for _, exponent := range line {
			switch last := len(moved) - 1; {
			case exponent == 0:
			case mayMerge && moved[last] == exponent && exponent < 15:
				moved[last]++
				mayMerge = false
			default:
				moved = append(moved, exponent)
				mayMerge = true
			}
		}
		moved = moved[:length]
		if toLast {
			slices.Reverse(moved)
		}
		return moved
	})
}

// asColumns makes each row of a table the first column of a board.
func asColumns(table []uint16) []stageBoard {
	columns := make([]stageBoard, len(table))
	for i, row := range table {
		columns[i] = stageBoard(row).transposed()
	}
	return columns
}

// mapRows replaces each row by its entry in a table.
func (b stageBoard) mapRows(table []uint16) stageBoard {
	return stageBoard(table[b&0xffff]) | stageBoard(table[b>>16&0xffff])<<16 | stageBoard(table[b>>32&0xffff])<<32 | stageBoard(table[b>>48])<<48
}

// mapColumns replaces each row by its entry in a table of columns. So it returns the transposed board with each column mapped.
func (b stageBoard) mapColumns(table []stageBoard) stageBoard {
	return table[b&0xffff] | table[b>>16&0xffff]<<4 | table[b>>32&0xffff]<<8 | table[b>>48]<<12
}

// transposed swaps rows and columns: first within each square of two by two cells, then the squares.
func (b stageBoard) transposed() stageBoard {
	swap := func(mask stageBoard, shift int) {
		difference := (b ^ b>>shift) & mask
		b ^= difference | difference<<shift
	}
	swap(0x0000_F0F0_0000_F0F0, 12)
	swap(0x0000_0000_FF00_FF00, 24)
	return b
}

// upsideDown returns the board with its rows in the opposite order.
func (r *stageRules) upsideDown(b stageBoard) stageBoard {
	return (b>>48 | b>>16&0xffff_0000 | b<<16&0xffff_0000_0000 | b<<48) >> (16 * (4 - r.rows))
}

// numImages returns the number of symmetric images of boards.
func (r *stageRules) numImages() int {
	if r.rows == r.cols {
		return 8
	}
	return 4
}

// image returns a symmetric image of a board. Image 0 is the board, image 1 its reflection with the columns reversed.
func (r *stageRules) image(b stageBoard, number int) stageBoard {
	if number >= 4 {
		b = b.transposed()
	}
	if number&2 != 0 {
		b = r.upsideDown(b)
	}
	if number&1 != 0 {
		b = b.mapRows(r.reversed)
	}
	return b
}

// eachCell has exponent 1 in each cell.
const eachCell stageBoard = 0x1111_1111_1111_1111

// cellsFrom returns 8 in each cell whose exponent is at least the given one, which is from 1 to 15, and 0 in the other cells.
func (b stageBoard) cellsFrom(exponent int) stageBoard {
	const high, low = 8 * eachCell, 7 * eachCell
	if exponent <= 8 {
		return (b&low + eachCell*stageBoard(8-exponent) | b) & high
	}
	return (b&low + eachCell*stageBoard(16-exponent)) & b & high
}

// tilesFrom returns the number of tiles whose exponent is at least the given one.
func (b stageBoard) tilesFrom(exponent int) int {
	return bits.OnesCount64(uint64(b.cellsFrom(exponent)))
}

// tileCounts counts the tiles of each exponent from the given one on: bits 4e to 4e+3 have the number of tiles of exponent e. There must be less than
// 16 equal tiles: a board after a move has an empty cell.
func (b stageBoard) tileCounts(from int) (counts uint64) {
	for rest := b.cellsFrom(from); rest != 0; rest &= rest - 1 {
		exponent := b >> (bits.TrailingZeros64(uint64(rest)) - 3) & 15
		counts += 1 << (4 * exponent)
	}
	return counts
}

// occupied returns the cells of rows 0 and 1 that have tiles, one bit for each: bit 4r+c for cell c of row r.
func (b stageBoard) occupied() (pattern uint8) {
	for cell := range 8 {
		if b>>(4*cell)&15 != 0 {
			pattern |= 1 << cell
		}
	}
	return pattern
}

// cellsOfHalf returns the cells of the two rows from firstRow on, as numbers 4r+c for cell c of row r of the half.
func (r *stageRules) cellsOfHalf(firstRow int) (cells []int) {
	for row := range min(2, r.rows-firstRow) {
		for col := range r.cols {
			cells = append(cells, 4*row+col)
		}
	}
	return cells
}
