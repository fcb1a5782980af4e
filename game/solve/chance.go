package solve

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"tilecheck/game"
)

// Outcome is a board after a random tile, up to symmetry.
type Outcome struct {
	Board game.Board // canonical
	Prob  float64
	Won   bool // the tile is the winning one
}

// Outcomes returns the canonical boards that a random tile can make of an afterstate, with their probabilities. The afterstate must have an empty
// cell. Each board occurs once, in ascending order. The probabilities are positive and sum to 1.
func (t *Table) Outcomes(afterstate game.Board) []Outcome {
	weights := make(map[game.Board]uint32)
	var images [8]uint64
	t.orbit.allImages(uint64(afterstate), &images)
	empty := t.empties(uint64(afterstate))
	for exponent := 1; exponent <= 2; exponent++ {
		if t.tileWeight(exponent) == 0 {
			continue
		}
		for remaining := empty; remaining != 0; remaining &= remaining - 1 {
			weights[game.Board(t.orbit.leastImageWithTile(&images, bits.TrailingZeros64(remaining)/4, uint64(exponent)))] += t.tileWeight(exponent)
		}
	}
	outcomes := make([]Outcome, 0, len(weights))
	total := float64(t.problem.Total) * float64(bits.OnesCount64(empty))
	for board, weight := range weights {
		outcomes = append(outcomes, Outcome{board, float64(weight) / total, t.won(board)})
	}
	slices.SortFunc(outcomes, func(left, right Outcome) int { return cmp.Compare(left.Board, right.Board) })
	return outcomes
}

// AddRandom puts a random tile on a board that is not full, with the probabilities of the problem. If these are the usual ones, it draws the same
// tiles as game.Rules.AddRandom.
func (t *Table) AddRandom(board game.Board, rng *rand.Rand) game.Board {
	total := t.problem.Total
	draw := rng.Uint32N(total * uint32(t.rules.NumEmptyCells(board)))
	exponent := 1
	if draw%total < total-t.problem.Twos {
		exponent = 2
	}
	return t.rules.Spawn(board, int(draw/total), exponent)
}
