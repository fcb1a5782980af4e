package stages

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"tilecheck/game"
)

// Scale is the number of a probability of 1.
const Scale = 1 << 31

// stageValues has the boards of a stage and lower bounds of the probability to win from them, in units of 1/Scale.
type stageValues struct {
	*layout
	// values has the values of the boards of each layer, by number. Only the layers that are still needed are there.
	values [][]uint32
}

// value returns the value of a board of the stage. It is 0 above the greatest sum.
func (s *stageValues) value(upper, lower int32, layer int) uint32 {
	if layer >= len(s.values) || s.values[layer] == nil {
		return 0
	}
	return s.values[layer][s.number(layer, upper, lower)]
}

// mean returns the mean value of the boards with a new tile on the board with the given halves, rounded down. It is 0 if no cell is empty.
func (s *stageValues) mean(upper, lower int32, layer int) uint32 {
	sum, cells := uint64(0), uint64(0)
	spawned := s.upper.spawned[upper]
	for i := 0; i < len(spawned); i += 2 {
		sum += (game.FourOdds-1)*uint64(s.value(spawned[i], lower, layer+1)) + uint64(s.value(spawned[i+1], lower, layer+2))
		cells++
	}
	spawned = s.lower.spawned[lower]
	for i := 0; i < len(spawned); i += 2 {
		sum += (game.FourOdds-1)*uint64(s.value(upper, spawned[i], layer+1)) + uint64(s.value(upper, spawned[i+1], layer+2))
		cells++
	}
	return uint32(sum / max(1, game.FourOdds*cells))
}

// lookAhead is how many stages ahead the stages lie to which a single move can lead.
const lookAhead = 16

// solver computes the values of the stages of a plan.
type solver struct {
	*Plan
	*moves
	ctx     context.Context
	workers int
	stages  []*stageValues        // nil before they are computed, and when no stage needs them any more
	lowers  map[int]*rankedHalves // by the exponent below which tiles are small
}

// solve computes the values of a stage from those of the later ones. It keeps the layers up to keep for earlier stages.
func (s *solver) solve(stage, keep int) error {
	description := &s.Plan.Stages[stage]
	lower := s.lowers[description.Small]
	if lower == nil {
		lower = newRankedHalves(s.moves, description.Small)
		s.lowers[description.Small] = lower
	}
	current := &stageValues{layout: newLayout(description, s.moves, lower)}
	current.values = make([][]uint32, len(current.starts))
	s.stages[stage] = current
	for layer := len(current.starts) - 1; layer >= 0; layer-- {
		current.use(layer)
		if err := s.solveLayer(stage, layer); err != nil {
			return err
		}
		if used := layer + 2; used < len(current.starts) && used > keep {
			current.values[used], current.starts[used] = nil, nil
		}
	}
	for layer := keep + 1; layer < len(current.starts); layer++ {
		current.values[layer], current.starts[layer] = nil, nil
	}
	return nil
}

// solveLayer computes the values of a layer from those of the next two: first the means of its boards as boards after a move, then the best moves.
func (s *solver) solveLayer(stage, layer int) error {
	current := s.stages[stage]
	size := current.starts[layer][len(current.upper.rows)]
	if size == 0 {
		return nil
	}
	pass := &layerPass{solver: s, stageValues: current, layer: layer, means: make([]uint32, size)}
	pass.later = s.stages[stage+1 : min(stage+1+lookAhead, len(s.stages))]
	for _, next := range pass.later {
		pass.mayTidy = pass.mayTidy || next.Small < current.Small
	}
	if len(pass.later) > 0 && pass.later[0].Upper == current.Upper && slices.Equal(pass.later[0].Locked, current.Locked) {
		pass.tidied = pass.later[0]
	}
	if err := s.parallel(len(current.upper.rows), pass.computeMeans); err != nil {
		return err
	}
	current.values[layer] = make([]uint32, size)
	return s.parallel(len(current.upper.rows), pass.computeValues)
}

// grain is the number of upper halves that a worker takes at a time. It looks at the context after each.
const grain = 4

