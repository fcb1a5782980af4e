package tiles

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"tilecheck/internal/parallel"
)

// stageTable computes the values of the boards of one stage. They are in layers of equal sums of small tiles, all sums halved.
//
// A value is used only in the mean over a new tile after a move. So means are computed only of boards in which the tiles can lie after a move, by
// their occupied cells, and values of boards that one of these is with a new tile.
type stageTable struct {
	*stageBoard
	*stageLine
	maxExp int
	later  []laterStage
	// sameLocked is the next stage, if it has the same locked tiles in the same rows; otherwise nil.
	sameLocked *stageTable
	continues  bool // whether the stage before this one has the same locked tiles in the same rows: then it is entered from that one only
	// locksSmall is whether a later stage can have a locked tile that is small in this one. countFrom is the least exponent of a locked tile of a later stage,
	// or of this one.
	locksSmall bool
	countFrom  int
	tops       *stageHalves
	bottoms    *stageBottoms
	withTile   *boardSet
	// afterMoveOf and withTileOf are the patterns of each group of tops in the sets bottoms.afterMove and withTile.
	afterMoveOf, withTileOf []int32
	// imageOfCell is the first image after the board itself that has a tile of this cell where a single locked tile can be; 0 if there is none.
	imageOfCell [16]int
	numLayers   int
	means       []stageLayer // of the boards after a move; empty if no other stage uses them
	boards      uint64       // of all layers
}

// laterStage is a stage whose values a board after a move can have. Its tiles from the exponent small on, which mask selects in the counts of tiles, are
// the locked ones of the stage.
type laterStage struct {
	*stageTable
	counts, mask uint64
}

// stageLayer has numbers of the boards of a set that have the same sum.
type stageLayer struct {
	set    *boardSet
	rows   []layerRow // for each group of tops
	values []uint32
}

// layerRow says where the row of each top of a group is: at base+top*length.
type layerRow struct {
	base            int
	length, pattern int32
}

func newStageTable(rules *stageBoard, line *stageLine, maxExp int, bottoms *stageBottoms, later []*stageTable) (*stageTable, error) {
	t := &stageTable{stageBoard: rules, stageLine: line, maxExp: maxExp, bottoms: bottoms, countFrom: line.small}
	if len(later) > 0 && later[0].continues {
		t.sameLocked = later[0]
	}
	for _, next := range later {
		t.locksSmall = t.locksSmall || next.small < line.small
		t.countFrom = min(t.countFrom, next.small)
		if next.continues {
			continue
		}
		counts := uint64(0)
		for _, exponent := range next.locked {
			counts += 1 << (4 * exponent)
		}
		t.later = append(t.later, laterStage{next, counts, ^uint64(0) << (4 * next.small)})
	}
	t.tops = newStageHalves(line.small, 0, rowsOfStage(rules.cols, line.small, line.locked[:line.upper], line.columns),
		rowsOfStage(rules.cols, line.small, line.locked[line.upper:], nil))
	t.makeSets()
	if len(line.locked) == 1 {
		t.findImages()
	}
	return t, t.countBoards()
}

// makeSets makes the set withTile, and the patterns of the groups of tops.
func (t *stageTable) makeSets() {
	afterMove := t.occupiedAfterMove()
	type cells struct{ occupied, locked uint8 }
	index := make(map[cells]int32)
	var patterns [][256]bool
	for _, group := range t.tops.groups {
		key := cells{group.occupied, group.locked}
		number, known := index[key]
		if !known {
			number = int32(len(patterns))
			index[key] = number
			patterns = append(patterns, withNewTile(afterMove, key.occupied, key.locked))
		}
		t.afterMoveOf, t.withTileOf = append(t.afterMoveOf, int32(group.occupied)), append(t.withTileOf, number)
	}
	t.withTile = newBoardSet(t.bottoms, patterns)
}

// findImages sets imageOfCell. The stage has one locked tile.
func (t *stageTable) findImages() {
	for row := range t.rows {
		for col := range t.cols {
			cell := 4*row + col
			for number := t.numImages() - 1; number > 0; number-- {
				if t.tops.of(t.image(stageCells(t.locked[0])<<(4*cell), number)).number >= 0 {
					t.imageOfCell[cell] = number
				}
			}
		}
	}
}

