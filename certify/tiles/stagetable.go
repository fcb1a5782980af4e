package tiles

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"tilecheck/internal/parallel"
)

// stageTable computes the values of the boards of one stage. A board is a top (rows 0 and 1) with a bottom (rows 2 and 3). A layer has the boards with
// the same sum of small tiles; all sums are halved.
//
// A value is used only in a mean over the new tiles after a move. So means are computed only of the boards whose occupied cells are possible after a
// move, and values only of these boards with a new tile.
type stageTable struct {
	*stageRules
	*stageLine
	maxExp     int          // exponent of the winning tile
	later      []laterStage // those of the next stages that a move can lead to
	sameLocked *stageTable  // the next stage, if it continues this one; otherwise nil
	continues  bool         // this stage has the same locked tiles in the same rows as the one before, and is entered from that one only
	locksSmall bool         // one of the next stages has fewer small tiles, so it can lock tiles that are small in this one
	countFrom  int          // the least exponent that is not small in this stage, or in one of the next ones
	tops       *stageHalves
	bottoms    *stageBottoms
	withTile   *boardSet // the boards after a move and a new tile
	// afterMoveOf and withTileOf are the patterns of each group of tops in the sets bottoms.afterMove and withTile.
	afterMoveOf, withTileOf []int32
	// imageOfCell is for a single locked tile, by its cell: the first image after the board itself that has it where the stage allows it; 0 if there is none.
	imageOfCell [16]int
	numLayers   int
	means       []stageLayer // by sum, of the boards after a move; only those that other stages use
	boards      uint64       // of all layers
}

// laterStage is a stage that a move can lead to. A board can belong to it only if its counts of tiles, masked with mask, are counts.
type laterStage struct {
	*stageTable
	counts, mask uint64
}

// stageLayer has a number for each board of a set with the same sum of small tiles.
type stageLayer struct {
	set    *boardSet
	groups []groupEntries // by group of tops
	values []uint32
}

// groupEntries says where a layer has the entries of the tops of a group. Each top has length entries, one after the other; the first one is at
// base+top*length, where top is the number of the top.
type groupEntries struct {
	base            int
	length, pattern int32
}

// newStageTable returns the table of a stage; compute computes its values. later has the tables of the next stages.
func newStageTable(rules *stageRules, line *stageLine, maxExp int, bottoms *stageBottoms, later []*stageTable) (*stageTable, error) {
	t := &stageTable{stageRules: rules, stageLine: line, maxExp: maxExp, bottoms: bottoms, countFrom: line.small}
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

// makeSets sets withTile, afterMoveOf and withTileOf.
func (t *stageTable) makeSets() {
	type cells struct{ occupied, locked uint8 }
	index := make(map[cells]int32)
	var patterns [][256]bool
	for _, group := range t.tops.groups {
		key := cells{group.occupied, group.locked}
		number, known := index[key]
		if !known {
			number = int32(len(patterns))
			index[key] = number
			patterns = append(patterns, withNewTile(t.afterMove, key.occupied, key.locked))
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
				if t.tops.placeOf(t.image(stageBoard(t.locked[0])<<(4*cell), number)).number >= 0 {
					t.imageOfCell[cell] = number
				}
			}
		}
	}
}

// countBoards sets numLayers and boards. The last layer is that of the greatest sum that the stage allows and its tiles can have.
func (t *stageTable) countBoards() error {
	topsOfSum := []uint64{0} // the columns may allow no tops
	for _, group := range t.tops.groups {
		for group.sum >= len(topsOfSum) {
			topsOfSum = append(topsOfSum, 0)
		}
		topsOfSum[group.sum] += uint64(group.end - group.first)
	}
	greatest := len(topsOfSum) + len(t.bottoms.groupsOfSum) - 3
	t.numLayers = min(t.maxSum/2, greatest) + 1
	for sum := range t.numLayers {
		size := uint64(0)
		for topSum, numTops := range topsOfSum[:min(sum+1, len(topsOfSum))] {
			if first, end := t.bottoms.withSum(sum - topSum); first < end {
				size += numTops * uint64(t.bottoms.groups[end-1].end-t.bottoms.groups[first].first)
			}
		}
		if size >= 1<<32 {
			return fmt.Errorf("%d boards have the same sum, want less than 2^32", size)
		}
		t.boards += size
	}
	return nil
}

