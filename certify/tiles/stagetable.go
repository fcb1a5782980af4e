package tiles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/internal/parallel"
)

// stageTable has the values of the boards of one stage. They are in layers of equal sums of small tiles. In a layer they are sorted by their tops, rows 0
// and 1, and then by their bottoms, rows 2 and 3. Bottoms of equal sums have consecutive places.
type stageTable struct {
	*stageBoard
	*stageLine
	maxExp int
	later  []*stageTable // the next stages
	// sameLocked is the next stage, if it has the same locked tiles in the same rows; otherwise nil.
	sameLocked *stageTable
	continues  bool // whether the stage before this one has the same locked tiles in the same rows
	// locksSmall is whether a later stage can have a locked tile that is small in this one.
	locksSmall   bool
	tops         *halfBoards
	bottoms      *halfBoards
	bottomsOfSum [][]int32
	place        []uint32 // of each bottom, among those with its sum
	layers       []stageLayer
	boards       uint64
}

// stageLayer has the values of the boards of a layer. They are nil before they are computed, and when they are not needed any more.
type stageLayer struct {
	first  []uint32 // for each top: the index of its first board
	values []uint32
}

// halfBoards are the pairs of rows that boards of a stage can have in two places.
type halfBoards struct {
	numbers [2][]int32 // of each row, in the upper and in the lower place; -1 if it cannot be there
	width   int32      // number of rows in the lower place
	cells   []stageCells
	sums    []int32 // half of the sum of small tiles
	// afterLeft and afterRight have the half after a move, and withTile the half with each possible new tile, 2 and 4 in turn; -1 for none.
	afterLeft, afterRight []int32
	withTile              [][]int32
	shift                 int // of the first row in a board
}

// maxHalfBoards is the greatest number of arrangements of small tiles in two rows. It bounds the memory of the tables.
const maxHalfBoards = 1 << 23

func newStageTable(rules *stageBoard, line *stageLine, maxExp int, later []*stageTable) (*stageTable, error) {
	t := &stageTable{stageBoard: rules, stageLine: line, maxExp: maxExp, later: later}
	if len(later) > 0 && later[0].continues {
		t.sameLocked = later[0]
	}
	t.locksSmall = slices.ContainsFunc(later, func(next *stageTable) bool { return next.small < line.small })
	small := rowsOfStage(rules.cols, line.small, nil, nil)
	if len(small)*len(small) > maxHalfBoards {
		return nil, fmt.Errorf("two rows of %d columns have more than %d arrangements of its small tiles", rules.cols, maxHalfBoards)
	}
	empty := []uint16{0}
	third, fourth := empty, empty
	if rules.rows > 2 {
		third = small
	}
	if rules.rows > 3 {
		fourth = small
	}
	t.tops = newHalfBoards(rules, line.small, 0, rowsOfStage(rules.cols, line.small, line.locked[:line.upper], line.columns),
		rowsOfStage(rules.cols, line.small, line.locked[line.upper:], nil))
	t.bottoms = newHalfBoards(rules, line.small, 2, third, fourth)
	for bottom, sum := range t.bottoms.sums {
		for int(sum) >= len(t.bottomsOfSum) {
			t.bottomsOfSum = append(t.bottomsOfSum, nil)
		}
		t.place = append(t.place, uint32(len(t.bottomsOfSum[sum])))
		t.bottomsOfSum[sum] = append(t.bottomsOfSum[sum], int32(bottom))
	}
	return t, t.makeLayers()
}

