package induced

import (
	"context"
	"io"

	"tilecheck/game"
)

// Bound is the result of Part.Prove. Every number is rounded such that it remains a bound.
type Bound struct {
	// Optimal is a lower bound of the winning probability of optimal play.
	Optimal Fixed
	// StrategyBounds is an interval for the winning probability of the strategy on the boards of the part (as they are, or canonical). Boards outside
	// the part count as lost for the lower end and as won for the upper end.
	StrategyBounds [2]Fixed
	// Boards is the number of boards that Optimal depends on, without the memory.
	Boards int
}

// Prove computes bounds of the probability of winning from the boards of a part, by backward induction from the greatest sum of tiles. It writes the
// certificate of the bound Optimal to w, unless w is nil. It returns an error of w or of ctx.
func (p *Part) Prove(ctx context.Context, w io.Writer) (*Bound, error) {
	induction := &backward{Part: p, strategyValues: map[int][]*table[[2]Fixed]{}, optimalValues: map[int]*table[Fixed]{}}
	var proof *certificate
	if w != nil {
		proof = newCertificate(w, p.survey.opt.Rules.Shape(), p.Canonical(), p.survey.opt.Max, p.survey.strategy.String())
	}
	const firstHalf = 2 // half of 2+2, the smallest sum
	for half := len(p.layers) - 1; half >= firstHalf; half-- {
		entries, err := induction.computeLayer(ctx, half)
		if err != nil {
			return nil, err
		}
		induction.bound.Boards += len(entries)
		if err := proof.writeEntries(entries); err != nil {
			return nil, err
		}
		delete(induction.strategyValues, half+3) // a layer depends on the two layers above it only
		delete(induction.optimalValues, half+3)
	}
	induction.bound.Optimal = induction.startMean(induction.optimalValue, false)
	for side := range induction.bound.StrategyBounds {
		induction.bound.StrategyBounds[side] = induction.startMean(func(board game.Board) Fixed { return induction.strategyValue(board, 0, side) }, side == 1)
	}
	return &induction.bound, proof.writeEnd(induction.bound.Optimal)
}

// backward computes the values of the layers. A value belongs to a board on which the player moves.
type backward struct {
	*Part
	strategyValues map[int][]*table[[2]Fixed] // by half of the sum and memory
	optimalValues  map[int]*table[Fixed]      // by half of the sum
	bound          Bound
}

// certificateEntry is an entry of the certificate: a board, its best move and a lower bound of its value.
type certificateEntry struct {
	board game.Board
	dir   game.Dir
	value Fixed
}

// computeLayer computes the values of all boards of a layer, whose tiles have the sum 2*half. It returns the best move and its value for each board,
// as entries of the certificate.
func (b *backward) computeLayer(ctx context.Context, half int) ([]certificateEntry, error) {
	current := b.layers[half]
	b.strategyValues[half] = make([]*table[[2]Fixed], b.survey.strategy.Memory())
	b.optimalValues[half] = newTable[Fixed](len(current[0].boards))
	var entries []certificateEntry
	for memory := range current {
		strategyTable := newTable[[2]Fixed](len(current[memory].boards))
		b.strategyValues[half][memory] = strategyTable
		for i, board := range current[memory].boards {
			if i%chunk == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			*strategyTable.valueAt(board) = b.evaluateMoves(board, b.survey.decisions[current[memory].decisions[i]])
			if _, isKnown := b.optimalValues[half].get(board); !isKnown {
				bestEntry := b.bestMove(board)
				*b.optimalValues[half].valueAt(board) = bestEntry.value
				entries = append(entries, bestEntry)
			}
		}
	}
	return entries, nil
}

// evaluateMoves returns a lower and an upper bound of the probability that the strategy wins from a board. moves are its moves with their
// probabilities.
func (b *backward) evaluateMoves(board game.Board, moves decision) (bounds [2]Fixed) {
	for _, move := range moves {
		afterstate, _, _ := b.survey.opt.Rules.Move(board, move.dir) // no error: the forward pass has made this move
		for side, probability := range [2]Fixed{move.lo, move.hi} {
			roundUp := side == 1
			bounds[side] += probability.times(b.meanOverTiles(afterstate, func(nextBoard game.Board) Fixed { return b.strategyValue(nextBoard, move.memory, side) }, roundUp), roundUp)
		}
	}
	bounds[1] = min(bounds[1], Scale)
	return bounds
}

// bestMove returns the move with the greatest value on a board, and the first one if several have it.
func (b *backward) bestMove(board game.Board) certificateEntry {
	bestEntry := certificateEntry{board: board}
	legal := b.survey.opt.Rules.Legal(board)
	for i := range legal.Len() {
		dir := legal.At(i)
		afterstate, _, _ := b.survey.opt.Rules.Move(board, dir)
		if value := b.meanOverTiles(afterstate, b.optimalValue, false); i == 0 || value > bestEntry.value {
			bestEntry.dir, bestEntry.value = dir, value
		}
	}
	return bestEntry
}

// meanOverTiles returns the expected value of a board after a new tile, rounded up or down. value is the value of a board with the new tile. The mean is 1 if
// after has the winning tile.
func (b *backward) meanOverTiles(afterstate game.Board, value func(game.Board) Fixed, roundUp bool) Fixed {
	if afterstate.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	var sum, weight Fixed
	for cell := range b.survey.opt.Rules.Shape().Cells() {
		if afterstate>>(4*cell)&15 == 0 {
			sum += (game.FourOdds-1)*value(afterstate|1<<(4*cell)) + value(afterstate|2<<(4*cell))
			weight += game.FourOdds
		}
	}
	if roundUp {
		sum += weight - 1
	}
	return sum / weight
}

// startMean returns the expected value after the first two tiles.
func (b *backward) startMean(value func(game.Board) Fixed, roundUp bool) Fixed {
	return b.meanOverTiles(0, func(first game.Board) Fixed { return b.meanOverTiles(first, value, roundUp) }, roundUp)
}

// optimalValue returns a lower bound of the optimal probability of winning from a board; 0 for a board outside the part.
func (b *backward) optimalValue(board game.Board) Fixed {
	if board.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	board = b.survey.representative(board)
	value, _ := b.optimalValues[halfSum(board)].get(board)
	return value
}

// strategyValue returns a bound of the probability that the strategy wins from a board with a memory: a lower bound if end is 0, an upper bound if it
// is 1. For a board outside the part, these are 0 and 1.
func (b *backward) strategyValue(board game.Board, memory, side int) Fixed {
	if board.AtLeast(b.survey.opt.Max) {
		return Scale
	}
	board = b.survey.representative(board)
	if tables := b.strategyValues[halfSum(board)]; tables != nil {
		if bounds, isKnown := tables[memory].get(board); isKnown {
			return bounds[side]
		}
	}
	if side == 0 || b.survey.opt.Rules.Legal(board) == 0 {
		return 0
	}
	return Scale
}
