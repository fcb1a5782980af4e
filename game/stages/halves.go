package stages

import (
	"cmp"
	"slices"
)

// halves numbers the upper halves (rows 0 and 1) or the lower halves (rows 2 and 3) of the boards of a stage, in ascending order of their sums, and
// of the cells that are occupied. The number -1 is for a half that no board of the stage has.
type halves struct {
	firstRow   int                // 0 or 2
	positions  [2]*[1 << 16]int32 // of each row, among the rows that can be the first and the second row of a half; or -1
	numSeconds int32              // number of rows that can be the second row
	numbers    []int32            // the half with rows at positions p and q is at p*numSeconds+q

	// By the number of the half:
	rows        [][2]row
	sums        []int32   // half of the sum of the small tiles
	left, right []int32   // the half after a move
	spawned     [][]int32 // for each empty cell: the half with a new 2, and with a new 4
	columns     []grid    // the transposed board that has the tiles of the half only

	groups [][]halfGroup // by sum
}

// newHalves numbers the halves whose first and second rows are from the given ones.
func newHalves(m *moves, small, firstRow int, first, second []row) *halves {
	h := &halves{positions: [2]*[1 << 16]int32{positionsOf(first), positionsOf(second)}, numSeconds: int32(len(second)), firstRow: firstRow}
	h.sort(m, small, first, second)
	for _, rows := range h.rows {
		h.left = append(h.left, h.numberOf(m.toLeft[rows[0]], m.toLeft[rows[1]]))
		h.right = append(h.right, h.numberOf(m.toRight[rows[0]], m.toRight[rows[1]]))
		h.spawned = append(h.spawned, h.withNewTile(rows, m))
		h.columns = append(h.columns, (gridOf(rows[0], rows[1]) << (16 * firstRow)).transpose())
	}
	return h
}

// halfGroup has the halves with the same sum and the same occupied cells: those from first to end-1.
type halfGroup struct {
	first, end int32
	rows       packing // of the occupied cells
	columns    grid    // the transposed board that has a 2 in each occupied cell
}

// sort sets numbers, rows, sums and groups.
func (h *halves) sort(m *moves, small int, first, second []row) {
	type half struct {
		pair  int32 // its index in numbers
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
		return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.cells, b.cells), cmp.Compare(a.pair, b.pair))
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
		h.numbers[half.pair] = int32(number)
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

// positionsOf returns the position of each row in a list, or -1.
func positionsOf(rows []row) *[1 << 16]int32 {
	positions := new([1 << 16]int32)
	for i := range positions {
		positions[i] = -1
	}
	for position, r := range rows {
		positions[r] = int32(position)
	}
	return positions
}

// numberOf returns the number of the half with two rows.
func (h *halves) numberOf(first, second row) int32 {
	p, q := h.positions[0][first], h.positions[1][second]
	if p|q < 0 {
		return -1
	}
	return h.numbers[p*h.numSeconds+q]
}

// numberIn returns the number of the half of a board.
func (h *halves) numberIn(g grid) int32 { return h.numberOf(g.row(h.firstRow), g.row(h.firstRow+1)) }

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
				spawned = append(spawned, h.numberOf(next[0], next[1]))
			}
		}
	}
	return slices.Clip(spawned)
}

// smallSum returns half of the sum of the tiles of a row with exponents below small.
func smallSum(r row, small int) (halfSum int32) {
	for ; r != 0; r >>= 4 {
		if exponent := int(r & 15); exponent < small {
			halfSum += int32(halfValue(exponent))
		}
	}
	return halfSum
}
