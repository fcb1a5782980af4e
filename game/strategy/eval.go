package strategy

import (
	"math"

	"tilecheck/game"
)

// leaves says what boards are worth where a search ends: boards on which the move is made and the new tile is not there yet.
//
// Values are integers, in a unit of the evaluation's own: sums are the same in whatever order they are made, on every machine, and equal
// for symmetric boards where the evaluation is symmetric.
type leaves interface {
	// value returns what b is worth.
	value(b game.Board) int64
	// round looks at every cell for a new tile, and every move after it. It returns the sum over the cells of what the best move is
	// worth after a 2, and the same for a 4, or 0 unless fours is set. after returns what a board after a move is worth, when the new
	// tile before was of exponent exp. The error is that of after, or game.ErrOverflow.
	round(b game.Board, fours bool, after func(next game.Board, exp int) (int64, error)) (two, four int64, err error)
	// lastRound is round where a board after a move is worth its value.
	lastRound(b game.Board, fours bool) (two, four int64, err error)
}

// unit is the value 1 of an evaluation that has fractions. There is room: no evaluation here exceeds 2^51, that of counts for one tile of
// 2^15, and ten times as many as there are cells are added up.
const unit = 1 << 16

// plainLeaves are leaves on boards of any shape.
type plainLeaves struct {
	rules *game.Rules
	worth func(b game.Board) int64
	// lost returns what a board is worth, the new tile being there, that no move is legal on. Without it such a board is worth 0, and so is
	// one on which every move is worth less.
	lost func(b game.Board) int64
}

// floor is what the best move is worth at least: less than everything a board can be worth, or 0 where lost boards are worth 0.
func (p *plainLeaves) floor() int64 {
	if p.lost == nil {
		return 0
	}
	return math.MinInt64
}

// orLost returns best, what the best move on b is worth, or what b is worth when best is the floor: there is none.
func (p *plainLeaves) orLost(b game.Board, best int64) int64 {
	if best == math.MinInt64 {
		return p.lost(b)
	}
	return best
}

func (p *plainLeaves) value(b game.Board) int64 { return p.worth(b) }

func (p *plainLeaves) lastRound(b game.Board, fours bool) (two, four int64, err error) {
	return p.round(b, fours, func(next game.Board, _ int) (int64, error) { return p.worth(next), nil })
}

func (p *plainLeaves) round(
	b game.Board, fours bool, after func(next game.Board, exp int) (int64, error),
) (two, four int64, err error) {
	for n := range p.rules.Empties(b) {
		v, err := p.best(p.rules.Spawn(b, n, 1), 1, after)
		if err != nil {
			return 0, 0, err
		}
		two += v
		if !fours {
			continue
		}
		if v, err = p.best(p.rules.Spawn(b, n, 2), 2, after); err != nil {
			return 0, 0, err
		}
		four += v
	}
	return two, four, nil
}

// best returns what the best move on b is worth, where the last new tile was of exponent exp.
func (p *plainLeaves) best(b game.Board, exp int, after func(next game.Board, exp int) (int64, error)) (int64, error) {
	var next [4]game.Board
	legal, overflow := p.rules.Moved(b, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	best := p.floor()
	// The order matters to after where it keeps values that depend on how a board came about; it is that of nneonneo/2048-ai.
	for _, d := range [...]game.Dir{game.Up, game.Down, game.Left, game.Right} {
		if !legal.Has(d) {
			continue
		}
		v, err := after(next[d], exp)
		if err != nil {
			return 0, err
		}
		best = max(best, v)
	}
	return p.orLost(b, best), nil
}

// mean returns the mean over a new tile in one of n cells, from the sums over the cells for a 2 and for a 4; without fours the new tile
// is a 2.
func mean(two, four int64, n int, fours bool) int64 {
	if !fours {
		return two / int64(n)
	}
	return ((game.FourOdds-1)*two + four) / int64(game.FourOdds*n)
}
