package tiles

import (
	"cmp"
	"fmt"
	"slices"
)

// stageHalves are the tops (rows 0 and 1) or the bottoms (rows 2 and 3) of the boards of a stage. The halves of a group have consecutive numbers.
type stageHalves struct {
	firstRow int // 0 or 2
	// numbers has the number of each row as the upper and as the lower row of a half; -1 if it cannot be there.
	numbers [2][]int16
	width   int32        // number of lower rows
	places  []halfPlace  // the half with upper row u and lower row l is at u*width+l
	cells   []stageBoard // of each half, by number: the board with its tiles only
	groups  []halfGroup  // in ascending order of the sums
}

// halfPlace has the number of a half and that of its group; both are -1 if there is no such half.
type halfPlace struct{ number, group int32 }

// halfGroup has the halves with the same sum, the same occupied cells and locked tiles in the same cells. Their numbers are first to end-1.
type halfGroup struct {
	sum              int   // of the small tiles, halved
	occupied, locked uint8 // cells, as of stageBoard.occupied; those of locked tiles are occupied, too
	first, end       int32
}

// maxHalves is the greatest number of arrangements of small tiles in two rows. It bounds the memory of the tables.
const maxHalves = 1 << 23

// newStageHalves numbers the halves whose upper and lower rows are from the given ones.
func newStageHalves(small, firstRow int, upper, lower []uint16) *stageHalves {
	h := &stageHalves{firstRow: firstRow, width: int32(len(lower))}
	for place, rows := range [][]uint16{upper, lower} {
		h.numbers[place] = slices.Repeat([]int16{-1}, 1<<16)
		for number, row := range rows {
			h.numbers[place][row] = int16(number)
		}
	}
	all := make([]stageBoard, 0, len(upper)*len(lower))
	for _, r0 := range upper {
		for _, r1 := range lower {
			all = append(all, stageBoard(r0)|stageBoard(r1)<<16)
		}
	}
	h.group(small, all)
	return h
}

// group sets groups, places and cells. all has the tiles of the halves in the order of places, in rows 0 and 1.
func (h *stageHalves) group(small int, all []stageBoard) {
	index := make(map[halfGroup]int32) // the keys have no numbers of halves yet
	groupOf := make([]int32, len(all))
	var sizes []int32
	for i, cells := range all {
		group := halfGroup{sum: cells.smallSum(small), occupied: cells.occupied(), locked: (cells.cellsFrom(small) >> 3).occupied()}
		number, known := index[group]
		if !known {
			number = int32(len(h.groups))
			index[group] = number
			h.groups, sizes = append(h.groups, group), append(sizes, 0)
		}
		groupOf[i] = number
		sizes[number]++
	}
	order := make([]int32, len(h.groups))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := h.groups[a], h.groups[b]
		return cmp.Or(cmp.Compare(x.sum, y.sum), cmp.Compare(x.locked, y.locked), cmp.Compare(x.occupied, y.occupied))
	})
	sorted, position := make([]halfGroup, len(order)), make([]int32, len(order))
	end := int32(0)
	for i, number := range order {
		sorted[i], position[number] = h.groups[number], int32(i)
		sorted[i].first, sorted[i].end = end, end
		end += sizes[number]
	}
	h.groups = sorted
	h.places, h.cells = make([]halfPlace, len(all)), make([]stageBoard, len(all))
	for i, cells := range all {
		group := position[groupOf[i]]
		h.places[i] = halfPlace{h.groups[group].end, group}
		h.cells[h.groups[group].end] = cells << (16 * h.firstRow)
		h.groups[group].end++
	}
}

// smallSum returns the sum of the small tiles, halved.
func (b stageBoard) smallSum(small int) (sum int) {
	for ; b != 0; b >>= 4 {
		if exponent := int(b & 15); exponent < small {
			sum += 1 << exponent >> 1
		}
	}
	return sum
}

// placeOf returns the place of the half of a board.
func (h *stageHalves) placeOf(b stageBoard) halfPlace {
	upper, lower := h.numbers[0][b>>(16*h.firstRow)&0xffff], h.numbers[1][b>>(16*h.firstRow+16)&0xffff]
	if upper < 0 || lower < 0 {
		return halfPlace{-1, -1}
	}
	return h.places[int32(upper)*h.width+int32(lower)]
}

// stageBottoms are the bottoms of all stages with the same small tiles. They have no locked tiles.
type stageBottoms struct {
	*stageHalves
	small   int
	columns []stageBoard // cells, transposed
	// toFirst and toLast have the bottom after a move to the first and to the last column.
	toFirst, toLast []halfPlace
	// indices has the index of each bottom in places. A new tile of exponent 1 in cell 4r+c of the bottom adds steps[4r+c] to it, and one of exponent 2
	// twice as much: the number of a row of small tiles has the exponents as its digits.
	indices      []int32
	steps        [8]int32
	cellsOfBoard []int     // the cells of rows 2 and 3, as of cellsOfHalf
	groupsOfSum  []int32   // the groups with sum s are groupsOfSum[s] to groupsOfSum[s+1]-1
	afterMove    *boardSet // the boards that can lie after a move, by occupiedAfterMove
}

