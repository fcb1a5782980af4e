package induced

import (
	"context"
	"slices"

	"tilecheck/game"
)

// survey finds the boards of a stage: those whose visiting probability is at least a cutoff, given that the stage begins. One cutoff for all layers
// of equal sums of tiles loses the least probability for a number of boards. But if there can be too few boards, it leaves nothing of the late
// layers: then the cutoff is relative to the remaining probability of a layer. The next stage begins in the boards that are found.
func (b *stageBuilder) survey(number int) error {
	b.passes++
	current := b.stages[number]
	if number == 0 {
		current.entries = newTable[float64](0)
		b.spawnEach(0, 1, func(firstBoard game.Board, probability float64) {
			b.spawnEach(firstBoard, probability, func(board game.Board, probability float64) {
				*current.entries.valueAt(b.representative(board, 0)) += probability
			})
		})
	}
	bestPass, err := b.lowestCutoff(number, false)
	if err == nil && (bestPass == nil || bestPass.endProbability == 0) {
		bestPass, err = b.lowestCutoff(number, true)
	}
	if err != nil {
		return err
	}
	if bestPass == nil { // the first layer alone is too large
		current.layers, current.states = nil, 0
		return nil
	}
	current.layers, current.states, current.cutoff = bestPass.layers, bestPass.states, bestPass.cutoff
	if number+1 < len(b.stages) {
		b.stages[number+1].entries = normalized(bestPass.endBoards)
	}
	if b.Progress != nil {
		b.Progress(PartProgress{Pass: b.passes, States: current.states, Limit: b.States})
	}
	return nil
}

// lowestCutoff lowers the cutoff of a stage as long as there are not too many boards, and returns the last pass that is complete; nil if none is.
func (b *stageBuilder) lowestCutoff(number int, relative bool) (bestPass *stagePass, err error) {
	current := b.stages[number]
	for cutoff := current.cutoff; ; cutoff /= cutoffStep {
		pass := &stagePass{stageBuilder: b, number: number, cutoff: cutoff, isRelative: relative, layers: map[int][]game.Board{}, endBoards: newTable[float64](0)}
		complete, err := pass.run(current.entries)
		if err != nil {
			return nil, err
		}
		if !complete {
			if bestPass != nil || cutoff > 1 {
				return bestPass, nil
			}
			cutoff *= cutoffStep * cutoffStep
			continue
		}
		bestPass = pass
		if !pass.isIncomplete || cutoff < lastCutoff || float64(pass.states)*worthwhile > float64(b.States) {
			return bestPass, nil
		}
	}
}

// lastCutoff is the least cutoff that is tried.
const lastCutoff = 1e-18

// total returns the sum of probabilities.
func total(t *table[float64]) (sum float64) {
	for _, s := range t.slots {
		sum += s.value
	}
	return sum
}

// normalized divides the probabilities in a table by their sum, and returns the table.
func normalized(t *table[float64]) *table[float64] {
	sum := total(t)
	for i := range t.slots {
		if t.slots[i].value != 0 {
			t.slots[i].value /= sum
		}
	}
	return t
}

// spawnEach calls yield with each board after a new tile and its probability.
func (b *stageBuilder) spawnEach(afterstate game.Board, probability float64, yield func(game.Board, float64)) {
	probability /= float64(game.FourOdds * b.Rules.NumEmptyCells(afterstate))
	for cell := range b.shape.Cells() {
		if afterstate>>(4*cell)&15 == 0 {
			yield(afterstate|1<<(4*cell), probability*(game.FourOdds-1))
			yield(afterstate|2<<(4*cell), probability)
		}
	}
}

// stagePass is one pass of a survey.
type stagePass struct {
	*stageBuilder
	number         int // of the stage
	cutoff         float64
	isRelative     bool // whether the cutoff is relative to the remaining probability of a layer
	layers         map[int][]game.Board
	states         int
	isIncomplete   bool              // whether some boards are below the cutoff
	pending        []*table[float64] // visiting probabilities, by half of the sum of the tiles
	endBoards      *table[float64]   // the boards in which the next stage begins
	endProbability float64           // probability that the stage ends, or the game is won
}

