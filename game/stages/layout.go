package stages

import "slices"

// layout numbers the boards of a stage. A layer has all boards of the stage with one sum of small tiles. The number of a board in its layer is
//
//	start of its upper half + rank of its lower half
//
// The rank counts the lower halves of equal sum, and the start counts the boards with smaller upper halves. So boards that differ only in the lower
// half are neighbours, and so are their successors with a new tile in the upper half.
type layout struct {
	*Stage
	upper *halves
	lower *rankedHalves
	// starts has the starts of the upper halves for each layer, and at the end the number of its boards. It is nil for a layer that is not numbered
	// yet, or not needed any more.
	starts [][]uint32
}

// rankedHalves are lower halves with their ranks. They have no locked tiles, so stages with equal small tiles share them.
type rankedHalves struct {
	*halves
	bySum [][]int32 // in the order of their ranks
	rank  []uint32
}

// newRankedHalves returns the lower halves with tiles below an exponent.
func newRankedHalves(m *moves, small int) *rankedHalves {
	rows := [2][]row{{0}, {0}} // rows below the board are empty
	for number := range min(2, m.shape.Rows-2) {
		rows[number] = rowsWith(m.shape.Cols, small, nil, nil)
	}
	lower := &rankedHalves{halves: newHalves(m, small, 2, rows[0], rows[1])}
	lower.bySum = make([][]int32, slices.Max(lower.sums)+1)
	for half, sum := range lower.sums {
		lower.rank = append(lower.rank, uint32(len(lower.bySum[sum])))
		lower.bySum[sum] = append(lower.bySum[sum], int32(half))
	}
	return lower
}

func newLayout(stage *Stage, m *moves, lower *rankedHalves) *layout {
	cols := m.shape.Cols
	first := rowsWith(cols, stage.Small, stage.Locked[:stage.Upper], stage.Columns)
	second := rowsWith(cols, stage.Small, stage.Locked[stage.Upper:], nil)
	return &layout{
		Stage: stage, upper: newHalves(m, stage.Small, 0, first, second), lower: lower, starts: make([][]uint32, stage.Sum/2+1),
	}
}

// rowsWith returns the rows with the given locked tiles and small tiles otherwise, in ascending order of the rows as numbers.
func rowsWith(cols, small int, locked, columns []int) (rows []row) {
	for i := range 1 << (4 * cols) {
		if hasLocked(row(i), small, locked, columns) {
			rows = append(rows, row(i))
		}
	}
	return rows
}

// hasLocked reports whether the tiles of a row that are not small are exactly the locked ones, in their order. If there are columns, the first locked
// tile must lie in one of them, and the others must follow without gaps.
func hasLocked(r row, small int, locked, columns []int) bool {
	var found []int // the columns of the locked tiles
	for cell := 0; r>>(4*cell) != 0 && cell < 4; cell++ {
		exponent := int(r >> (4 * cell) & 15)
		switch {
		case exponent < small:
		case len(found) < len(locked) && exponent == locked[len(found)]:
			found = append(found, cell)
		default:
			return false
		}
	}
	if len(found) < len(locked) {
		return false
	}
	if columns == nil || len(locked) == 0 {
		return true
	}
	return slices.Contains(columns, found[0]) && found[len(found)-1]-found[0] == len(found)-1
}

// numberLayer computes the starts of a layer.
func (l *layout) numberLayer(layer int) {
	starts := make([]uint32, len(l.upper.rows)+1)
	next := uint32(0)
	for half := range l.upper.rows {
		starts[half] = next
		next += uint32(len(l.lowerHalves(layer, half)))
	}
	starts[len(l.upper.rows)] = next
	l.starts[layer] = starts
}

// lowerHalves returns the lower halves that make a board of a layer with an upper half.
func (l *layout) lowerHalves(layer, upper int) []int32 {
	if sum := layer - int(l.upper.sums[upper]); sum >= 0 && sum < len(l.lower.bySum) {
		return l.lower.bySum[sum]
	}
	return nil
}

// number returns the number of the board with the given halves in its layer. The starts of the layer must be known.
func (l *layout) number(layer int, upper, lower int32) uint32 {
	return l.starts[layer][upper] + l.lower.rank[lower]
}

// find returns the halves and the layer of a board. ok is false if the board does not belong to the stage.
func (l *layout) find(g grid) (upper, lower int32, layer int, ok bool) {
	if upper = l.upper.indexIn(g); upper < 0 {
		return 0, 0, 0, false
	}
	if lower = l.lower.indexIn(g); lower < 0 {
		return 0, 0, 0, false
	}
	return upper, lower, int(l.upper.sums[upper] + l.lower.sums[lower]), true
}
