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
	// toLeft and toRight slide a row, toTop and toBottom a column. mirror reverses a row. They have results for lines of the board only.
	toLeft, toRight, toTop, toBottom, mirror *rowTable
}

// newMoves computes the tables from the rules of the game on boards of one line.
func newMoves(shape game.Shape) (*moves, error) {
	m := &moves{shape: shape}
	var err error
	if m.toLeft, m.toRight, m.mirror, err = lineTables(shape.Cols); err != nil {
		return nil, err
	}
	m.toTop, m.toBottom, _, err = lineTables(shape.Rows)
	return m, err
}

// lineTables returns, for each line of the given length, the line after a move to its first cell, the line after a move to its last cell, and the
// reversed line. No plan has two tiles that are too large to merge.
func lineTables(length int) (toFirst, toLast, reversed *rowTable, err error) {
	rules, err := game.New(game.Shape{Rows: 1, Cols: length})
	if err != nil {
		return nil, nil, nil, err
	}
	toFirst, toLast, reversed = new(rowTable), new(rowTable), new(rowTable)
	for line := range game.Board(1) << (4 * length) {
		var moved [4]game.Board
		rules.Moved(line, &moved)
		toFirst[line], toLast[line] = row(moved[game.Left]), row(moved[game.Right])
		reversed[line] = row(rules.Apply(game.FlipH, line))
	}
	return toFirst, toLast, reversed, nil
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