// run makes the pass and reports whether it was completed.
func (p *stagePass) run(entries *table[float64]) (bool, error) {
	for _, entry := range entries.slots {
		if entry.board != 0 {
			p.visit(entry.board, entry.value)
		}
	}
	for half := 0; half < len(p.pending); half++ {
		probabilities := p.pending[half]
		p.pending[half] = nil
		if probabilities == nil {
			continue
		}
		var layer []game.Board
		minProbability := p.cutoff
		if p.isRelative {
			minProbability *= total(probabilities)
		}
		for _, entry := range probabilities.slots {
			switch {
			case entry.board == 0:
			case entry.value >= minProbability:
				layer = append(layer, entry.board)
			default:
				p.isIncomplete = true
			}
		}
		slices.Sort(layer)
		p.layers[half] = layer
		if p.states += len(layer); p.states > p.States {
			return false, nil
		}
		for i, board := range layer {
			if i%chunk == 0 && p.ctx.Err() != nil {
				return false, context.Cause(p.ctx)
			}
			prob, _ := probabilities.get(board)
			p.follow(board, prob)
		}
	}
	return true, nil
}

// visit adds to the visiting probability of a board.
func (p *stagePass) visit(board game.Board, probability float64) {
	board = p.representative(board, p.number)
	half := halfSum(board)
	for len(p.pending) <= half {
		p.pending = append(p.pending, nil)
	}
	if p.pending[half] == nil {
		p.pending[half] = newTable[float64](0)
	}
	*p.pending[half].valueAt(board) += probability
}

// follow makes the most promising move on a board, and adds the visiting probability of the board to those of its successors, in this stage or at the
// beginning of the next one.
func (p *stagePass) follow(board game.Board, probability float64) {
	var moved [4]game.Board
	legal, overflow := p.Rules.Moved(board, &moved)
	var bestBoard game.Board
	bestOutcome, maxScore := leaves, -1.0
	for i := range legal.Len() {
		dir := legal.At(i)
		if overflow.Has(dir) {
			continue
		}
		candidate := p.outcomeOf(moved[dir], p.number)
		if candidate == leaves {
			continue
		}
		if score := p.promise(moved[dir], candidate); score > maxScore {
			bestBoard, bestOutcome, maxScore = moved[dir], candidate, score
		}
	}
	switch bestOutcome {
	case goesOn:
		p.spawnEach(bestBoard, probability, p.visit)
	case wins:
		p.endProbability += probability
	case ends:
		p.endProbability += probability
		p.spawnEach(bestBoard, probability, func(spawned game.Board, spawnProbability float64) {
			*p.endBoards.valueAt(p.bestImage(spawned)) += spawnProbability
		})
	}
}

// bestImage returns the image of a board with which the next stage begins: one with the greatest value of the round before.
func (p *stagePass) bestImage(board game.Board) (bestBoard game.Board) {
	maxValue := Fixed(0)
	for i, image := range p.images(board, p.number) {
		if value, _ := p.stages[p.number+1].values.get(image); i == 0 || value > maxValue {
			bestBoard, maxValue = image, value
		}
	}
	return p.representative(bestBoard, p.number+1)
}

// promise grades a move by the expected value after it. It takes the values of the round before, and a guess for boards without a value.
func (p *stagePass) promise(afterstate game.Board, result outcome) float64 {
	isKnown := p.stages[p.number].values != nil
	switch {
	case result == wins || result == ends && !isKnown:
		return 2
	case result == ends:
		return p.moveValue(afterstate, p.number).Float64()
	}
	sum := 0.0
	p.spawnEach(afterstate, 1, func(board game.Board, probability float64) {
		board = p.representative(board, p.number)
		if value, isFound := p.stages[p.number].values.get(board); isFound {
			sum += probability * value.Float64()
		} else {
			sum += probability * p.guess(board)
		}
	})
	return sum
}

// guess returns a guessed value of at most 1/2 for a board. It is greater for more empty cells, and for large tiles near the beginning of a snake: a
// path through the rows in alternating directions, from cell 0 on.
func (p *stagePass) guess(board game.Board) float64 {
	empty, weighted, total := 0, 0.0, 0.0
	for cell := p.stages[p.number].numLocked; cell < p.shape.Cells(); cell++ {
		exponent := int(board >> (4 * cell) & 15)
		if exponent == 0 {
			empty++
			continue
		}
		value := float64(int(1) << exponent)
		row, col := cell/p.shape.Cols, cell%p.shape.Cols
		if row%2 == 1 {
			col = p.shape.Cols - 1 - col
		}
		weighted += value / float64(1+row*p.shape.Cols+col)
		total += value
	}
	if total == 0 {
		return 0.5
	}
	return 0.2*weighted/total + 0.25*float64(empty)/float64(p.shape.Cells())
}
