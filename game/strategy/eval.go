package strategy

import (
	"math"

	"tilecheck/game"
)

// evaluation gives a value to a board where a search ends: after a move, before the new tile.
//
// Values are integers in a unit of the evaluation's own. So sums do not depend on the order of additions or on the machine, and symmetric boards
// have equal values if the evaluation is symmetric.
type evaluation interface {
	// value returns the value of b.
	value(b game.Board) int64
	// sumOverTiles puts a new tile into each empty cell of b in turn and finds the value of the best move after it. It returns the sum of
	// these values over the cells for a 2, and for a 4 if fours is set, otherwise 0. after returns the value of the board after a move;
	// exp is the exponent of the new tile. The error is an error of after, or game.ErrOverflow.
	sumOverTiles(b game.Board, fours bool, after func(next game.Board, exp int) (int64, error)) (two, four int64, err error)
	// sumOverLastTiles is sumOverTiles with the method value as after.
	sumOverLastTiles(b game.Board, fours bool) (two, four int64, err error)
	// floor and replaceLost are for the search of the best move on a board after the new tile: where it begins, and what it ends with.
	floor() int64
	replaceLost(b game.Board, best int64) int64
}

// unit is the value 1 of an evaluation with fractions. Sums do not overflow: no value exceeds 2^51 (countEvaluation for one tile of 2^15), and a sum
// has at most ten times as many terms as there are cells.
const unit = 1 << 16

// boardEvaluation is an evaluation for boards of any shape, by a function.
type boardEvaluation struct {
	rules   *game.Rules
	valueOf func(b game.Board) int64
	// valueOfLost returns the value of a board, after the new tile, without legal moves. If it is nil, such a board has the value 0, and
	// moves with values below 0 count as 0 too.
	valueOfLost func(b game.Board) int64
}

// floor is the initial value for the search of the best move: 0 if lost boards have the value 0, otherwise less than all values.
func (p *boardEvaluation) floor() int64 {
	if p.valueOfLost == nil {
		return 0
	}
	return math.MinInt64
}

// replaceLost returns best, the value of the best move on a board, or the value of the lost board if best is still the floor.
func (p *boardEvaluation) replaceLost(board game.Board, best int64) int64 {
	if best == math.MinInt64 {
		return p.valueOfLost(board)
	}
	return best
}

func (p *boardEvaluation) value(board game.Board) int64 { return p.valueOf(board) }

func (p *boardEvaluation) sumOverLastTiles(board game.Board, fours bool) (two, four int64, err error) {
	return p.sumOverTiles(board, fours, func(next game.Board, _ int) (int64, error) { return p.valueOf(next), nil })
}

// sumOverTiles returns the sums, over the empty cells, of the values of the best moves after a new 2 and, if fours is set, after a new 4. valueAfter
// returns the value of a board after a move, given the exponent of the last new tile.
func (p *boardEvaluation) sumOverTiles(
	board game.Board, fours bool, valueAfter func(next game.Board, exponent int) (int64, error),
) (two, four int64, err error) {
	for empty := range p.rules.NumEmptyCells(board) {
		value, err := p.best(p.rules.Spawn(board, empty, 1), 1, valueAfter)
		if err != nil {
			return 0, 0, err
		}
		two += value
		if !fours {
			continue
		}
		if value, err = p.best(p.rules.Spawn(board, empty, 2), 2, valueAfter); err != nil {
			return 0, 0, err
		}
		four += value
	}
	return two, four, nil
}

// best returns the value of the best move on a board. valueAfter returns the value of a board after a move, given the exponent of the last new tile.
func (p *boardEvaluation) best(board game.Board, exponent int, valueAfter func(next game.Board, exponent int) (int64, error)) (int64, error) {
	var next [4]game.Board
	legal, overflow := p.rules.Moved(board, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	best := p.floor()
	// cutSearch keeps values that depend on the order of the moves; this is the order of nneonneo/2048-ai.
	for _, dir := range [...]game.Dir{game.Up, game.Down, game.Left, game.Right} {
		if !legal.Has(dir) {
			continue
		}
		value, err := valueAfter(next[dir], exponent)
		if err != nil {
			return 0, err
		}
		best = max(best, value)
	}
	return p.replaceLost(board, best), nil
}

// mean returns the mean value over a new tile in one of n cells, given the sums over the cells for a 2 and for a 4. Without fours the new tile
// is always a 2.
func mean(two, four int64, n int, fours bool) int64 {
	if !fours {
		return two / int64(n)
	}
	return ((game.FourOdds-1)*two + four) / int64(game.FourOdds*n)
}
