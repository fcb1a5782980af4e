package tiles

import (
	"cmp"
	"fmt"
	"slices"
)

// stageHalves are the halves of the boards of a stage: their rows 0 and 1, or their rows 2 and 3. They are numbered by groups.
type stageHalves struct {
	firstRow int
	// numbers has the number of each row in the upper and in the lower place; -1 if it cannot be there.
	numbers [2][]int16
	width   int32        // number of rows in the lower place
	places  []halfPlace  // of upper*width+lower, for numbers of rows
	cells   []stageCells // by number
	groups  []halfGroup  // by sum, then by occupied cells
}

// halfPlace is the number of a half and that of its group; negative for none.
type halfPlace struct{ number, group int32 }

// halfGroup has the halves of the same sum and with the same cells occupied. Their numbers are first to end-1.
type halfGroup struct {
	sum              int   // of the small tiles, halved
	occupied, locked uint8 // cells, as of stageCells.occupied; those of locked tiles are occupied, too
	first, end       int32
}

// maxHalves is the greatest number of arrangements of small tiles in two rows. It bounds the memory of the tables.
const maxHalves = 1 << 23

func newStageHalves(small, firstRow int, upper, lower []uint16) *stageHalves {
	h := &stageHalves{firstRow: firstRow, width: int32(len(lower))}
	for place, rows := range [][]uint16{upper, lower} {
		h.numbers[place] = slices.Repeat([]int16{-1}, 1<<16)
		for number, row := range rows {
			h.numbers[place][row] = int16(number)
		}
	}
	all := make([]stageCells, 0, len(upper)*len(lower))
	for _, r0 := range upper {
		for _, r1 := range lower {
			all = append(all, stageCells(r0)|stageCells(r1)<<16)
		}
	}
	h.group(small, all)
	return h
}

// group makes the groups of halves, which are given in the order of h.places.
func (h *stageHalves) group(small int, all []stageCells) {
	index := make(map[halfGroup]int32) // of groups whose halves are not numbered
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
	h.places, h.cells = make([]halfPlace, len(all)), make([]stageCells, len(all))
	for i, cells := range all {
		group := position[groupOf[i]]
		h.places[i] = halfPlace{h.groups[group].end, group}
		h.cells[h.groups[group].end] = cells << (16 * h.firstRow)
		h.groups[group].end++
	}
}

// smallSum returns the sum of the small tiles, halved.
func (b stageCells) smallSum(small int) (sum int) {
	for ; b != 0; b >>= 4 {
		if exponent := int(b & 15); exponent < small {
			sum += 1 << exponent >> 1
		}
	}
	return sum
}

// of returns the place of the half that a board has.
func (h *stageHalves) of(b stageCells) halfPlace {
	upper, lower := h.numbers[0][b>>(16*h.firstRow)&0xffff], h.numbers[1][b>>(16*h.firstRow+16)&0xffff]
	if upper < 0 || lower < 0 {
		return halfPlace{-1, -1}
	}
	return h.places[int32(upper)*h.width+int32(lower)]
}

// stageBottoms are the lower halves of boards of all stages with the same small tiles. They have no locked tiles.
type stageBottoms struct {
	*stageHalves
	small   int
	columns []stageCells // the half transposed, by its number
	// toFirst and toLast have the half after a move to the first and to the last column.
	toFirst, toLast []halfPlace
	// A new tile of exponent 1 in cell 4r+c of the half adds steps[4r+c] to the index of the half in places, and one of exponent 2 twice as much:
	// the number of a row of small tiles has its exponents as digits. indices has the index of each half.
	steps        [8]int32
	indices      []int32
	cellsOfBoard []int
	groupsOfSum  []int32 // the groups with sum s are groupsOfSum[s] to groupsOfSum[s+1]-1
	afterMove    *boardSet
}

func newStageBottoms(rules *stageBoard, small int) (*stageBottoms, error) {
	rows := rowsOfStage(rules.cols, small, nil, nil)
	if len(rows)*len(rows) > maxHalves {
		return nil, fmt.Errorf("two rows of %d columns have more than %d arrangements of its small tiles", rules.cols, maxHalves)
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
		b.toFirst = append(b.toFirst, b.of(cells.inRows(rules.toFirst)))
		b.toLast = append(b.toLast, b.of(cells.inRows(rules.toLast)))
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
	b.afterMove = newBoardSet(b, rules.occupiedAfterMove())
	return b, nil
}

// withSum returns the groups with a sum, as the first one and the end.
func (b *stageBottoms) withSum(sum int) (first, end int32) {
	if sum < 0 || sum+1 >= len(b.groupsOfSum) {
		return 0, 0
	}
	return b.groupsOfSum[sum], b.groupsOfSum[sum+1]
}

// boardSet is a set of boards of a stage that depends on occupied cells only. Boards of the set with the same top and the same sum are a row of
// consecutive entries of a layer. The position of a bottom in the row is shifts[p*g+group]+number, where p is the pattern of the top, and g the
// number of groups of bottoms.
type boardSet struct {
	bottoms *stageBottoms
	shifts  []int32
	lengths [][]int32 // of the rows of each pattern, by the sum of the bottoms
}

// notInSet is the shift of boards that are not in the set. No layer has an entry at such a place, so that a wrong access is out of range.
const notInSet = -1 << 31

// newBoardSet makes the set of the boards whose occupied cells a pattern contains: those of the bottom for each pattern of the top.
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

// ofPattern returns the shift of each group of bottoms for a pattern.
func (s *boardSet) ofPattern(pattern int32) []int32 {
	size := int32(len(s.bottoms.groups))
	return s.shifts[pattern*size : (pattern+1)*size]
}

// length returns the number of boards in a row of the set.
func (s *boardSet) length(pattern int32, sum int) int32 {
	if sum < 0 || sum >= len(s.lengths[pattern]) {
		return 0
	}
	return s.lengths[pattern][sum]
}

// occupiedAfterMove returns which cells can be occupied after a move, or by the first tile: those of the lower half for each pattern of the upper one.
// The set contains the symmetric images of its boards.
func (r *stageBoard) occupiedAfterMove() [][256]bool {
	patterns := make([][256]bool, 256)
	for top := range 256 {
		for bottom := range 256 {
			b := stageCells(0)
			for cell := range 16 {
				b |= stageCells((top|bottom<<8)>>cell&1) << (4 * cell)
			}
			b *= 15 // such tiles do not merge
			columns := b.transposed()
			patterns[top][bottom] = b.tilesFrom(1) < 2 || b == b.inRows(r.toFirst) || b == b.inRows(r.toLast) ||
				b == columns.inColumns(r.upwards) || b == columns.inColumns(r.downwards)
		}
	}
	return patterns
}

// withNewTile returns for one pattern of the upper half which cells of the lower half can be occupied after a move and a new tile. Locked tiles are not
// new ones.
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

// rowsOfStage returns the rows whose tiles from small on are the locked ones, in their order. With columns, they begin in one of these, without gaps.
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