func newStageBottoms(rules *stageRules, small int) (*stageBottoms, error) {
	rows := rowsOfStage(rules.cols, small, nil, nil)
	if number := len(rows) * len(rows); number > maxHalves {
		return nil, fmt.Errorf("two rows have %d arrangements of small tiles, want at most %d", number, maxHalves)
	}
	third, fourth := []uint16{0}, []uint16{0}
	if rules.rows > 2 {
		third = rows
	}
	if rules.rows > 3 {
		fourth = rows
	}
	b := &stageBottoms{stageHalves: newStageHalves(small, 2, third, fourth), small: small, cellsOfBoard: rules.cellsOfHalf(2)}
	b.indices = make([]int32, len(b.cells))
	for _, cells := range b.cells {
		b.columns = append(b.columns, cells.transposed())
		b.toFirst = append(b.toFirst, b.placeOf(cells.mapRows(rules.toFirst)))
		b.toLast = append(b.toLast, b.placeOf(cells.mapRows(rules.toLast)))
	}
	for index, place := range b.places {
		b.indices[place.number] = int32(index)
	}
	step := int32(1)
	for col := range rules.cols {
		b.steps[col], b.steps[4+col] = step*b.width, step
		step *= int32(small)
	}
	for number, group := range b.groups {
		for len(b.groupsOfSum) <= group.sum {
			b.groupsOfSum = append(b.groupsOfSum, int32(number))
		}
	}
	b.groupsOfSum = append(b.groupsOfSum, int32(len(b.groups)))
	b.afterMove = newBoardSet(b, rules.afterMove)
	return b, nil
}

// withSum returns the groups with a sum: those from first to end-1.
func (b *stageBottoms) withSum(sum int) (first, end int32) {
	if sum < 0 || sum+1 >= len(b.groupsOfSum) {
		return 0, 0
	}
	return b.groupsOfSum[sum], b.groupsOfSum[sum+1]
}

// boardSet is a set of boards of a stage. The occupied cells, and those of locked tiles, determine whether a board is in the set. So tops have a pattern,
// which says for each set of occupied cells of the bottom whether the board is in the set.
//
// In a layer, the boards of the set with the same top have consecutive entries. The board with bottom b is shifts[p*g+group]+b entries after the first of
// them, where p is the pattern of the top, group is the group of b, and g is the number of groups of bottoms.
type boardSet struct {
	bottoms *stageBottoms
	shifts  []int32
	lengths [][]int32 // number of entries of a top, by its pattern and by the sum of the bottoms
}

// notInSet is the shift of boards that are not in the set. In a layer with less than 2^31 entries, their index is negative: an access would panic.
const notInSet = -1 << 31

func newBoardSet(bottoms *stageBottoms, patterns [][256]bool) *boardSet {
	s := &boardSet{bottoms: bottoms, shifts: make([]int32, 0, len(patterns)*len(bottoms.groups))}
	for _, contains := range patterns {
		lengths := make([]int32, len(bottoms.groupsOfSum)-1)
		for _, group := range bottoms.groups {
			if !contains[group.occupied] {
				s.shifts = append(s.shifts, notInSet)
				continue
			}
			s.shifts = append(s.shifts, lengths[group.sum]-group.first)
			lengths[group.sum] += group.end - group.first
		}
		s.lengths = append(s.lengths, lengths)
	}
	return s
}

// shiftsOf returns the shift of each group of bottoms for a pattern.
func (s *boardSet) shiftsOf(pattern int32) []int32 {
	size := int32(len(s.bottoms.groups))
	return s.shifts[pattern*size : (pattern+1)*size]
}

// length returns the number of entries of a top in a layer. sum is that of the bottoms.
func (s *boardSet) length(pattern int32, sum int) int32 {
	if sum < 0 || sum >= len(s.lengths[pattern]) {
		return 0
	}
	return s.lengths[pattern][sum]
}

// occupiedAfterMove returns, for the occupied cells of rows 0 and 1 and those of rows 2 and 3, whether a board can have them after a move, or with the
// first tile only. If it can, so can its symmetric images.
func (r *stageRules) occupiedAfterMove() [][256]bool {
	patterns := make([][256]bool, 256)
	for top := range 256 {
		for bottom := range 256 {
			b := stageBoard(0)
			for cell := range 16 {
				b |= stageBoard((top|bottom<<8)>>cell&1) << (4 * cell)
			}
			b *= 15 // tiles of exponent 15 do not merge
			columns := b.transposed()
			patterns[top][bottom] = b.tilesFrom(1) < 2 || b == b.mapRows(r.toFirst) || b == b.mapRows(r.toLast) ||
				b == columns.mapColumns(r.upwards) || b == columns.mapColumns(r.downwards)
		}
	}
	return patterns
}

// withNewTile returns the pattern of a top in the set of the boards after a move and a new tile. A locked tile is not new.
func withNewTile(afterMove [][256]bool, occupied, locked uint8) (contains [256]bool) {
	for bottom := range 256 {
		for cell := range 8 {
			if bit := uint8(1) << cell; occupied&^locked&bit != 0 && afterMove[occupied^bit][bottom] || uint8(bottom)&bit != 0 && afterMove[occupied][uint8(bottom)^bit] {
				contains[bottom] = true
			}
		}
	}
	return contains
}

// rowsOfStage returns the rows whose tiles from exponent small on are the locked ones, in their order. Unless columns is nil, they lie side by side, and
// the first one lies in one of the columns.
func rowsOfStage(cols, small int, locked, columns []int) (rows []uint16) {
	for i := range 1 << (4 * cols) {
		var tiles, places []int
		for cell := range cols {
			if tile := i >> (4 * cell) & 15; tile >= small {
				tiles, places = append(tiles, tile), append(places, cell)
			}
		}
		if !slices.Equal(tiles, locked) {
			continue
		}
		if n := len(places); n == 0 || columns == nil || slices.Contains(columns, places[0]) && places[n-1] == places[0]+n-1 {
			rows = append(rows, uint16(i))
		}
	}
	return rows
}
