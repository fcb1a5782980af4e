package solve

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"tilecheck/game"
)

// Outcome is a board that a random tile can make, up to symmetry.
type Outcome struct {
	Board game.Board // canonical
	Prob  float64
	Won   bool // the tile is MAX
}

// Outcomes returns what a random tile makes of a board that is not full, each canonical board once, by board. The probabilities are all
// above 0 and their sum is 1.
func (t *Table) Outcomes(b game.Board) []Outcome {
	weights := make(map[game.Board]uint32)
	var images [8]uint64
	t.orbit.all(uint64(b), &images)
	empty := t.empties(uint64(b))
	for exp := 1; exp <= 2; exp++ {
		if t.odds(exp) == 0 {
			continue
		}
		for left := empty; left != 0; left &= left - 1 {
			weights[game.Board(t.orbit.leastWith(&images, bits.TrailingZeros64(left)/4, uint64(exp)))] += t.odds(exp)
		}
	}
	all := make([]Outcome, 0, len(weights))
	total := float64(t.problem.Of) * float64(bits.OnesCount64(empty))
	for board, weight := range weights {
		all = append(all, Outcome{board, float64(weight) / total, t.won(board)})
	}
	slices.SortFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Board, b.Board) })
	return all
}

// AddRandom puts a random tile on a board that is not full. It is game.Rules.AddRandom with the odds of the problem, and draws the same
// tiles from the same stream where the odds are the usual ones.
func (t *Table) AddRandom(b game.Board, rng *rand.Rand) game.Board {
	of := t.problem.Of
	draw := rng.Uint32N(of * uint32(t.rules.Empties(b)))
	exp := 1
	if draw%of < of-t.problem.Twos {
		exp = 2
	}
	return t.rules.Spawn(b, int(draw/of), exp)
}
