package strategy

import (
	"fmt"
	"iter"

	"tilecheck/game"
)

// rollOutDistributions computes the exact distribution of the result of monteCarlo.rollOut.
type rollOutDistributions struct {
	monteCarlo
	cache       map[game.Board]*distribution // by canonical board, before the new tile
	cachedWords float64                      // machine words of cache
}

// Chooser returns a Chooser with a cache of distributions, which is cleared when it exceeds maxWords.
func (mc monteCarlo) Chooser() Chooser {
	games := &rollOutDistributions{monteCarlo: mc, cache: map[game.Board]*distribution{}}
	scale := int64(mc.runs) * mc.valueOfScore(1)
	return &moveRanker{rules: mc.rules, ties: mc.ties, scoreScale: scale, restOfValue: func(next game.Board, limit *workLimit) (*distribution, error) {
		if games.cachedWords > maxWords {
			clear(games.cache)
			games.cachedWords = 0
		}
		if mc.reachesTooManyBoards(next) {
			return nil, fmt.Errorf("%w: a random game from there reaches millions of boards", ErrTooLarge)
		}
		ofOneGame, err := games.afterMove(next, limit)
		if err != nil {
			return nil, err
		}
		return ofOneGame.sum(mc.runs, limit)
	}}
}

// reachesTooManyBoards reports, by a quick estimate, that random games from a board reach more boards than maxWords allows. On 3x3 they reach 25
// million boards up to symmetry from the first tiles, and each distribution has at least seven words.
//
// Source: the author's own counts, in TestClassesAgainstTheAuthor of package play.
func (mc monteCarlo) reachesTooManyBoards(board game.Board) bool {
	shape, sum := mc.rules.Shape(), 0
	for _, v := range shape.Values(board) {
		sum += v
	}
	return min(shape.Rows, shape.Cols) >= 3 && sum <= 8
}

// afterMove returns the distribution of the value of a random game from a board after a move.
func (r *rollOutDistributions) afterMove(next game.Board, limit *workLimit) (*distribution, error) {
	next, _ = r.rules.Canonical(next)
	if result, ok := r.cache[next]; ok {
		return result, nil
	}
	var parts []mixturePart
	for board, weight := range spawns(r.rules, next) {
		result, err := r.toMove(board, limit)
		if err != nil {
			return nil, err
		}
		parts = append(parts, mixturePart{result, weight})
	}
	result, err := mixture(parts, limit)
	if err != nil {
		return nil, err
	}
	r.cache[next] = result
	r.cachedWords += result.size()
	return result, nil
}

// toMove returns the distribution of the value of a random game from a board on which the player moves.
func (r *rollOutDistributions) toMove(board game.Board, limit *workLimit) (*distribution, error) {
	legal := r.rules.Legal(board)
	if legal == 0 {
		return constant(r.valueOfEnd(board)), nil
	}
	parts := make([]mixturePart, legal.Len())
	for i := range parts {
		next, score, err := r.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		restDistribution, err := r.afterMove(next, limit)
		if err != nil {
			return nil, err
		}
		parts[i] = mixturePart{restDistribution.shifted(r.valueOfScore(score)), 1}
	}
	return mixture(parts, limit)
}

// spawns yields the boards with one new tile and their weights. The weights add up to game.FourOdds times the number of empty cells.
func spawns(rules *game.Rules, board game.Board) iter.Seq2[game.Board, int64] {
	return func(yield func(game.Board, int64) bool) {
		for i := range rules.NumEmptyCells(board) {
			if !yield(rules.Spawn(board, i, 1), game.FourOdds-1) || !yield(rules.Spawn(board, i, 2), 1) {
				return
			}
		}
	}
}
