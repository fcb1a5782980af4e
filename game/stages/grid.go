package stages

import (
	"math/bits"

	"tilecheck/game"
)

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

// transpose swaps rows and columns.
func (g grid) transpose() grid { return grid(game.Transpose4x4(uint64(g))) }

// rowTable has a value for each row.
type rowTable [1 << 16]row

// mapRows replaces each row.
func (t *rowTable) mapRows(g grid) grid {
	return gridOf(t[g.row(0)], t[g.row(1)], t[g.row(2)], t[g.row(3)])
}

// moves has the tables of the moves on boards of one shape.
type moves struct {
	shape game.Shape
	// toLeft and toRight slide a row, toTop and toBottom a column. mirror reverses a row. Lines that are longer than those of the board have no result.
	toLeft, toRight, toTop, toBottom, mirror *rowTable
	rows, columns                            *[1 << 16]packing
}

// newMoves computes the tables from the rules of the game on boards of one line.
func newMoves(shape game.Shape) (*moves, error) {
	rows, err := newLineTables(shape.Cols)
	if err != nil {
		return nil, err
	}
	columns := rows
	if shape.Rows != shape.Cols {
		if columns, err = newLineTables(shape.Rows); err != nil {
			return nil, err
		}
	}
	return &moves{
		shape: shape, toLeft: &rows.toFirst, toRight: &rows.toLast, toTop: &columns.toFirst, toBottom: &columns.toLast,
		mirror: &rows.reversed, rows: &rows.packing, columns: &columns.packing,
	}, nil
}

// lineTables has, for each line of a length, the line after a move to its first cell, the line after a move to its last cell, the reversed line, and
// its packing. Tiles of exponent 15 do not merge, but a plan ends before there are two.
type lineTables struct {
	toFirst, toLast, reversed rowTable
	packing                   [1 << 16]packing
}

func newLineTables(length int) (*lineTables, error) {
	rules, err := game.New(game.Shape{Rows: 1, Cols: length})
	if err != nil {
		return nil, err
	}
	t := new(lineTables)
	for line := range game.Board(1) << (4 * length) {
		var moved [4]game.Board
		rules.Moved(line, &moved)
		t.toFirst[line], t.toLast[line] = row(moved[game.Left]), row(moved[game.Right])
		t.reversed[line] = row(rules.Apply(game.FlipH, line))
	}
	for line := range 1 << (4 * length) {
		t.packing[line] = packingOf(row(line), &t.reversed)
	}
	return t, nil
}

// packingOfRows returns the packing of rows 0 and 1.
func (m *moves) packingOfRows(g grid) packing { return m.rows[g.row(0)].and(m.rows[g.row(1)]) }

// packingOfColumns returns the packing of the columns of a transposed board.
func (m *moves) packingOfColumns(columns grid) packing {
	return m.columns[columns.row(0)].and(m.columns[columns.row(1)]).and(m.columns[columns.row(2)].and(m.columns[columns.row(3)]))
}

// flip exchanges the first row and the last one, and the others likewise.
func (m *moves) flip(g grid) (flipped grid) {
	for number := range m.shape.Rows {
		flipped |= grid(g.row(number)) << (16 * (m.shape.Rows - 1 - number))
	}
	return flipped
}

// images returns the symmetric images of a board, and their number: first the board and its mirror image and, unless onlyMirror is true, then the other
// ones, 8 in all if the board is square, and otherwise 4.
func (m *moves) images(g grid, onlyMirror bool) (images [8]grid, number int) {
	if onlyMirror {
		return [8]grid{g, m.mirror.mapRows(g)}, 2
	}
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

// packing says for several lines whether their tiles lie without gaps at one end, as after a move to that end.
type packing uint8

const (
	packedToFirst packing = 1 << iota // at the first cells of the lines
	packedToLast                      // at the last cells
)

// The packing of a board has bits for its rows and for its columns. Each of them has another bit for the lines without one of their tiles, the new one.
const (
	columnShift  = 2 // from a bit for rows to that for columns
	newTileShift = 4 // from a bit to that for the lines without a new tile
)

// and returns the packing of the lines of both.
func (p packing) and(q packing) packing {
	const asTheyLie = packedToFirst | packedToLast
	return p&q&asTheyLie | (p<<newTileShift&q|p&(q<<newTileShift))&(asTheyLie<<newTileShift)
}

// packingOf returns the packing of a line.
func packingOf(line row, reversed *rowTable) (p packing) {
	asItLies := func(line row) (p packing) {
		if packed(line) {
			p |= packedToFirst
		}
		if packed(reversed[line]) {
			p |= packedToLast
		}
		return p
	}
	p = asItLies(line)
	for shift := 0; shift < 16; shift += 4 {
		if line>>shift&15 != 0 {
			p |= asItLies(line&^(15<<shift)) << newTileShift
		}
	}
	return p
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

// occupied returns the board that has a 2 in each occupied cell.
func (g grid) occupied() grid { return (g | g>>1 | g>>2 | g>>3) & 0x1111_1111_1111_1111 }

// tilesFrom returns the number of tiles whose exponent is at least the given one, which is positive.
func (g grid) tilesFrom(exponent int) int {
	const eachCell, highBits = 0x1111_1111_1111_1111, 0x8888_8888_8888_8888
	lowBits := g &^ highBits
	if exponent <= 8 {
		return bits.OnesCount64(uint64((lowBits + grid(8-exponent)*eachCell | g) & highBits))
	}
	return bits.OnesCount64(uint64((lowBits + grid(16-exponent)*eachCell) & g & highBits))
}