// countBoards counts the boards of each sum, which has a layer. It leaves out sums that no board has.
func (t *stageTable) countBoards() error {
	topsOfSum, greatest := []uint64{0}, 0 // the list of columns may allow no tops
	for _, group := range t.tops.groups {
		for group.sum >= len(topsOfSum) {
			topsOfSum = append(topsOfSum, 0)
		}
		topsOfSum[group.sum] += uint64(group.end - group.first)
	}
	greatest = len(topsOfSum) + len(t.bottoms.groupsOfSum) - 3
	t.numLayers = min(t.sum/2, greatest) + 1
	for sum := range t.numLayers {
		size := uint64(0)
		for topSum, numTops := range topsOfSum[:min(sum+1, len(topsOfSum))] {
			if first, end := t.bottoms.withSum(sum - topSum); first < end {
				size += numTops * uint64(t.bottoms.groups[end-1].end-t.bottoms.groups[first].first)
			}
		}
		if size >= 1<<32 {
			return errors.New("more than 2^32 boards have the same sum")
		}
		t.boards += size
	}
	return nil
}

// newLayer makes the layer of a sum, in the memory of a buffer if that is large enough.
func (t *stageTable) newLayer(set *boardSet, patterns []int32, sum int, buffer []uint32) stageLayer {
	layer := stageLayer{set: set, rows: make([]layerRow, len(t.tops.groups))}
	size := 0
	for i, group := range t.tops.groups {
		length := set.length(patterns[i], sum-group.sum)
		layer.rows[i] = layerRow{size - int(group.first)*int(length), length, patterns[i]}
		size += int(group.end-group.first) * int(length)
	}
	if size > cap(buffer) {
		buffer = make([]uint32, size)
	}
	layer.values = buffer[:size]
	return layer
}

// at returns the number of a board.
func (l *stageLayer) at(top, bottom halfPlace) uint32 {
	return l.values[l.start(top)+int(l.set.ofPattern(l.rows[top.group].pattern)[bottom.group])+int(bottom.number)]
}

// start returns where the row of a top begins.
func (l *stageLayer) start(top halfPlace) int {
	row := &l.rows[top.group]
	return row.base + int(top.number)*int(row.length)
}

// mean returns the mean value over the new tiles on a board of the stage, rounded down. The sum of its small tiles is halved.
func (t *stageTable) mean(top, bottom halfPlace, sum int) uint32 {
	if sum >= t.numLayers {
		return 0
	}
	return t.means[sum].at(top, bottom)
}

// placesOf returns the top and the bottom of a board that belongs to the stage.
func (t *stageTable) placesOf(b stageCells) (top, bottom halfPlace, belongs bool) {
	if top = t.tops.of(b); top.number < 0 {
		return top, top, false
	}
	bottom = t.bottoms.of(b)
	return top, bottom, bottom.number >= 0
}

// stageBuffers is memory for layers that only the computation of a stage uses.
type stageBuffers struct {
	values [2][]uint32
	means  []uint32
}

// compute computes all layers, from the greatest sum to the least. It keeps the means of those up to keep.
func (t *stageTable) compute(ctx context.Context, workers, keep int, buffers *stageBuffers) error {
	t.means = make([]stageLayer, t.numLayers)
	var withTwo, withFour *stageLayer // those of the next two sums
	for sum := t.numLayers - 1; sum >= 0; sum-- {
		var buffer []uint32
		if sum > keep {
			buffer = buffers.means
		}
		means := t.newLayer(t.bottoms.afterMove, t.afterMoveOf, sum, buffer)
		if sum > keep {
			buffers.means = means.values
		}
		c := &layerComputation{stageTable: t, sum: sum, means: &means, withTwo: withTwo, withFour: withFour}
		if err := c.computeMeans(ctx, workers); err != nil {
			return err
		}
		if sum <= keep {
			t.means[sum] = means
		}
		if t.sameLocked != nil {
			if err := c.chooseGreaterMeans(ctx, workers); err != nil {
				return err
			}
		}
		values := t.newLayer(t.withTile, t.withTileOf, sum, buffers.values[sum%2])
		buffers.values[sum%2] = values.values
		if err := c.computeValues(ctx, workers, &values); err != nil {
			return err
		}
		withTwo, withFour = &values, withTwo
	}
	t.withTile, t.later, t.sameLocked = nil, nil, nil // they would stay in memory
	return nil
}

// firstTiles returns the mean over the first two tiles.
func (t *stageTable) firstTiles() uint32 {
	total := uint64(0)
	for row := range t.rows {
		for col := range t.cols {
			for exponent := 1; exponent <= 2; exponent++ {
				if top, bottom, belongs := t.placesOf(stageCells(exponent) << (16*row + 4*col)); belongs {
					total += []uint64{1: 9, 2: 1}[exponent] * uint64(t.mean(top, bottom, exponent))
				}
			}
		}
	}
	return uint32(total / uint64(10*t.rows*t.cols))
}

// layerComputation computes the layers of one sum.
type layerComputation struct {
	*stageTable
	sum   int
	means *stageLayer
	// withTwo and withFour have the values of the boards with a new 2 and with a new 4; nil above the greatest sum.
	withTwo, withFour *stageLayer
}