// parallel calls work for each number below count, from several goroutines.
func (s *solver) parallel(count int, work func(int)) error {
	workers := s.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for s.ctx.Err() == nil {
				first := int(next.Add(grain)) - grain
				if first >= count {
					return
				}
				for i := first; i < min(first+grain, count); i++ {
					work(i)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(s.ctx)
}

// layerPass computes one layer of a stage.
type layerPass struct {
	*solver
	*stageValues
	layer int
	// means has the mean value of each board of the layer over the new tiles, for boards after a move. Others may have 0.
	means []uint32
	later []*stageValues // the stages to which a move can lead
	// tidied is the next stage, if it has the same locked tiles.
	tidied *stageValues
	// mayTidy is whether small tiles of this stage are locked in a later one.
	mayTidy bool
}

// computeMeans computes the means of the boards with an upper half.
func (p *layerPass) computeMeans(upperHalf int) {
	upper := int32(upperHalf)
	number := p.starts[p.layer][upper]
	twos, fours := p.next(1), p.next(2)
	for _, lower := range p.lowerHalves(p.layer, upperHalf) {
		if p.mayFollowMove(upper, lower) {
			p.means[number] = max(p.meanOf(upper, lower, &twos, &fours), p.meanOfTidied(upper, lower))
		}
		number++
	}
}

// meanOfTidied returns the mean in the next stage of a board that belongs to both stages, because they have the same locked tiles; otherwise 0.
func (p *layerPass) meanOfTidied(upper, lower int32) uint32 {
	if p.tidied == nil {
		return 0
	}
	nextUpper, nextLower, layer, ok := p.tidied.find(p.upper.board(upper) | p.lower.board(lower))
	if !ok {
		return 0
	}
	return p.tidied.mean(nextUpper, nextLower, layer)
}

// mayFollowMove reports whether the board with the given halves, or an image of it, may be one after a move. With several locked tiles, an image is a
// reflection. So the tiles lie at the left, at the right or at the top, without gaps.
func (p *layerPass) mayFollowMove(upper, lower int32) bool {
	above, below := &p.upper.gaps[upper], &p.lower.gaps[lower]
	return len(p.Locked) < 2 || !above.left && !below.left || !above.right && !below.right ||
		!above.up && !below.up && above.open&below.occupied == 0
}

// nextLayer is a layer with a greater sum. Without values it is above the greatest sum.
type nextLayer struct {
	values, starts []uint32
}

func (p *layerPass) next(distance int) nextLayer {
	if layer := p.layer + distance; layer < len(p.values) {
		return nextLayer{p.values[layer], p.starts[layer]}
	}
	return nextLayer{}
}

// meanOf returns what the method mean does, faster.
func (p *layerPass) meanOf(upper, lower int32, twos, fours *nextLayer) uint32 {
	above, below, rank := p.upper.spawned[upper], p.lower.spawned[lower], p.lower.rank
	if len(above)+len(below) == 0 {
		return 0
	}
	sum := uint64(0)
	if twos.values != nil {
		for i := 0; i < len(above); i += 2 {
			sum += uint64(twos.values[twos.starts[above[i]]+rank[lower]])
		}
		start := twos.starts[upper]
		for i := 0; i < len(below); i += 2 {
			sum += uint64(twos.values[start+rank[below[i]]])
		}
		sum *= game.FourOdds - 1
	}
	if fours.values != nil {
		for i := 1; i < len(above); i += 2 {
			sum += uint64(fours.values[fours.starts[above[i]]+rank[lower]])
		}
		start := fours.starts[upper]
		for i := 1; i < len(below); i += 2 {
			sum += uint64(fours.values[start+rank[below[i]]])
		}
	}
	return uint32(sum / uint64(game.FourOdds*(len(above)+len(below))/2))
}

// computeValues computes the values of the boards with an upper half.
func (p *layerPass) computeValues(upperHalf int) {
	upper := int32(upperHalf)
	number := p.starts[p.layer][upper]
	values := p.values[p.layer]
	for _, lower := range p.lowerHalves(p.layer, upperHalf) {
		values[number] = p.bestMove(upper, lower)
		number++
	}
}

// bestMove returns the value of the best move.
func (p *layerPass) bestMove(upper, lower int32) uint32 {
	columns := p.upper.columns[upper] | p.lower.columns[lower]
	return max(
		p.sideways(upper, lower, p.upper.left[upper], p.lower.left[lower], p.toStart),
		p.sideways(upper, lower, p.upper.right[upper], p.lower.right[lower], p.toRight),
		p.up(columns),
		p.down(columns))
}

// sideways returns the value of a move to the left or right, which leads to the halves above and below.
func (p *layerPass) sideways(upper, lower, above, below int32, table *rowTable) uint32 {
	switch {
	case above == upper && below == lower:
		return 0 // the move is not legal
	case above >= 0 && below >= 0:
		return p.means[p.number(p.layer, above, below)]
	}
	return p.afterLeaving(table.mapRows(p.upper.board(upper) | p.lower.board(lower)))
}

// up returns the value of a move up. columns is the transposed board.
func (p *layerPass) up(columns grid) uint32 {
	moved := p.toStart.mapRows(columns)
	if moved == columns {
		return 0
	}
	moved = moved.transpose()
	if upper, lower, _, ok := p.find(moved); ok {
		return p.means[p.number(p.layer, upper, lower)]
	}
	return p.afterLeaving(moved)
}

// down returns the value of a move down. columns is the transposed board. With several locked tiles, the move must bring them to the last row: then
// the reflected board belongs to the stage.
func (p *layerPass) down(columns grid) uint32 {
	moved := p.toBottom.mapRows(columns)
	if moved == columns {
		return 0
	}
	moved = moved.transpose()
	if len(p.Locked) < 2 {
		if upper, lower, _, ok := p.find(moved); ok {
			return p.means[p.number(p.layer, upper, lower)]
		}
		return p.afterLeaving(moved)
	}
	flipped := p.flip(moved)
	if upper, lower, _, ok := p.find(flipped); ok {
		return p.means[p.number(p.layer, upper, lower)]
	}
	return 0
}

// afterLeaving returns the value of a board after a move if the board, as it lies there, does not belong to the stage: the game is won, an image of the
// board belongs to the stage, or an image belongs to a later stage.
func (p *layerPass) afterLeaving(moved grid) (value uint32) {
	if moved.tilesFrom(p.Max) > 0 {
		return Scale
	}
	images, number := p.images(moved)
	if len(p.Locked) > 1 {
		number = 2 // locked tiles in a row determine all but the reflection
	}
	for _, image := range images[1:number] {
		if upper, lower, layer, ok := p.find(image); ok && layer == p.layer {
			return p.means[p.number(layer, upper, lower)]
		}
	}
	if moved.tilesFrom(p.Small) == len(p.Locked) && !p.mayTidy {
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
