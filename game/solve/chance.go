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

// Outcomes returns the boards after a random tile on b, which must not be full. Each canonical board occurs once, in ascending order. The
// probabilities are positive and sum to 1.
func (t *Table) Outcomes(b game.Board) []Outcome {
	weights := make(map[game.Board]uint32)
	var images [8]uint64
	t.orbit.allImages(uint64(b), &images)
	empty := t.empties(uint64(b))
	for exp := 1; exp <= 2; exp++ {
		if t.tileWeight(exp) == 0 {
			continue
		}
		for left := empty; left != 0; left &= left - 1 {
			weights[game.Board(t.orbit.leastImageWith(&images, bits.TrailingZeros64(left)/4, uint64(exp)))] += t.tileWeight(exp)
		}
	}
	all := make([]Outcome, 0, len(weights))
	total := float64(t.problem.Total) * float64(bits.OnesCount64(empty))
	for board, weight := range weights {
		all = append(all, Outcome{board, float64(weight) / total, t.won(board)})
	}
	slices.SortFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Board, b.Board) })
	return all
}

// AddRandom puts a random tile on b, which must not be full. It is game.Rules.AddRandom with the probabilities of the problem. If those are the
// usual ones, it draws the same tiles from the same stream.
func (t *Table) AddRandom(board game.Board, rng *rand.Rand) game.Board {
	of := t.problem.Total
	draw := rng.Uint32N(of * uint32(t.rules.Empties(board)))
	exp := 1
	if draw%of < of-t.problem.Twos {
		exp = 2
	}
	return t.rules.Spawn(board, int(draw/of), exp)
}