// boardRow is the row of a top in a layer: the board with a bottom is at start+shifts[group]+number.
type boardRow struct {
	start  int
	shifts []int32
}

// row returns the row of a top.
func (l *stageLayer) row(top halfPlace) boardRow {
	row := &l.rows[top.group]
	return boardRow{row.base + int(top.number)*int(row.length), l.set.ofPattern(row.pattern)}
}

// meanScratch is memory of one worker.
type meanScratch struct {
	totals  []uint64
	withTop [2][]boardRow
}

// computeMeans computes the means of the boards after a move.
func (c *layerComputation) computeMeans(ctx context.Context, workers int) error {
	scratch := make([]meanScratch, workers)
	return parallel.ForEach(ctx, workers, len(c.tops.groups), func(worker, group int) error {
		if c.means.rows[group].length > 0 {
			for top := c.tops.groups[group].first; top < c.tops.groups[group].end; top++ {
				c.meansOfTop(halfPlace{top, int32(group)}, &scratch[worker])
			}
		}
		return nil
	})
}

// meansOfTop computes the means of the boards after a move with a top.
func (c *layerComputation) meansOfTop(top halfPlace, scratch *meanScratch) {
	cells := c.tops.cells[top.number]
	emptyAbove := 0
	layers := [2]*stageLayer{c.withTwo, c.withFour}
	var same [2]boardRow // the rows of the top without a new tile
	for i, layer := range layers {
		scratch.withTop[i] = scratch.withTop[i][:0]
		if layer == nil {
			continue
		}
		same[i] = layer.row(top)
	}
	for _, cell := range c.cellsOfHalf(0) {
		if cells>>(4*cell)&15 != 0 {
			continue
		}
		emptyAbove++
		for i, layer := range layers {
			if layer != nil {
				scratch.withTop[i] = append(scratch.withTop[i], layer.row(c.tops.of(cells|stageCells(i+1)<<(4*cell))))
			}
		}
	}
	bottoms := c.bottoms
	means := c.means.row(top)
	first, end := bottoms.withSum(c.sum - c.tops.groups[top.group].sum)
	for group := first; group < end; group++ {
		if means.shifts[group] == notInSet {
			continue
		}
		g := &bottoms.groups[group]
		indices := bottoms.indices[g.first:g.end]
		totals := append(scratch.totals[:0], make([]uint64, len(indices))...)
		scratch.totals = totals
		empty := emptyAbove
		for _, cell := range bottoms.cellsOfBoard {
			empty += int(^g.occupied >> cell & 1)
		}
		for i, layer := range layers {
			if layer == nil {
				break
			}
			for _, row := range scratch.withTop[i] {
				for j, value := range layer.values[row.start+int(row.shifts[group])+int(g.first):][:len(totals)] {
					totals[j] += uint64(value)
				}
			}
			for _, cell := range bottoms.cellsOfBoard {
				if g.occupied>>cell&1 != 0 {
					continue
				}
				places := bottoms.places[bottoms.steps[cell]<<i:]
				start := same[i].start + int(same[i].shifts[places[indices[0]].group])
				for j, index := range indices {
					totals[j] += uint64(layer.values[start+int(places[index].number)])
				}
			}
			if i == 0 {
				for j := range totals {
					totals[j] *= 9
				}
			}
		}
		weight := uint64(10 * max(1, empty))
		for j, value := range totals {
			c.means.values[means.start+int(means.shifts[group])+int(g.first)+j] = uint32(value / weight)
		}
	}
}

// chooseGreaterMeans replaces c.means by a copy that has the means of the next stage where they are greater.
func (c *layerComputation) chooseGreaterMeans(ctx context.Context, workers int) error {
	means := *c.means
	means.values = slices.Clone(means.values)
	c.means = &means
	return parallel.ForEach(ctx, workers, len(c.tops.groups), func(_, group int) error {
		for top := c.tops.groups[group].first; top < c.tops.groups[group].end && means.rows[group].length > 0; top++ {
			row := means.row(halfPlace{top, int32(group)})
			first, end := c.bottoms.withSum(c.sum - c.tops.groups[group].sum)
			for number, g := range c.bottoms.groups[first:end] {
				for bottom := g.first; bottom < g.end && row.shifts[int(first)+number] != notInSet; bottom++ {
					board := c.tops.cells[top] | c.bottoms.cells[bottom]
					if nextTop, nextBottom, belongs := c.sameLocked.placesOf(board); belongs {
						mean := &means.values[row.start+int(row.shifts[int(first)+number])+int(bottom)]
						*mean = max(*mean, c.sameLocked.mean(nextTop, nextBottom, board.smallSum(c.sameLocked.small)))
					}
				}
			}
		}
		return nil
	})
}

