package tiles

import "slices"

// A stage board is a board with 16 bits for each of four rows, whatever its shape is: cell c of row r is in bits 16r+4c to 16r+4c+3.
type stageCells uint64

// stageBoard has the rules for such boards of one shape, as tables of rows.
type stageBoard struct {
	rows, cols int
	// toFirst and toLast slide a row of the board, and upwards and downwards a column. reversed has the row in the opposite order.
	toFirst, toLast, upwards, downwards, reversed []uint16
}

func newStageBoard(rows, cols int) *stageBoard {
	return &stageBoard{
		rows: rows, cols: cols,
		toFirst: slideTable(cols, false), toLast: slideTable(cols, true),
		upwards: slideTable(rows, false), downwards: slideTable(rows, true),
		reversed: rowTable(cols, func(line []int) []int { slices.Reverse(line); return line }),
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

// inRows replaces each row by that of a table.
func (b stageCells) inRows(table []uint16) stageCells {
	return stageCells(table[b&0xffff]) | stageCells(table[b>>16&0xffff])<<16 | stageCells(table[b>>32&0xffff])<<32 | stageCells(table[b>>48])<<48
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
func (r *stageBoard) upsideDown(b stageCells) (flipped stageCells) {
	for row := range r.rows {
		flipped |= b >> (16 * row) & 0xffff << (16 * (r.rows - 1 - row))
	}
	return flipped
}

// imagesOf returns the symmetric images of a board. The first is the board, the second its reflection with the columns reversed.
func (r *stageBoard) imagesOf(b stageCells) (images [8]stageCells, number int) {
	add := func(image stageCells) {
		images[number], images[number+1] = image, image.inRows(r.reversed)
		number += 2
	}
	add(b)
	add(r.upsideDown(b))
	if r.rows == r.cols {
		add(b.transposed())
		add(r.upsideDown(b.transposed()))
	}
	return images, number
}

// tilesFrom returns the number of tiles whose exponent is at least the given one.
func (b stageCells) tilesFrom(exponent int) (number int) {
	for ; b != 0; b >>= 4 {
		if int(b&15) >= exponent {
			number++
		}
	}
	return number
}
