package game_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// The strategies of thesis section 3.8.
var (
	thesisOpposite    = game.Preference{game.Up, game.Down, game.Left, game.Right}
	thesisOrthogonal  = game.Preference{game.Left, game.Up, game.Down, game.Right}
	thesisAlternating = game.Alternating{Lists: [2]game.Preference{
		{game.Up, game.Left, game.Down, game.Right},
		{game.Left, game.Up, game.Down, game.Right},
	}}
)

// player returns the choice of moves for one game, which draws from rng if it is random.
type player func(rng *rand.Rand) func(game.Moves) game.Dir

func playRandom(rng *rand.Rand) func(game.Moves) game.Dir {
	return func(legal game.Moves) game.Dir { return legal.At(rng.IntN(legal.Len())) }
}

func playList(p game.Preference) player {
	return func(*rand.Rand) func(game.Moves) game.Dir { return p.Choose }
}

func playAlternating(*rand.Rand) func(game.Moves) game.Dir {
	a := thesisAlternating
	return a.Choose
}

// play plays one game from two random tiles until a tile of 2^maxExp is made or no move is legal. It returns the last board, before the
// new tile if the game is won.
func play(r *game.Rules, choose func(game.Moves) game.Dir, rng *rand.Rand, maxExp int) (game.Board, error) {
	b := r.Start(rng)
	for legal := r.Legal(b); legal != 0; legal = r.Legal(b) {
		next, _, err := r.Move(b, choose(legal))
		if err != nil || next.AtLeast(maxExp) {
			return next, err
		}
		b = r.AddRandom(next, rng)
	}
	return b, nil
}

// table36 is the independent count of thesis Table 3.6 in 2048-numbers.md, columns (N): the probability of losing before MAX is
// reached on the 4x4 board, from referenceGames games a cell. The thesis's own numbers differ: see there.
var table36 = struct {
	maxExps []int
	columns []column
}{
	[]int{7, 8, 9, 10, 11},
	[]column{
		{"random", playRandom, []cell{{0.444, 3}, {0.921, 3}, {0.9998, 4}, {1, 4}, {1, 4}}},
		{"opposite", playList(thesisOpposite), []cell{{0.737, 3}, {0.979, 3}, {1, 4}, {1, 4}, {1, 4}}},
		{"orthogonal", playList(thesisOrthogonal), []cell{{0.098, 3}, {0.488, 3}, {0.954, 3}, {1, 4}, {1, 4}}},
		{"alternating", playAlternating, []cell{{0.085, 3}, {0.471, 3}, {0.942, 3}, {1, 4}, {1, 4}}},
	},
}

type column struct {
	name   string
	player player
	cells  []cell
}

// cell is a printed probability and the number of its decimals.
type cell struct {
	p        float64
	decimals int
}

const referenceGames = 400_000

// TestTable36IndependentCount plays each strategy to 2048 and compares all 20 cells with the reference. Play does not depend on MAX until
// MAX is reached, so a game whose largest tile is smaller than MAX is one lost before MAX, and one game counts in all five cells.
//
// The games and the reference are both samples. Each is given half of 0.1 %, divided among the 20 cells (Bonferroni): a cell fails only if
// the count of lost games is outside the two-sided binomial bounds for every probability that the reference allows. So with a new seed
// the test fails wrongly with a probability of at most 0.001.
func TestTable36IndependentCount(t *testing.T) {
	const games = 20_000
	cells := len(table36.columns) * len(table36.maxExps)
	tail := 0.001 / 2 / float64(cells) / 2 // of each end of each cell, for the reference and for the games
	r := newRules(t, game.Shape{Rows: 4, Cols: 4})
	for seed, column := range table36.columns {
		t.Run(column.name, func(t *testing.T) {
			t.Parallel()
			largest := countLargest(t, r, column.player, uint64(seed), games)
			for i, maxExp := range table36.maxExps {
				lost := 0
				for _, n := range largest[:maxExp] {
					lost += n
				}
				lo, hi := column.cells[i].interval(tail)
				t.Logf("MAX %4d: lost %.4f, reference %.4f in [%.5f, %.5f]",
					1<<maxExp, float64(lost)/games, column.cells[i].p, lo, hi)
				if tooMany, tooFew := atLeast(lost, games, hi) < tail, atLeast(games-lost, games, 1-lo) < tail; tooMany || tooFew {
					t.Errorf("MAX %d: lost %d of %d games, reference %v", 1<<maxExp, lost, games, column.cells[i].p)
				}
			}
		})
	}
}

// countLargest returns how many of the games ended with a largest tile of each exponent. Game i draws from stream i of the seed.
func countLargest(t *testing.T, r *game.Rules, p player, seed uint64, games int) (counts [game.MaxExponent + 1]int) {
	t.Helper()
	for i := range games {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		b, err := play(r, p(rng), rng, slices.Max(table36.maxExps))
		if err != nil {
			t.Fatal(err)
		}
		counts[b.Max()]++
	}
	return counts
}

// interval returns the probabilities that the reference allows: its last decimal is rounded, and it is a sample itself, of which the
// normal approximation leaves out tail at each end.
func (c cell) interval(tail float64) (lo, hi float64) {
	rounding := 0.5 * math.Pow10(-c.decimals)
	z := math.Sqrt2 * math.Erfinv(1-2*tail)
	deviation := func(p float64) float64 { return z * math.Sqrt(p*(1-p)/referenceGames) }
	lo, hi = max(0, c.p-rounding), min(1, c.p+rounding)
	return max(0, lo-deviation(lo)), min(1, hi+deviation(hi))
}

// atLeast returns the probability of at least k successes in n trials of probability p.
func atLeast(k, n int, p float64) float64 {
	if k == 0 || p == 1 {
		return 1
	}
	lgamma := func(x int) float64 {
		v, _ := math.Lgamma(float64(x))
		return v
	}
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(lgamma(n+1) - lgamma(i+1) - lgamma(n-i+1) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}
