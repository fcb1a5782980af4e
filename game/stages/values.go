package stages

import (
	"context"
	"slices"

	"tilecheck/game"
	"tilecheck/internal/parallel"
)

// Scale is the number of a probability of 1.
const Scale = 1 << 31

// stageValues has the boards of a stage and lower bounds of the probability to win from them, in units of 1/Scale.
type stageValues struct {
	*layout
	// values has the values of the boards of each layer, by number. Only the layer that is computed and the next two are in memory.
	values [][]uint32
	// kept has, for the layers that moves of other stages lead to, the mean value over the new tiles of each board after a move, by number.
	kept []sparse
}

// layerValues has the values of a layer, by number, and the starts of its upper halves. Both are nil for a layer above the greatest sum: all values are 0.
type layerValues struct {
	values, starts []uint32
}

func (s *stageValues) layerValues(layer int) layerValues {
	if layer >= len(s.values) {
		return layerValues{}
	}
	return layerValues{s.values[layer], s.starts[layer]}
}

// mean returns the mean value over the new tiles on a board after a move of another stage.
func (s *stageValues) mean(upper, lower int32, layer int) uint32 {
	if layer >= len(s.kept) {
		return 0
	}
	return s.kept[layer].at(s.number(layer, upper, lower))
}

// meanOf computes the mean value over the new tiles on a board, rounded down. It is 0 if no cell is empty. twos and fours are the layers of the boards
// with a new 2 and with a new 4.
func (s *stageValues) meanOf(upper, lower int32, twos, fours *layerValues) uint32 {
	above, below := s.upper.spawned[upper], s.lower.spawned[lower]
	if len(above)+len(below) == 0 {
		return 0
	}
	sum := uint64(0)
	if twos.values != nil {
		for i := 0; i < len(above); i += 2 {
			sum += uint64(twos.values[twos.starts[above[i]]+uint32(lower)])
		}
		start := twos.starts[upper]
		for i := 0; i < len(below); i += 2 {
			sum += uint64(twos.values[start+uint32(below[i])])
		}
		sum *= game.FourOdds - 1
	}
	if fours.values != nil {
		for i := 1; i < len(above); i += 2 {
			sum += uint64(fours.values[fours.starts[above[i]]+uint32(lower)])
		}
		start := fours.starts[upper]
		for i := 1; i < len(below); i += 2 {
			sum += uint64(fours.values[start+uint32(below[i])])
		}
	}
	return uint32(sum / uint64(game.FourOdds*(len(above)+len(below))/2))
}

// lookAhead is the number of next stages to which a move can lead.
const lookAhead = 16

// solver computes the values of the stages of a plan.
type solver struct {
	*Plan
	*moves
	ctx     context.Context
	workers int
	stages  []*stageValues  // nil before they are computed, and when no stage needs them any more
	lowers  map[int]*halves // by the exponent below which tiles are small
	buffers *buffers
}

// solve computes the values of a stage from those of the later ones. It keeps the means of the layers up to keep for earlier stages. The error is that of ctx.
func (s *solver) solve(stage, keep int) error {
	description := &s.Plan.Stages[stage]
	lower := s.lowers[description.Small]
	if lower == nil {
		lower = newLowerHalves(s.moves, description.Small)
		s.lowers[description.Small] = lower
	}
	current := &stageValues{layout: newLayout(description, s.moves, lower), kept: make([]sparse, keep+1)}
	current.values = make([][]uint32, len(current.starts))
	s.stages[stage] = current
	pass := s.newPass(stage)
	for layer := len(current.starts) - 1; layer >= 0; layer-- {
		current.numberLayer(layer)
		if err := pass.solveLayer(layer); err != nil {
			return err
		}
		if unused := layer + 2; unused < len(current.starts) {
			current.freeValues(unused, s.buffers)
		}
	}
	for layer := range min(2, len(current.starts)) {
		current.freeValues(layer, s.buffers)
	}
	s.buffers.put(pass.means)
	return nil
}

// freeValues returns the values of a layer to the buffers. The starts remain if means of the layer are kept.
func (s *stageValues) freeValues(layer int, buffers *buffers) {
	buffers.put(s.values[layer])
	s.values[layer] = nil
	if layer >= len(s.kept) {
		s.starts[layer] = nil
	}
}

// buffers has arrays that can be used again.
type buffers struct{ unused [][]uint32 }

// maxUnused is the greatest number of unused arrays: as many as the layers that a stage computes with.
const maxUnused = 4

// put adds an array, which may be nil. It may drop the smallest one.
func (b *buffers) put(array []uint32) {
	if array == nil {
		return
	}
	b.unused = append(b.unused, array)
	if len(b.unused) > maxUnused {
		smallest := 0
		for i := range b.unused {
			if cap(b.unused[i]) < cap(b.unused[smallest]) {
				smallest = i
			}
		}
		b.unused = slices.Delete(b.unused, smallest, smallest+1)
	}
}

