package play

import (
	"tilecheck/game"
	"tilecheck/stats"
)

// maxSum returns an upper bound of the sum of the tiles on a board of the match.
//
// On a board of c cells the bound is 2^(c+2)-4. A move keeps the sum and must leave an empty cell for the new tile, so before each new tile the sum
// is a sum of at most c-1 powers of two. Each new tile adds 2 or 4, so the sum cannot pass both 2^(c+2)-6 and 2^(c+2)-4, and neither is a sum of
// fewer than c powers of two from 2 upwards. Before a new tile the sum is therefore at most 2^(c+2)-8, and the new tile adds at most 4.
//
// In a game that stops at the goal, all tiles before the last move are smaller than the goal. A new 4 can be the goal itself.
func (m Match) maxSum() int64 {
	cells := m.Shape.Cells()
	sum := min(int64(1)<<(cells+2)-4, int64(cells)<<game.MaxWideExponent)
	if m.Goal > 0 && !m.PlayOn {
		sum = min(sum, int64(cells)<<(m.Goal-1)+4)
	}
	return sum
}

// maxExponent returns the exponent of the largest tile that a game can end with. The sum of the tiles, the goal and the size of a cell of a
// Board limit it. Under published updates only the goal does, because these updates create tiles.
func (m Match) maxExponent() int {
	if m.Published {
		return m.Goal
	}
	largest := game.MaxWideExponent
	if m.Goal > 0 && !m.PlayOn {
		largest = m.Goal
	}
	for int64(1)<<largest > m.maxSum() {
		largest--
	}
	return largest
}

// scoreBounds returns bounds of the score of a game. A tile 2^e adds at most (e-1)·2^e to the score, if it was merged from 2s only.
func (m Match) scoreBounds() stats.Bounds {
	return stats.Bounds{Lo: 0, Hi: float64(int64(m.maxExponent()-1) * m.maxSum())}
}

// moveBounds returns bounds of the number of moves of a game. A game starts with a sum of at least 4, and each move but the last adds at least 2.
func (m Match) moveBounds() stats.Bounds {
	return stats.Bounds{Lo: 0, Hi: float64((m.maxSum()-4)/2 + 1)}
}
