package stages

import "tilecheck/game"

// row is a row or a column of a board: four bits a cell with the exponent of its tile, 0 if it is empty, the first cell in the lowest bits.
type row = uint16

// grid is a board of four rows of 16 bits, the first row in the lowest bits. Smaller boards leave the last rows and the last cells of rows empty.
type grid uint64

func (g grid) row(number int) row { return row(g >> (16 * number)) }

func gridOf(rows ...row) (g grid) {
	for number, r := range rows {
		g |= grid(r) << (16 * number)
	}
	return g
}

// cell returns the exponent of a tile.
func (g grid) cell(r, c int) int { return int(g >> (16*r + 4*c) & 15) }

// transpose swaps rows and columns.
func (g grid) transpose() grid {
	g = g&0xF0F00F0FF0F00F0F | g&0x0000F0F00000F0F0<<12 | g&0x0F0F00000F0F0000>>12
	return g&0xFF00FF0000FF00FF | g&0x00FF00FF00000000>>24 | g&0x00000000FF00FF00<<24
}

// rowTable has a value for each row.
type rowTable [1 << 16]row

// mapRows replaces each row.
func (t *rowTable) mapRows(g grid) grid {
	return gridOf(t[g.row(0)], t[g.row(1)], t[g.row(2)], t[g.row(3)])
}

// moves has the tables of the moves on boards of one shape.
type moves struct {
	shape game.Shape
	// toStart slides a row to its first cell. toRight slides a row of the board to its last cell, and toBottom a column. mirror reverses a row.
	toStart, toRight, toBottom, mirror *rowTable
}

func newMoves(shape game.Shape) *moves {
	m := &moves{shape: shape, toStart: new(rowTable), toRight: new(rowTable), toBottom: new(rowTable), mirror: new(rowTable)}
	for i := range m.toStart {
		m.toStart[i] = slide(row(i))
	}
	for i := range m.toStart {
		m.mirror[i] = reverse(row(i), shape.Cols)
		m.toRight[i] = reverse(m.toStart[m.mirror[i]], shape.Cols)
		m.toBottom[i] = reverse(m.toStart[reverse(row(i), shape.Rows)], shape.Rows)
	}
	return m
}

// slide returns a row after a move to its first cell. Two tiles of exponent 15 do not merge: there is no exponent for the result, and plans end below.
func slide(r row) (result row) {
	cells, merged := 0, true
	for ; r != 0; r >>= 4 {
		exponent := r & 15
		switch {
		case exponent == 0:
		case !merged && exponent < 15 && result>>(4*(cells-1)) == exponent:
			result += 1 << (4 * (cells - 1))
			merged = true
		default:
			result |= exponent << (4 * cells)
			cells++
			merged = false
		}
	}
	return result
}

// reverse returns the first cells of a row in the opposite order. The others must be empty.
func reverse(r row, length int) (reversed row) {
	for cell := range length {
		reversed |= r >> (4 * cell) & 15 << (4 * (length - 1 - cell))
	}
	return reversed
}

// flip exchanges the first row and the last one, and the others likewise.
func (m *moves) flip(g grid) (flipped grid) {
	for number := range m.shape.Rows {
		flipped |= grid(g.row(number)) << (16 * (m.shape.Rows - 1 - number))
	}
	return flipped
}

// images returns the symmetric images of a board, the board and its mirror image first: 8 of a square board, otherwise 4.
func (m *moves) images(g grid) (images [8]grid, number int) {
	images[0], images[2] = g, m.flip(g)
	if m.shape.Rows == m.shape.Cols {
		images[4] = g.transpose()
		images[6] = m.flip(images[4])
		number = 8
	} else {
		number = 4
	}
	for i := 0; i < number; i += 2 {
		images[i+1] = m.mirror.mapRows(images[i])
	}
	return images, number
}

// packed reports whether no tile of a row has an empty cell before it.
func packed(r row) bool {
	for ; r != 0; r >>= 4 {
		if r&15 == 0 {
			return false
		}
	}
	return true
}

// tilesFrom returns the number of tiles whose exponent is at least the given one.
func (g grid) tilesFrom(exponent int) (number int) {
	for ; g != 0; g >>= 4 {
		if int(g&15) >= exponent {
			number++
		}
	}
	return number
}