// newLayer makes a layer for the boards of a set. patterns are those of the groups of tops. The layer has the memory of buffer if that is large enough;
// the caller must set all values.
func (t *stageTable) newLayer(set *boardSet, patterns []int32, sum int, buffer []uint32) stageLayer {
	layer := stageLayer{set: set, groups: make([]groupEntries, len(t.tops.groups))}
	size := 0
	for i, group := range t.tops.groups {
		length := set.length(patterns[i], sum-group.sum)
		layer.groups[i] = groupEntries{size - int(group.first)*int(length), length, patterns[i]}
		size += int(group.end-group.first) * int(length)
	}
	if size > cap(buffer) {
		buffer = make([]uint32, size)
	}
	layer.values = buffer[:size]
	return layer
}

// at returns the number of a board, which must be in the set.
func (l *stageLayer) at(top, bottom halfPlace) uint32 {
	return l.values[l.entries(top).index(bottom.group, bottom.number)]
}

// topEntries are the entries of a top in a layer, from start on.
type topEntries struct {
	start  int
	shifts []int32 // by group of bottoms: see boardSet
}

// index returns the index of the entry of a bottom in the values of the layer.
func (e topEntries) index(group, bottom int32) int {
	return e.start + int(e.shifts[group]) + int(bottom)
}

// entries returns the entries of a top.
func (l *stageLayer) entries(top halfPlace) topEntries {
	group := &l.groups[top.group]
	return topEntries{group.base + int(top.number)*int(group.length), l.set.shiftsOf(group.pattern)}
}

// mean returns the mean value over the new tiles on a board of the stage, rounded down. sum is half the sum of its small tiles.
func (t *stageTable) mean(top, bottom halfPlace, sum int) uint32 {
	if sum >= t.numLayers {
		return 0
	}
	return t.means[sum].at(top, bottom)
}

// placesOf returns the top and the bottom of a board that belongs to the stage.
func (t *stageTable) placesOf(b stageBoard) (top, bottom halfPlace, belongs bool) {
	if top = t.tops.placeOf(b); top.number < 0 {
		return top, top, false
	}
	bottom = t.bottoms.placeOf(b)
	return top, bottom, bottom.number >= 0
}

// stageBuffers is memory for layers that are not kept.
type stageBuffers struct {
	values [2][]uint32
	means  []uint32
}

// compute computes all layers, from the greatest sum to the least. It keeps the means of the sums up to keep. The error is that of ctx.
func (t *stageTable) compute(ctx context.Context, workers, keep int, buffers *stageBuffers) error {
	t.means = make([]stageLayer, t.numLayers)
	var next [2]*stageLayer // the values of the next two sums
	for sum := t.numLayers - 1; sum >= 0; sum-- {
		var buffer []uint32
		if sum > keep {
			buffer = buffers.means
		}
		means := t.newLayer(t.bottoms.afterMove, t.afterMoveOf, sum, buffer)
		if sum > keep {
			buffers.means = means.values
		}
		c := &layerComputation{stageTable: t, sum: sum, means: &means, withNewTile: next}
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
		next = [2]*stageLayer{&values, next[0]}
	}
	t.withTile, t.later, t.sameLocked = nil, nil, nil // frees their memory: earlier stages need means only
	return nil
}

