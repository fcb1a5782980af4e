package play

import (
	"tilecheck/game"
	"tilecheck/stats"
)

// maxSum returns the largest sum of the tiles that a board can have in the match.
//
// On c cells it is 2^(c+2)-4. A move keeps the sum and has to leave a cell for the new tile, so that the sum before a new tile is a sum of
// at most c-1 powers of two. It grows by 2 or 4 at a time, and neither 2^(c+2)-6 nor 2^(c+2)-4, which it cannot both pass over, is a sum
// of fewer than c powers of two from 2 upwards: so it is at most 2^(c+2)-8, and a 4 can come on top.
//
// A game that stops at a goal had smaller tiles only before the move that ended it; the new tile can be the goal if that is 4.
func (m Match) maxSum() int64 {
	c := m.Shape.Cells()
	sum := min(int64(1)<<(c+2)-4, int64(c)<<game.MaxExponent)
	if m.Goal > 0 && !m.On {
		sum = min(sum, int64(c)<<(m.Goal-1)+4)
	}
	return sum
}

// largest returns the exponent of the largest tile that a game can end with: what the sum of the tiles, the goal and a cell of a Board
// have room for. With published updates nothing but the goal limits it: they make tiles out of nothing.
func (m Match) largest() int {
	if m.Published {
		return m.Goal
	}
	most := game.MaxExponent
	if m.Goal > 0 && !m.On {
		most = m.Goal
	}
	for int64(1)<<most > m.maxSum() {
		most--
	}
	return most
}

// scoreBounds returns what the score of a game can be. A tile of 2^e is worth (e-1)·2^e at most, when all of it came as 2s.
func (m Match) scoreBounds() stats.Bounds {
	return stats.Bounds{Lo: 0, Hi: float64(int64(m.largest()-1) * m.maxSum())}
}

// moveBounds returns how many moves a game can have: each but the last puts 2 at least on top of the 4 at the start.
func (m Match) moveBounds() stats.Bounds {
	return stats.Bounds{Lo: 0, Hi: float64((m.maxSum()-4)/2 + 1)}
}
