package tiles

import (
	"math/bits"
	"slices"
)

// A stage board is a board with 16 bits for each of four rows, whatever its shape is: cell c of row r is in bits 16r+4c to 16r+4c+3.
type stageCells uint64

// stageBoard has the rules for such boards of one shape, as tables of rows.
type stageBoard struct {
	rows, cols int
	// toFirst and toLast slide a row, and reversed has its cells in the opposite order.
	toFirst, toLast, reversed []uint16
	// upwards and downwards slide a column, which is given as a row: cell i of the result is the first one of row i.
	upwards, downwards []stageCells
}

func newStageBoard(rows, cols int) *stageBoard {
	return &stageBoard{
		rows: rows, cols: cols,
		toFirst: slideTable(cols, false), toLast: slideTable(cols, true),
		reversed: rowTable(cols, func(line []int) []int { slices.Reverse(line); return line }),
		upwards:  asColumns(slideTable(rows, false)), downwards: asColumns(slideTable(rows, true)),
	}
}

// rowTable applies a function to the first cells of each row, as exponents. The table has 0 for rows with tiles in other cells.
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

// slideTable returns the result of a move for each row with the given number of cells. Tiles of exponent 15 do not merge.
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

// asColumns transposes each row of a table.
func asColumns(table []uint16) []stageCells {
	columns := make([]stageCells, len(table))
	for i, row := range table {
		columns[i] = stageCells(row).transposed()
	}
	return columns
}

// inRows replaces each row by that of a table.
func (b stageCells) inRows(table []uint16) stageCells {
	return stageCells(table[b&0xffff]) | stageCells(table[b>>16&0xffff])<<16 | stageCells(table[b>>32&0xffff])<<32 | stageCells(table[b>>48])<<48
}

// inColumns returns a board with the given columns after each is replaced by that of a table.
func (b stageCells) inColumns(table []stageCells) stageCells {
	return table[b&0xffff] | table[b>>16&0xffff]<<4 | table[b>>32&0xffff]<<8 | table[b>>48]<<12
}

// transposed swaps rows and columns: first in each square of two by two cells, then the squares.
func (b stageCells) transposed() stageCells {
	swap := func(mask stageCells, shift int) {
		difference := (b ^ b>>shift) & mask
		b ^= difference | difference<<shift
	}
	swap(0x0000_F0F0_0000_F0F0, 12)
	swap(0x0000_0000_FF00_FF00, 24)
	return b
}

// upsideDown returns the board with its rows in the opposite order.
func (r *stageBoard) upsideDown(b stageCells) stageCells {
	return (b>>48 | b>>16&0xffff_0000 | b<<16&0xffff_0000_0000 | b<<48) >> (16 * (4 - r.rows))
}

// numImages returns the number of symmetric images of boards.
func (r *stageBoard) numImages() int {
	if r.rows == r.cols {
		return 8
	}
	return 4
}

// image returns a symmetric image of a board. Image 0 is the board, image 1 its reflection with the columns reversed.
func (r *stageBoard) image(b stageCells, number int) stageCells {
	if number >= 4 {
		b = b.transposed()
	}
	if number&2 != 0 {
		b = r.upsideDown(b)
	}
	if number&1 != 0 {
		b = b.inRows(r.reversed)
	}
	return b
}

// eachCell has 1 in each cell.
const eachCell stageCells = 0x1111_1111_1111_1111

// cellsFrom returns 8 in each cell whose exponent is at least the given one, which is 1 to 15, and 0 in the others.
func (b stageCells) cellsFrom(exponent int) stageCells {
	const high, low = 8 * eachCell, 7 * eachCell
	if exponent <= 8 {
		return (b&low + eachCell*stageCells(8-exponent) | b) & high
	}
	return (b&low + eachCell*stageCells(16-exponent)) & b & high
}

// tilesFrom returns the number of tiles whose exponent is at least the given one.
func (b stageCells) tilesFrom(exponent int) int {
	return bits.OnesCount64(uint64(b.cellsFrom(exponent)))
}

// tileCounts counts the tiles of each exponent from the given one on: the number of tiles of exponent e, up to 15, is in bits 4e to 4e+3.
func (b stageCells) tileCounts(from int) (counts uint64) {
	for rest := b.cellsFrom(from); rest != 0; rest &= rest - 1 {
		exponent := b >> (bits.TrailingZeros64(uint64(rest)) - 3) & 15
		counts += 1 << (4 * exponent)
	}
	return counts
}

// occupied returns which of the first eight cells have tiles, in bits 4r+c for cell c of row r.
func (b stageCells) occupied() (pattern uint8) {
	for cell := range 8 {
		if b>>(4*cell)&15 != 0 {
			pattern |= 1 << cell
		}
	}
	return pattern
}

// cellsOfHalf returns the cells of the two rows from firstRow on, as numbers 4r+c for cell c of row r of the half.
func (r *stageBoard) cellsOfHalf(firstRow int) (cells []int) {
	for row := range min(2, r.rows-firstRow) {
		for col := range r.cols {
			cells = append(cells, 4*row+col)
		}
	}
	return cells
}