// startValue returns the value of the game: the mean over the first two tiles. The table must be that of the first stage.
func (t *stageTable) startValue() uint32 {
	total := uint64(0)
	for row := range t.rows {
		for col := range t.cols {
			for exponent := 1; exponent <= 2; exponent++ {
				if top, bottom, belongs := t.placesOf(stageBoard(exponent) << (16*row + 4*col)); belongs {
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
	// withNewTile has the values of the boards with a new 2, and those with a new 4; nil above the greatest sum.
	withNewTile [2]*stageLayer
}

// meanScratch has what one worker needs to compute the means of a top, for a new 2 and for a new 4.
type meanScratch struct {
	sameTop [2]topEntries   // of the top itself: the new tile is in the bottom
	newTops [2][]topEntries // of the tops with the new tile
	totals  []uint64        // of the bottoms of a group: the weighted sum of the values over the new tiles
}

// computeMeans computes the means of the boards after a move.
func (c *layerComputation) computeMeans(ctx context.Context, workers int) error {
	scratch := make([]meanScratch, workers)
	return parallel.ForEach(ctx, workers, len(c.tops.groups), func(worker, group int) error {
		if c.means.groups[group].length > 0 {
			for top := c.tops.groups[group].first; top < c.tops.groups[group].end; top++ {
				c.meansOfTop(halfPlace{top, int32(group)}, &scratch[worker])
			}
		}
		return nil
	})
}

// meansOfTop computes the means of the boards after a move that have a top.
func (c *layerComputation) meansOfTop(top halfPlace, scratch *meanScratch) {
	emptyAbove := c.findNewTops(top, scratch)
	means := c.means.entries(top)
	first, end := c.bottoms.withSum(c.sum - c.tops.groups[top.group].sum)
	for group := first; group < end; group++ {
		if means.shifts[group] == notInSet {
			continue
		}
		weight := uint64(10 * max(1, emptyAbove+c.addValues(group, scratch)))
		values := c.means.values[means.index(group, c.bottoms.groups[group].first):]
		for j, total := range scratch.totals {
			values[j] = uint32(total / weight)
		}
	}
}

// findNewTops sets the entries of scratch, and returns the number of empty cells of a top.
func (c *layerComputation) findNewTops(top halfPlace, scratch *meanScratch) (empty int) {
	cells := c.tops.cells[top.number]
	for i, layer := range c.withNewTile {
		scratch.newTops[i] = scratch.newTops[i][:0]
		if layer != nil {
			scratch.sameTop[i] = layer.entries(top)
		}
	}
	for _, cell := range c.cellsOfHalf(0) {
		if cells>>(4*cell)&15 != 0 {
			continue
		}
		empty++
		for i, layer := range c.withNewTile {
			if layer != nil {
				newTop := c.tops.placeOf(cells | stageBoard(i+1)<<(4*cell))
				scratch.newTops[i] = append(scratch.newTops[i], layer.entries(newTop))
			}
		}
	}
	return empty
}

// addValues computes scratch.totals for the bottoms of a group: a new 2 has the weight 9, a new 4 the weight 1. It returns the number of empty cells of
// a bottom.
func (c *layerComputation) addValues(group int32, scratch *meanScratch) (empty int) {
	bottoms, g := c.bottoms, &c.bottoms.groups[group]
	indices := bottoms.indices[g.first:g.end]
	totals := append(scratch.totals[:0], make([]uint64, len(indices))...)
	scratch.totals = totals
	for _, cell := range bottoms.cellsOfBoard {
		empty += int(^g.occupied >> cell & 1)
	}
	for i, layer := range c.withNewTile {
		if layer == nil {
			break
		}
		for _, newTop := range scratch.newTops[i] {
			for j, value := range layer.values[newTop.index(group, g.first):][:len(totals)] {
				totals[j] += uint64(value)
			}
		}
		for _, cell := range bottoms.cellsOfBoard {
			if g.occupied>>cell&1 != 0 {
				continue
			}
			places := bottoms.places[bottoms.steps[cell]<<i:] // with the new tile, by the index of the bottom without it
			start := scratch.sameTop[i].index(places[indices[0]].group, 0)
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
	return empty
}

// chooseGreaterMeans replaces c.means by a copy with the means of the next stage where they are greater.
func (c *layerComputation) chooseGreaterMeans(ctx context.Context, workers int) error {
	means := *c.means
	means.values = slices.Clone(means.values)
	c.means = &means
	return parallel.ForEach(ctx, workers, len(c.tops.groups), func(_, group int) error {
		for top := c.tops.groups[group].first; top < c.tops.groups[group].end && means.groups[group].length > 0; top++ {
			entries := means.entries(halfPlace{top, int32(group)})
			first, end := c.bottoms.withSum(c.sum - c.tops.groups[group].sum)
			for bottomGroup := first; bottomGroup < end; bottomGroup++ {
				g := &c.bottoms.groups[bottomGroup]
				for bottom := g.first; bottom < g.end && entries.shifts[bottomGroup] != notInSet; bottom++ {
					board := c.tops.cells[top] | c.bottoms.cells[bottom]
					if nextTop, nextBottom, belongs := c.sameLocked.placesOf(board); belongs {
						mean := &means.values[entries.index(bottomGroup, bottom)]
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
		if values.groups[group].length > 0 {
			for top := c.tops.groups[group].first; top < c.tops.groups[group].end; top++ {
				c.valuesOfTop(halfPlace{top, int32(group)}, values)
			}
		}
		return nil
	})
}

// sidewaysMove is a move to the first or to the last column of all boards with the same top.
type sidewaysMove struct {
	table   []uint16
	top     halfPlace   // after the move
	entries topEntries  // the means of this top
	bottoms []halfPlace // after the move
}

// valuesOfTop computes the values of the boards of a top with a new tile.
func (c *layerComputation) valuesOfTop(top halfPlace, values *stageLayer) {
	cells := c.tops.cells[top.number]
	columns := cells.transposed()
	moves := [2]sidewaysMove{{table: c.toFirst, bottoms: c.bottoms.toFirst}, {table: c.toLast, bottoms: c.bottoms.toLast}}
	for i := range moves {
		m := &moves[i]
		if m.top = c.tops.placeOf(cells.mapRows(m.table)); m.top.number >= 0 {
			m.entries = c.means.entries(m.top)
		}
	}
	entries := values.entries(top)
	first, end := c.bottoms.withSum(c.sum - c.tops.groups[top.group].sum)
	for group := first; group < end; group++ {
		if entries.shifts[group] == notInSet {
			continue
		}
		for bottom := c.bottoms.groups[group].first; bottom < c.bottoms.groups[group].end; bottom++ {
			board, best := cells|c.bottoms.cells[bottom], uint32(0)
			for i := range moves {
				m := &moves[i]
				after := m.bottoms[bottom]
				switch {
				case m.top.number < 0 || after.number < 0:
					best = max(best, c.valueOutside(board.mapRows(m.table)))
				case m.top.number != top.number || after.number != bottom:
					best = max(best, c.means.values[m.entries.index(after.group, after.number)])
				}
			}
			values.values[entries.index(group, bottom)] = max(best, c.bestVertical(board, columns|c.bottoms.columns[bottom]))
		}
	}
}

// bestVertical returns the greater value of the moves up and down, 0 if neither is legal. columns is the board transposed. With several locked tiles, a
// move down counts only if it brings them to the last row: then the reflected board belongs to the stage.
func (c *layerComputation) bestVertical(board, columns stageBoard) (best uint32) {
	if moved := columns.mapColumns(c.upwards); moved != board {
		if top, bottom, belongs := c.placesOf(moved); belongs {
			best = c.means.at(top, bottom)
		} else {
			best = c.valueOutside(moved)
		}
	}
	moved := columns.mapColumns(c.downwards)
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

// valueOutside returns what a board after a move counts that does not belong to the stage; a symmetric image of it may.
func (c *layerComputation) valueOutside(moved stageBoard) (best uint32) {
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

// imageInStage returns the number of the first image after the board itself that can belong to the stage, and 0 if none can. large is 8 in each cell whose
// tile is not small: there are as many of them as locked tiles, and at least one, because a board with small tiles only belongs to a stage without locked
// tiles.
func (c *layerComputation) imageInStage(large stageBoard) int {
	if len(c.locked) == 1 {
		return c.imageOfCell[bits.TrailingZeros64(uint64(large))/4]
	}
	return 1
}

// valueInLater returns the greatest mean of the images of a board that belong to a later stage.
func (c *layerComputation) valueInLater(moved stageBoard, next *laterStage) (best uint32) {
	number := c.numImages()
	if len(c.locked) > 1 {
		number = 2 // the board and its reflection
	}
	for i := range number {
		if top, bottom, belongs := next.placesOf(c.image(moved, i)); belongs {
			best = max(best, next.mean(top, bottom, c.sum+c.lockedSum()-next.lockedSum()))
		}
	}
	return best
}
