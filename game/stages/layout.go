package stages

import "slices"

// layout numbers the boards of a stage. A layer has all boards of the stage with the same sum of small tiles; its number is half of this sum. The number of
// a board in its layer is
//
//	start of its upper half + number of its lower half
//
// Lower halves of equal sum have consecutive numbers. So the boards of a layer with the same upper half are consecutive. A new tile in the upper half takes
// them to boards of another layer that are consecutive, too, in the same order.
type layout struct {
	*Stage
	upper *halves
	lower *halves // lower halves have no locked tiles, so stages with equal small tiles share them
	// starts has, for each layer, the start of each upper half, and then the number of boards. The start is the number of boards with upper halves before
	// this one, minus the number of the first lower half in the layer, modulo 2^32. A layer is nil before it is numbered, and when it is not needed any more.
	starts [][]uint32
}

// newLowerHalves returns the lower halves with tiles below an exponent.
func newLowerHalves(m *moves, small int) *halves {
	rows := [2][]row{{0}, {0}} // rows below the board are empty
	for number := range min(2, m.shape.Rows-2) {
		rows[number] = rowsWith(m.shape.Cols, small, nil, nil)
	}
	return newHalves(m, small, 2, rows[0], rows[1])
}

func newLayout(stage *Stage, m *moves, lower *halves) *layout {
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

// hasLocked reports whether the tiles of a row that are not small are exactly the locked ones, in their order. Unless columns is nil, they must lie side by
// side, and the first one must lie in one of the columns.
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
	for upper := range l.upper.rows {
		if groups := l.lowerHalves(layer, upper); len(groups) > 0 {
			starts[upper] = next - uint32(groups[0].first)
			next += uint32(groups[len(groups)-1].end - groups[0].first)
		}
	}
	starts[len(l.upper.rows)] = next
	l.starts[layer] = starts
}

// lowerHalves returns the lower halves with which an upper half makes boards of a layer.
func (l *layout) lowerHalves(layer, upper int) []halfGroup {
	return l.lower.withSum(layer - int(l.upper.sums[upper]))
}

// number returns the number of the board with the given halves in its layer. The starts of the layer must be known.
func (l *layout) number(layer int, upper, lower int32) uint32 {
	return l.starts[layer][upper] + uint32(lower)
}

// find returns the halves and the layer of a board, or false if the board has other locked tiles than the stage. The layer can be above those of the stage.
func (l *layout) find(g grid) (upper, lower int32, layer int, ok bool) {
	if upper = l.upper.numberIn(g); upper < 0 {
		return 0, 0, 0, false
	}
	if lower = l.lower.numberIn(g); lower < 0 {
		return 0, 0, 0, false
	}
	return upper, lower, int(l.upper.sums[upper] + l.lower.sums[lower]), true
}