// get returns an array of zeros.
func (b *buffers) get(length uint32) []uint32 {
	best := -1 // the smallest array that is large enough
	for i := range b.unused {
		if size := cap(b.unused[i]); size >= int(length) && (best < 0 || size < cap(b.unused[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]uint32, length)
	}
	array := b.unused[best][:length]
	b.unused = slices.Delete(b.unused, best, best+1)
	clear(array)
	return array
}

// stagePass computes the layers of a stage, one after the other.
type stagePass struct {
	*solver
	*stageValues
	later      []*stageValues // the stages with other locked tiles to which a move can lead
	sameLocked *stageValues   // the next stage, if it has the same locked tiles in the same rows; otherwise nil
	locksSmall bool           // one of the next stages can lock tiles that are small in this one
	symmetric  bool           // the mirror image of a board of the stage can belong to the stage
	afterMove  packing        // a board after a move of this stage, or of one that leads to it, has one of these bits
	layer      int            // the layer that is being computed
	means      []uint32       // of the boards of the layer after a move, the mean value over the new tiles; 0 for the other boards
}

func (s *solver) newPass(stage int) *stagePass {
	pass := &stagePass{solver: s, stageValues: s.stages[stage]}
	for later := stage + 1; later < min(stage+1+lookAhead, len(s.stages)); later++ {
		next := &s.Plan.Stages[later]
		pass.locksSmall = pass.locksSmall || next.Small < pass.Small
		switch {
		case later == stage+1 && next.sameLocked(pass.Stage):
			pass.sameLocked = s.stages[later]
		case s.leads(stage, later):
			pass.later = append(pass.later, s.stages[later])
		}
	}
	pass.symmetric = palindrome(pass.Locked[:pass.Upper]) && palindrome(pass.Locked[pass.Upper:])
	pass.afterMove = packedToFirst | packedToLast | packedToFirst<<columnShift
	for _, earlier := range s.Plan.Stages[max(0, stage-lookAhead) : stage+1] {
		if len(earlier.Locked) < 2 {
			pass.afterMove |= packedToLast << columnShift // with more, the board is reflected after a move down
		}
	}
	return pass
}

// palindrome reports whether a list equals its reverse.
func palindrome(list []int) bool {
	for i, element := range list {
		if element != list[len(list)-1-i] {
			return false
		}
	}
	return true
}

// solveLayer computes the values of a layer from those of the next two: first the means of the boards after a move, then the best move of each board.
func (p *stagePass) solveLayer(layer int) (err error) {
	size := p.starts[layer][len(p.upper.rows)]
	p.buffers.put(p.means)
	p.layer, p.means = layer, p.buffers.get(size)
	if err := p.forUpperHalves(p.computeMeans); err != nil {
		return err
	}
	if layer < len(p.kept) {
		if p.kept[layer], err = newSparse(p.ctx, p.workers, p.means); err != nil {
			return context.Cause(p.ctx)
		}
	}
	if p.sameLocked != nil {
		if err := p.forUpperHalves(p.chooseGreaterMeans); err != nil {
			return err
		}
	}
	p.values[layer] = p.buffers.get(size)
	return p.forUpperHalves(p.computeValues)
}

// forUpperHalves calls work for each upper half, from several goroutines. The error is that of ctx.
func (p *stagePass) forUpperHalves(work func(upper int)) error {
	err := parallel.ForEach(p.ctx, p.workers, len(p.upper.rows), func(_, upper int) error {
		work(upper)
		return nil
	})
	if err != nil {
		return context.Cause(p.ctx)
	}
	return nil
}

// computeMeans computes the means of the boards of an upper half that can lie after a move, or have the first tile only.
func (p *stagePass) computeMeans(upperHalf int) {
	upper := int32(upperHalf)
	start, twos, fours := p.starts[p.layer][upper], p.layerValues(p.layer+1), p.layerValues(p.layer+2)
	cells := p.cellsOf(upper)
	all := len(p.Locked) == 0 && p.layer <= halfValue(2)
	for _, group := range p.lowerHalves(p.layer, upperHalf) {
		if !all && cells.packing(&group, p.moves)&p.afterMove == 0 {
			continue
		}
		for lower := group.first; lower < group.end; lower++ {
			p.means[start+uint32(lower)] = p.meanOf(upper, lower, &twos, &fours)
		}
	}
}

// chooseGreaterMeans replaces the means of the boards of an upper half by those of sameLocked, where they are greater.
func (p *stagePass) chooseGreaterMeans(upperHalf int) {
	upper := int32(upperHalf)
	start, cells := p.starts[p.layer][upper], p.cellsOf(upper)
	for _, group := range p.lowerHalves(p.layer, upperHalf) {
		if cells.packing(&group, p.moves)&p.afterMove == 0 {
			continue
		}
		for lower := group.first; lower < group.end; lower++ {
			nextUpper, nextLower, layer, ok := p.sameLocked.find(p.upper.board(upper) | p.lower.board(lower))
			if ok {
				mean := &p.means[start+uint32(lower)]
				*mean = max(*mean, p.sameLocked.mean(nextUpper, nextLower, layer))
			}
		}
	}
}

// computeValues computes the values of the boards of an upper half that can lie after a move and a new tile, or after the first two tiles. The values of
// other boards are not used.
func (p *stagePass) computeValues(upperHalf int) {
	upper := int32(upperHalf)
	start, values := p.starts[p.layer][upper], p.values[p.layer]
	cells, columns := p.cellsOf(upper), p.upper.columns[upper]
	all := len(p.Locked) == 0 && p.layer <= 2*halfValue(2)
	for _, group := range p.lowerHalves(p.layer, upperHalf) {
		if !all && cells.packing(&group, p.moves)&(p.afterMove<<newTileShift) == 0 {
			continue
		}
		for lower := group.first; lower < group.end; lower++ {
			values[start+uint32(lower)] = p.bestMove(upper, lower, columns|p.lower.columns[lower])
		}
	}
}

// upperCells has the occupied cells of an upper half, in the form of halfGroup.
type upperCells struct {
	rows    packing
	columns grid
}

func (p *stagePass) cellsOf(upper int32) upperCells {
	columns := p.upper.columns[upper].occupied()
	return upperCells{p.moves.packingOfRows(columns.transpose()), columns}
}

// packing returns the packing of the boards of an upper half with the lower halves of a group.
func (c upperCells) packing(lower *halfGroup, m *moves) packing {
	return c.rows.and(lower.rows) | m.packingOfColumns(c.columns|lower.columns)<<columnShift
}

// bestMove returns the value of the best move. columns is the transposed board.
func (p *stagePass) bestMove(upper, lower int32, columns grid) uint32 {
	return max(
		p.sideways(upper, lower, p.upper.left[upper], p.lower.left[lower], p.toLeft),
		p.sideways(upper, lower, p.upper.right[upper], p.lower.right[lower], p.toRight),
		p.vertical(columns, p.toTop, false),
		p.vertical(columns, p.toBottom, len(p.Locked) > 1))
}

// sideways returns the value of a move to the left or right, or 0 if it is not legal. movedUpper and movedLower are the halves after the move, and table is
// that of the move.
func (p *stagePass) sideways(upper, lower, movedUpper, movedLower int32, table *rowTable) uint32 {
	switch {
	case movedUpper == upper && movedLower == lower:
		return 0
	case movedUpper >= 0 && movedLower >= 0:
		return p.means[p.number(p.layer, movedUpper, movedLower)]
	}
	return p.afterLeaving(table.mapRows(p.upper.board(upper) | p.lower.board(lower)))
}

// vertical returns the value of a move up or down, or 0 if it is not legal. columns is the transposed board, and table is that of the move. A move down with
// several locked tiles must bring them to the last row: then isReflected is true, and the reflected board belongs to the stage. If such a move wins, so does
// the move up.
func (p *stagePass) vertical(columns grid, table *rowTable, isReflected bool) uint32 {
	moved := table.mapRows(columns)
	if moved == columns {
		return 0
	}
	moved = moved.transpose()
	if isReflected {
		moved = p.flip(moved)
	}
	if upper, lower, _, ok := p.find(moved); ok {
		return p.means[p.number(p.layer, upper, lower)]
	}
	if isReflected {
		return 0
	}
	return p.afterLeaving(moved)
}

// afterLeaving returns the value of a board after a move that does not belong to the stage: the game is won, or an image of the board belongs to the stage,
// or the board or an image belongs to a later stage.
func (p *stagePass) afterLeaving(moved grid) (value uint32) {
	if moved.tilesFrom(p.Max) > 0 {
		return Scale
	}
	large := moved.tilesFrom(p.Small)
	if large == len(p.Locked) && !p.symmetric && !p.locksSmall {
		return 0
	}
	images, number := p.images(moved, len(p.Locked) > 1) // locked tiles in a row determine all but the reflection
	for _, image := range images[1:number] {
		if upper, lower, _, ok := p.find(image); ok {
			return p.means[p.number(p.layer, upper, lower)]
		}
	}
	if large == len(p.Locked) && !p.locksSmall {
		return 0 // no locked tile was made or merged
	}
	for _, next := range p.later {
		for _, image := range images[:number] {
			if upper, lower, layer, ok := next.find(image); ok {
				value = max(value, next.mean(upper, lower, layer))
			}
		}
	}
	return value
}