// computeValues computes the values of the boards with a new tile.
func (c *layerComputation) computeValues(ctx context.Context, workers int, values *stageLayer) error {
	return parallel.ForEach(ctx, workers, len(c.tops.groups), func(_, group int) error {
		if values.rows[group].length > 0 {
			for top := c.tops.groups[group].first; top < c.tops.groups[group].end; top++ {
				c.valuesOfTop(halfPlace{top, int32(group)}, values)
			}
		}
		return nil
	})
}

// sidewaysMove is a move to the first or to the last column of all boards with a top.
type sidewaysMove struct {
	table   []uint16
	top     halfPlace   // after the move
	row     boardRow    // of this top
	bottoms []halfPlace // after the move
}

// valuesOfTop computes the values of the boards with a new tile and with a top.
func (c *layerComputation) valuesOfTop(top halfPlace, values *stageLayer) {
	cells := c.tops.cells[top.number]
	columns := cells.transposed()
	moves := [2]sidewaysMove{{table: c.toFirst, bottoms: c.bottoms.toFirst}, {table: c.toLast, bottoms: c.bottoms.toLast}}
	for i := range moves {
		m := &moves[i]
		if m.top = c.tops.of(cells.inRows(m.table)); m.top.number >= 0 {
			m.row = c.means.row(m.top)
		}
	}
	row := values.row(top)
	first, end := c.bottoms.withSum(c.sum - c.tops.groups[top.group].sum)
	for group := first; group < end; group++ {
		shift := row.shifts[group]
		if shift == notInSet {
			continue
		}
		for bottom := c.bottoms.groups[group].first; bottom < c.bottoms.groups[group].end; bottom++ {
			board, best := cells|c.bottoms.cells[bottom], uint32(0)
			for i := range moves {
				m := &moves[i]
				after := m.bottoms[bottom]
				switch {
				case m.top.number < 0 || after.number < 0:
					best = max(best, c.valueOutside(board.inRows(m.table)))
				case m.top.number != top.number || after.number != bottom:
					best = max(best, c.means.values[m.row.start+int(m.row.shifts[after.group])+int(after.number)])
				}
			}
			values.values[row.start+int(shift)+int(bottom)] = max(best, c.bestVertical(board, columns|c.bottoms.columns[bottom]))
		}
	}
}

// bestVertical returns the greater value after a move up or down. columns is the board transposed.
func (c *layerComputation) bestVertical(board, columns stageCells) (best uint32) {
	if moved := columns.inColumns(c.upwards); moved != board {
		if top, bottom, belongs := c.placesOf(moved); belongs {
			best = c.means.at(top, bottom)
		} else {
			best = c.valueOutside(moved)
		}
	}
	moved := columns.inColumns(c.downwards)
	if moved == board {
		return best
	}
	if len(c.locked) > 1 {
		moved = c.upsideDown(moved)
	}
	if top, bottom, belongs := c.placesOf(moved); belongs {
		best = max(best, c.means.at(top, bottom))
	} else if len(c.locked) < 2 {
		best = max(best, c.valueOutside(moved))
	}
	return best
}

// valueOutside returns the value of a board after a move that does not belong to the stage itself; a symmetric image of it may.
func (c *layerComputation) valueOutside(moved stageCells) (best uint32) {
	if moved.tilesFrom(c.maxExp) > 0 {
		return StageScale
	}
	if large := moved.cellsFrom(c.small); bits.OnesCount64(uint64(large)) == len(c.locked) {
		if number := c.imageInStage(large); number > 0 {
			if top, bottom, belongs := c.placesOf(c.image(moved, number)); belongs {
				return c.means.at(top, bottom)
			}
		}
		if !c.locksSmall {
			return 0
		}
	}
	counts := moved.tileCounts(c.countFrom)
	for i := range c.later {
		if next := &c.later[i]; counts&next.mask == next.counts {
			best = max(best, c.valueInLater(moved, next))
		}
	}
	return best
}

// imageInStage returns the first image after the board itself that can belong to the stage, by the cells of its tiles from small on.
func (c *layerComputation) imageInStage(large stageCells) int {
	switch len(c.locked) {
	case 0: // the images of a board without such tiles are like the board
		return 0
	case 1:
		return c.imageOfCell[bits.TrailingZeros64(uint64(large))/4]
	}
	return 1
}

// valueInLater returns the greatest mean of the images of a board that belong to a later stage.
func (c *layerComputation) valueInLater(moved stageCells, next *laterStage) (best uint32) {
	number := 2
	if len(c.locked) < 2 {
		number = c.numImages()
	}
	for i := range number {
		if top, bottom, belongs := next.placesOf(c.image(moved, i)); belongs {
			best = max(best, next.mean(top, bottom, c.sum+c.lockedSum()-next.lockedSum()))
		}
	}
	return best
}