// makeLayers makes a layer for each sum that boards of the stage have, and counts the boards.
func (t *stageTable) makeLayers() error {
	topsOfSum := []uint64{0} // the list of columns may allow no tops
	for _, sum := range t.tops.sums {
		for int(sum) >= len(topsOfSum) {
			topsOfSum = append(topsOfSum, 0)
		}
		topsOfSum[sum]++
	}
	greatest := len(topsOfSum) + len(t.bottomsOfSum) - 2
	t.layers = make([]stageLayer, min(t.sum/2, greatest)+1)
	for layer := range t.layers {
		size := uint64(0)
		for topSum, numTops := range topsOfSum[:min(layer+1, len(topsOfSum))] {
			if bottomSum := layer - topSum; bottomSum < len(t.bottomsOfSum) {
				size += numTops * uint64(len(t.bottomsOfSum[bottomSum]))
			}
		}
		if size >= 1<<32 {
			return errors.New("more than 2^32 boards have the same sum")
		}
		t.boards += size
	}
	return nil
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

func newHalfBoards(rules *stageBoard, small, firstRow int, upper, lower []uint16) *halfBoards {
	h := &halfBoards{width: int32(len(lower)), shift: 16 * firstRow}
	for place, rows := range [][]uint16{upper, lower} {
		h.numbers[place] = slices.Repeat([]int32{-1}, 1<<16)
		for number, row := range rows {
			h.numbers[place][row] = int32(number)
		}
	}
	for _, r0 := range upper {
		for _, r1 := range lower {
			h.cells = append(h.cells, (stageCells(r0)|stageCells(r1)<<16)<<h.shift)
		}
	}
	for _, cells := range h.cells {
		sum := int32(0)
		for rest := cells; rest != 0; rest >>= 4 {
			if tile := int(rest & 15); tile < small {
				sum += int32(1 << tile >> 1)
			}
		}
		h.sums = append(h.sums, sum)
		h.afterLeft = append(h.afterLeft, h.of(cells.inRows(rules.toFirst)))
		h.afterRight = append(h.afterRight, h.of(cells.inRows(rules.toLast)))
		var withTile []int32
		for row := firstRow; row < min(firstRow+2, rules.rows); row++ {
			for col := range rules.cols {
				if bit := 16*row + 4*col; cells>>bit&15 == 0 {
					withTile = append(withTile, h.of(cells|1<<bit), h.of(cells|2<<bit))
				}
			}
		}
		h.withTile = append(h.withTile, slices.Clip(withTile))
	}
	return h
}

// of returns the half that a board has, or -1.
func (h *halfBoards) of(b stageCells) int32 {
	upper, lower := h.numbers[0][b>>h.shift&0xffff], h.numbers[1][b>>(h.shift+16)&0xffff]
	if upper < 0 || lower < 0 {
		return -1
	}
	return upper*h.width + lower
}

// bottomsWith returns the bottoms that make a board of a layer with a top.
func (t *stageTable) bottomsWith(layer, top int) []int32 {
	sum := layer - int(t.tops.sums[top])
	if sum < 0 || sum >= len(t.bottomsOfSum) {
		return nil
	}
	return t.bottomsOfSum[sum]
}

// halvesOf returns the top and the bottom of a board that belongs to the stage.
func (t *stageTable) halvesOf(b stageCells) (top, bottom int32, belongs bool) {
	if top = t.tops.of(b); top < 0 {
		return 0, 0, false
	}
	bottom = t.bottoms.of(b)
	return top, bottom, bottom >= 0
}

// layer returns a layer, which has no values above the greatest sum.
func (t *stageTable) layer(sum int) *stageLayer {
	if sum >= len(t.layers) {
		return &stageLayer{}
	}
	return &t.layers[sum]
}

// mean returns the mean value over the new tiles, rounded down.
func (t *stageTable) mean(top, bottom int32) uint32 {
	sum := int(t.tops.sums[top] + t.bottoms.sums[bottom])
	return t.meanOf(top, bottom, t.layer(sum+1), t.layer(sum+2))
}

// meanOf is the method mean. The layers are those of the boards with a new 2 and with a new 4; a layer without values counts 0.
func (t *stageTable) meanOf(top, bottom int32, withTwo, withFour *stageLayer) uint32 {
	above, below := t.tops.withTile[top], t.bottoms.withTile[bottom]
	count := len(above) + len(below)
	if count == 0 {
		return 0
	}
	total := uint64(0)
	if withTwo.values != nil {
		total = 9 * t.sumOf(top, bottom, above, below, 0, withTwo)
	}
	if withFour.values != nil {
		total += t.sumOf(top, bottom, above, below, 1, withFour)
	}
	return uint32(total / uint64(5*count)) // two entries and the weight 10 for each empty cell
}

// sumOf adds the values of a layer for every second half of above, with the bottom, and for every second half of below, with the top.
func (t *stageTable) sumOf(top, bottom int32, above, below []int32, from int, layer *stageLayer) (sum uint64) {
	for i := from; i < len(above); i += 2 {
		sum += uint64(layer.values[layer.first[above[i]]+t.place[bottom]])
	}
	start := layer.first[top]
	for i := from; i < len(below); i += 2 {
		sum += uint64(layer.values[start+t.place[below[i]]])
	}
	return sum
}

// compute computes all layers, from the greatest sum to the least. It keeps those up to keep.
func (t *stageTable) compute(ctx context.Context, workers, keep int) error {
	for layer := len(t.layers) - 1; layer >= 0; layer-- {
		if err := t.computeLayer(ctx, workers, layer); err != nil {
			return err
		}
		if used := layer + 2; used < len(t.layers) && used > keep {
			t.layers[used] = stageLayer{}
		}
	}
	return nil
}

// computeLayer computes the means of the boards of a layer, as boards after a move, and from them the values.
func (t *stageTable) computeLayer(ctx context.Context, workers, number int) error {
	layer := &t.layers[number]
	layer.first = make([]uint32, len(t.tops.cells))
	size := uint32(0)
	for top := range t.tops.cells {
		layer.first[top] = size
		size += uint32(len(t.bottomsWith(number, top)))
	}
	means := make([]uint32, size)
	err := parallel.ForEach(ctx, workers, len(t.tops.cells), func(_, top int) error {
		t.meansOfTop(int32(top), number, means)
		return nil
	})
	if err != nil {
		return err
	}
	values := make([]uint32, size)
	err = parallel.ForEach(ctx, workers, len(t.tops.cells), func(_, top int) error {
		for i, bottom := range t.bottomsWith(number, top) {
			values[layer.first[top]+uint32(i)] = t.bestMove(int32(top), bottom, layer.first, means)
		}
		return nil
	})
	layer.values = values
	return err
}

// meansOfTop computes the means of the boards of a layer that have a top.
func (t *stageTable) meansOfTop(top int32, number int, means []uint32) {
	withTwo, withFour := t.layer(number+1), t.layer(number+2)
	first := t.layers[number].first[top]
	for i, bottom := range t.bottomsWith(number, int(top)) {
		mean := t.meanOf(top, bottom, withTwo, withFour)
		if t.sameLocked != nil {
			if nextTop, nextBottom, belongs := t.sameLocked.halvesOf(t.tops.cells[top] | t.bottoms.cells[bottom]); belongs {
				mean = max(mean, t.sameLocked.mean(nextTop, nextBottom))
			}
		}
		means[first+uint32(i)] = mean
	}
}

// bestMove returns the value of a board. first and means are of its layer.
func (t *stageTable) bestMove(top, bottom int32, first, means []uint32) (best uint32) {
	cells := t.tops.cells[top] | t.bottoms.cells[bottom]
	look := func(top, bottom int32) { best = max(best, means[first[top]+t.place[bottom]]) }
	sideways := func(nextTop, nextBottom int32, table []uint16) {
		switch {
		case nextTop < 0 || nextBottom < 0:
			best = max(best, t.valueOutside(cells.inRows(table), first, means))
		case nextTop != top || nextBottom != bottom:
			look(nextTop, nextBottom)
		}
	}
	sideways(t.tops.afterLeft[top], t.bottoms.afterLeft[bottom], t.toFirst)
	sideways(t.tops.afterRight[top], t.bottoms.afterRight[bottom], t.toLast)
	columns := cells.transposed()
	if moved := columns.inRows(t.upwards); moved != columns {
		moved = moved.transposed()
		if top, bottom, belongs := t.halvesOf(moved); belongs {
			look(top, bottom)
		} else {
			best = max(best, t.valueOutside(moved, first, means))
		}
	}
	moved := columns.inRows(t.downwards)
	if moved == columns {
		return best
	}
	moved = moved.transposed()
	if len(t.locked) > 1 {
		moved = t.upsideDown(moved)
	}
	if top, bottom, belongs := t.halvesOf(moved); belongs {
		look(top, bottom)
	} else if len(t.locked) < 2 {
		best = max(best, t.valueOutside(moved, first, means))
	}
	return best
}

// valueOutside returns what a board after a move counts that does not belong to the stage as it lies there. first and means are of the layer.
func (t *stageTable) valueOutside(moved stageCells, first, means []uint32) (best uint32) {
	if moved.tilesFrom(t.maxExp) > 0 {
		return StageScale
	}
	images, number := t.imagesOf(moved)
	if len(t.locked) > 1 {
		number = 2
	}
	for _, image := range images[1:number] {
		if top, bottom, belongs := t.halvesOf(image); belongs {
			return means[first[top]+t.place[bottom]]
		}
	}
	if moved.tilesFrom(t.small) == len(t.locked) && !t.locksSmall {
		return 0
	}
	for _, next := range t.later {
		if next.continues {
			continue
		}
		for _, image := range images[:number] {
			if top, bottom, belongs := next.halvesOf(image); belongs {
				best = max(best, next.mean(top, bottom))
			}
		}
	}
	return best
}

// firstTiles returns the mean over the first two tiles.
func (t *stageTable) firstTiles() uint32 {
	total := uint64(0)
	for row := range t.rows {
		for col := range t.cols {
			for tile, weight := range []uint64{1: 9, 2: 1} {
				if top, bottom, belongs := t.halvesOf(stageCells(tile) << (16*row + 4*col)); belongs && tile > 0 {
					total += weight * uint64(t.mean(top, bottom))
				}
			}
		}
	}
	return uint32(total / uint64(10*t.rows*t.cols))
}
