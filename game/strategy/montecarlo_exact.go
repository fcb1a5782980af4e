package strategy

import (
	"fmt"
	"iter"

	"tilecheck/game"
)

// rollOuts computes the distribution of what monteCarlo.rollOut returns.
type rollOuts struct {
	monteCarlo
	known map[game.Board]*distribution // by canonical board, before the new tile
	kept  float64                      // machine words of known
}

// Chooser returns one that keeps what it computed, up to the bound of one call.
func (mc monteCarlo) Chooser() Chooser {
	games := &rollOuts{monteCarlo: mc, known: map[game.Board]*distribution{}}
	scale := int64(mc.runs) * mc.scored(1)
	return &ranker{rules: mc.rules, ties: mc.ties, scale: scale, rest: func(next game.Board, b *budget) (*distribution, error) {
		if games.kept > maxWords {
			clear(games.known)
			games.kept = 0
		}
		if mc.endless(next) {
			return nil, fmt.Errorf("%w: a random game from there reaches millions of boards", ErrTooLarge)
		}
		one, err := games.after(next, b)
		if err != nil {
			return nil, err
		}
		return one.sum(mc.runs, b)
	}}
}

// endless reports, without counting for seconds, that random games from a board
// reach more boards than the bound of one call has words for: on 3x3 25 million
// from the first tiles, images aside, each with a distribution of seven words or more.
//
// Source: the author's own counts, in TestClassesAgainstTheAuthor of package play.
func (mc monteCarlo) endless(b game.Board) bool {
	shape, sum := mc.rules.Shape(), 0
	for _, v := range shape.Values(b) {
		sum += v
	}
	return min(shape.Rows, shape.Cols) >= 3 && sum <= 8
}

// after returns the distribution for one game that goes on after a move to next.
func (r *rollOuts) after(next game.Board, b *budget) (*distribution, error) {
	next, _ = r.rules.Canonical(next)
	if d, ok := r.known[next]; ok {
		return d, nil
	}
	var parts []part
	for board, weight := range spawns(r.rules, next) {
		d, err := r.from(board, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{d, weight})
	}
	d, err := mixture(parts, b)
	if err != nil {
		return nil, err
	}
	r.known[next] = d
	r.kept += d.words()
	return d, nil
}

// from is after with the player to move.
func (r *rollOuts) from(board game.Board, b *budget) (*distribution, error) {
	legal := r.rules.Legal(board)
	if legal == 0 {
		return point(r.ended(board)), nil
	}
	parts := make([]part, legal.Len())
	for i := range parts {
		next, score, err := r.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, err
		}
		d, err := r.after(next, b)
		if err != nil {
			return nil, err
		}
		parts[i] = part{d.shifted(r.scored(score)), 1}
	}
	return mixture(parts, b)
}

// spawns goes through the boards with one new tile more than b. Their weights add up to game.FourOdds times the number of empty cells.
func spawns(rules *game.Rules, b game.Board) iter.Seq2[game.Board, int64] {
	return func(yield func(game.Board, int64) bool) {
		for i := range rules.Empties(b) {
			if !yield(rules.Spawn(b, i, 1), game.FourOdds-1) || !yield(rules.Spawn(b, i, 2), 1) {
				return
			}
		}
	}
}
