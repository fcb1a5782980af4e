package stages

import "slices"

// halves numbers the upper halves (rows 0 and 1) or the lower halves (rows 2 and 3) of the boards of a stage. A half that no board of the stage has
// is -1.
type halves struct {
	codes    [2]*[1 << 16]int32 // of each row: its position among the rows that the half can have there, or -1
	second   int32              // number of rows that the half can have in its second row
	rows     [][2]row
	sums     []int32 // half of the sum of the small tiles
	left     []int32 // the half after a move
	right    []int32
	spawned  [][]int32 // for each empty cell: the half with a new 2, and with a new 4
	gaps     []gaps
	columns  []grid // the transposed board that has the tiles of this half only
	firstRow int    // 0 or 2
}

// gaps says where a half has empty cells. From the gaps of both halves follows whether a board can be one after a move.
type gaps struct {
	left, right, up bool  // whether a tile has an empty cell before it, as seen by the move
	open, occupied  uint8 // the columns with an empty cell, and those with a tile
}

// newHalves numbers the halves with a first row of the given ones and a second row of the given ones.
func newHalves(m *moves, small, firstRow int, first, second []row) *halves {
	h := &halves{codes: [2]*[1 << 16]int32{codesOf(first), codesOf(second)}, second: int32(len(second)), firstRow: firstRow}
	for _, r0 := range first {
		for _, r1 := range second {
			h.rows = append(h.rows, [2]row{r0, r1})
		}
	}
	for _, rows := range h.rows {
		h.sums = append(h.sums, smallSum(rows[0], small)+smallSum(rows[1], small))
		h.left = append(h.left, h.index(m.toLeft[rows[0]], m.toLeft[rows[1]]))
		h.right = append(h.right, h.index(m.toRight[rows[0]], m.toRight[rows[1]]))
		h.spawned = append(h.spawned, h.withNewTile(rows, m))
		h.gaps = append(h.gaps, gapsOf(rows, m))
		h.columns = append(h.columns, (gridOf(rows[0], rows[1]) << (16 * firstRow)).transpose())
	}
	return h
}

// codesOf returns the position of each row in a list, or -1.
func codesOf(rows []row) *[1 << 16]int32 {
	codes := new([1 << 16]int32)
	for i := range codes {
		codes[i] = -1
	}
	for position, r := range rows {
		codes[r] = int32(position)
	}
	return codes
}

// index returns the index of a half.
func (h *halves) index(r0, r1 row) int32 {
	code0, code1 := h.codes[0][r0], h.codes[1][r1]
	if code0|code1 < 0 {
		return -1
	}
	return code0*h.second + code1
}

// indexIn returns the index of the half that a board has.
func (h *halves) indexIn(g grid) int32 { return h.index(g.row(h.firstRow), g.row(h.firstRow+1)) }

// board returns the board that has the tiles of a half only.
func (h *halves) board(half int32) grid {
	return gridOf(h.rows[half][0], h.rows[half][1]) << (16 * h.firstRow)
}

// withNewTile returns, for each empty cell of a half, the half with a new 2 and the half with a new 4.
func (h *halves) withNewTile(rows [2]row, m *moves) (spawned []int32) {
	for number := range rows {
		if h.firstRow+number >= m.shape.Rows {
			break
		}
		for cell := range m.shape.Cols {
			if rows[number]>>(4*cell)&15 != 0 {
				continue
			}
			for exponent := row(1); exponent <= 2; exponent++ {
				next := rows
				next[number] |= exponent << (4 * cell)
				spawned = append(spawned, h.index(next[0], next[1]))
			}
		}
	}
	return slices.Clip(spawned)
}

func gapsOf(rows [2]row, m *moves) (g gaps) {
	for _, r := range rows {
		g.left = g.left || !packed(r)
		g.right = g.right || !packed(m.mirror[r])
	}
	for cell := range m.shape.Cols {
		above, below := rows[0]>>(4*cell)&15 != 0, rows[1]>>(4*cell)&15 != 0
		g.up = g.up || below && !above
		if !above || !below {
			g.open |= 1 << cell
		}
		if above || below {
			g.occupied |= 1 << cell
		}
	}
	return g
}

// smallSum returns half of the sum of the tiles below an exponent.
func smallSum(r row, small int) (halfSum int32) {
	for ; r != 0; r >>= 4 {
		if exponent := int(r & 15); exponent < small {
			halfSum += int32(halfValue(exponent))
		}
	}
	return halfSum
}
