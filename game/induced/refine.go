package induced

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// Proven is a part with its bounds. TimedOut says that the time ended the search.
type Proven struct {
	Part     *Part
	Bound    *Bound
	TimedOut bool
}

// Improve refines the part several times, and returns the part with the greatest lower bound of optimal play. With keepBoards the refined parts have
// raw boards if p has; otherwise they have canonical boards. The interval Own is always that of p's strategy. With an error, which is that of Survey,
// Improve also returns the best part so far.
func (p *Part) Improve(ctx context.Context, times int, keepBoards bool) (*Proven, error) {
	bound, err := p.Prove(ctx, nil)
	if err != nil {
		return nil, err
	}
	bestProof, part := &Proven{Part: p, Bound: bound}, p
	for i := 0; i < times && !part.TimedOut(); i++ {
		if part, err = part.Refine(ctx, !keepBoards || part.Canonical()); err != nil {
			return bestProof, err
		}
		newProof, err := part.Prove(ctx, nil)
		if err != nil {
			return bestProof, err
		}
		if newProof.Optimal > bestProof.Bound.Optimal {
			newProof.StrategyBounds = bound.StrategyBounds
			bestProof.Part, bestProof.Bound = part, newProof
		}
	}
	bestProof.TimedOut = part.TimedOut()
	return bestProof, nil
}

// Refine makes a new survey with a better strategy. On the boards of the part, this strategy makes the best move that the part knows; on other boards
// it makes the moves of the old strategy. The best move avoids boards outside the part. So the new part covers more of the visits, and proves a
// greater bound. The time of the old survey continues; when it is over, Refine returns p itself. With canonical the new part has canonical boards:
// the old strategy's moves on raw boards would lead to more boards than a part can hold. The error is that of Survey.
func (p *Part) Refine(ctx context.Context, canonical bool) (*Part, error) {
	refined := *p.survey
	refined.opt.Canonical = canonical
	refined.decisionIndex, refined.decisions = maps.Clone(refined.decisionIndex), slices.Clip(refined.decisions) // p keeps its own
	layers, err := p.guideLayers(ctx, &refined)
	if err != nil {
		return nil, err
	}
	refined.guideLayers = layers
	part, err := refined.lowerCutoff(ctx, max(p.cutoff, firstCutoff/1e12))
	if err != nil || part != nil {
		return part, err
	}
	p.survey.timedOut = refined.timedOut
	return p, nil
}

// guideLayers returns layers with the best move on each board of the part, for the survey search. If the survey has canonical boards, so have the
// layers. The moves set the memory to 0.
func (p *Part) guideLayers(ctx context.Context, search *survey) ([]layer, error) {
	guide := &guideMoves{survey: search, values: map[int]*table[float64]{}}
	var moves [4]uint32
	for dir := range moves {
		moves[dir] = search.decisionNumber([]strategy.Choice{{Dir: game.Dir(dir), Prob: big.NewRat(1, 1)}})
	}
	result := make([]layer, len(p.layers))
	for half := len(p.layers) - 1; half >= 0; half-- {
		delete(guide.values, half+3)
		guide.values[half] = newTable[float64](0)
		result[half] = make(layer, len(p.layers[half]))
		for memory, current := range p.layers[half] {
			if search.opt.Canonical && !p.Canonical() {
				current.boards = search.representatives(current.boards)
			}
			result[half][memory] = boards{boards: current.boards, decisions: make([]uint32, len(current.boards))}
			for i, board := range current.boards {
				if i%chunk == 0 {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
				}
				dir, value := guide.bestMove(board)
				*guide.values[half].valueAt(board) = value
				result[half][memory].decisions[i] = moves[dir]
			}
		}
	}
	return result, nil
}

// representatives returns the representatives of boards, sorted and without duplicates.
func (v *survey) representatives(boards []game.Board) []game.Board {
	result := make([]game.Board, len(boards))
	for i, b := range boards {
		result[i] = v.representative(b)
	}
	slices.Sort(result)
	return slices.Compact(result)
}

// guideMoves estimates values of boards: the probability of winning, or a guess where the part ends.
type guideMoves struct {
	*survey
	values map[int]*table[float64] // by half of the sum
}

// best returns the move with the greatest expected value on a board, and this value.
func (g *guideMoves) bestMove(board game.Board) (dir game.Dir, value float64) {
	legal := g.opt.Rules.Legal(board)
	value = -1
	for i := range legal.Len() {
		afterstate, _, _ := g.opt.Rules.Move(board, legal.At(i))
		if expected := g.meanOverTiles(afterstate); expected > value {
			dir, value = legal.At(i), expected
		}
	}
	return dir, value
}

// meanOverTiles returns the expected value of a board after a new tile; 1 if afterstate has the winning tile.
func (g *guideMoves) meanOverTiles(afterstate game.Board) float64 {
	if afterstate.AtLeast(g.opt.Max) {
		return 1
	}
	sum, weight := 0.0, 0.0
	for cell := range g.opt.Rules.Shape().Cells() {
		if afterstate>>(4*cell)&15 == 0 {
			sum += (game.FourOdds-1)*g.valueOf(afterstate|1<<(4*cell)) + g.valueOf(afterstate|2<<(4*cell))
			weight += game.FourOdds
		}
	}
	return sum / weight
}

// valueOf returns the value of a board in the part, or a guess outside of it.
func (g *guideMoves) valueOf(board game.Board) float64 {
	if board.AtLeast(g.opt.Max) {
		return 1
	}
	board = g.representative(board)
	half := halfSum(board)
	if valueOf, isKnown := g.values[half].get(board); isKnown {
		return valueOf
	}
	if g.opt.Rules.Legal(board) == 0 {
		return 0
	}
	// The value outside the part is unknown. The guess is below half of a win and grows with the sum of the tiles.
	return 0.5 * min(1, float64(half)/float64(int(1)<<g.opt.Max))
}
