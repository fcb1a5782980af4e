package stages

import (
	"cmp"
	"slices"
)

// halves numbers the upper halves (rows 0 and 1) or the lower halves (rows 2 and 3) of the boards of a stage, in ascending order of their sums, and
// of the cells that are occupied. A half that no board of the stage has is -1.
type halves struct {
	codes    [2]*[1 << 16]int32 // of each row: its position among the rows that the half can have there, or -1
	second   int32              // number of rows that the half can have in its second row
	numbers  []int32            // of each pair of positions
	rows     [][2]row
	sums     []int32       // half of the sum of the small tiles
	groups   [][]halfGroup // by sum
	left     []int32       // the half after a move
	right    []int32
	spawned  [][]int32 // for each empty cell: the half with a new 2, and with a new 4
	columns  []grid    // the transposed board that has the tiles of this half only
	firstRow int       // 0 or 2
}

// newHalves numbers the halves with a first row of the given ones and a second row of the given ones.
func newHalves(m *moves, small, firstRow int, first, second []row) *halves {
	h := &halves{codes: [2]*[1 << 16]int32{codesOf(first), codesOf(second)}, second: int32(len(second)), firstRow: firstRow}
	h.number(m, small, first, second)
	for _, rows := range h.rows {
		h.left = append(h.left, h.index(m.toLeft[rows[0]], m.toLeft[rows[1]]))
		h.right = append(h.right, h.index(m.toRight[rows[0]], m.toRight[rows[1]]))
		h.spawned = append(h.spawned, h.withNewTile(rows, m))
		h.columns = append(h.columns, (gridOf(rows[0], rows[1]) << (16 * firstRow)).transpose())
	}
	return h
}

// halfGroup has the halves of the same sum with the same cells occupied: those from first to end-1.
type halfGroup struct {
	first, end int32
	rows       packing // of these cells
	columns    grid    // the transposed board that has a 2 in each of them
}

// number fills in numbers, rows, sums and groups.
func (h *halves) number(m *moves, small int, first, second []row) {
	type half struct {
		code  int32 // number of its pair of positions
		sum   int32
		cells grid // a 2 in each occupied cell
		rows  [2]row
	}
	sorted := make([]half, 0, len(first)*len(second))
	for _, r0 := range first {
		for _, r1 := range second {
			sorted = append(sorted, half{
				int32(len(sorted)), smallSum(r0, small) + smallSum(r1, small), gridOf(r0, r1).occupied(), [2]row{r0, r1},
			})
		}
	}
	slices.SortFunc(sorted, func(a, b half) int {
		return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.cells, b.cells), cmp.Compare(a.code, b.code))
	})
	h.numbers = make([]int32, len(sorted))
	for number, half := range sorted {
		if number == 0 || half.sum != sorted[number-1].sum || half.cells != sorted[number-1].cells {
			for len(h.groups) <= int(half.sum) {
				h.groups = append(h.groups, nil)
			}
			group := halfGroup{first: int32(number), rows: m.packingOfRows(half.cells), columns: (half.cells << (16 * h.firstRow)).transpose()}
			h.groups[half.sum] = append(h.groups[half.sum], group)
		}
		groups := h.groups[half.sum]
		groups[len(groups)-1].end = int32(number) + 1
		h.numbers[half.code] = int32(number)
		h.rows = append(h.rows, half.rows)
		h.sums = append(h.sums, half.sum)
	}
}

// withSum returns the groups of halves with a sum.
func (h *halves) withSum(sum int) []halfGroup {
	if sum < 0 || sum >= len(h.groups) {
		return nil
	}
	return h.groups[sum]
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
	return h.numbers[code0*h.second+code1]
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

// smallSum returns half of the sum of the tiles below an exponent.
func smallSum(r row, small int) (halfSum int32) {
	for ; r != 0; r >>= 4 {
		if exponent := int(r & 15); exponent < small {
			halfSum += int32(halfValue(exponent))
		}
	}
	return halfSum
}
