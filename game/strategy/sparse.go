package strategy

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"tilecheck/game"
)

// sparse is sparse sampling: it looks depth moves ahead and draws n new tiles after every move. It makes the move with the largest sum of scores,
// where later moves are the best ones for the drawn tiles. Values of different boards are drawn independently.
//
// The value of a move is an integer: the mean of the algorithm times n^(depth-1). No tile is drawn after the last move, because nothing after it
// counts.
//
// Source: Liu, Solving 2048 as a Markov Decision Process, Algorithm 1, with gamma 1. docs/strategies.md says what it leaves open.
type sparse struct {
	rules        *game.Rules
	depth, tiles int
	ties         tieRule
}

// maxSamples limits the number of moves considered for one move, 4^depth n^(depth-1). So many take about a minute.
const maxSamples = 1_000_000_000

// parseSparse parses the options of a player that samples a few new tiles after each move.
func parseSparse(spec, args string, setting Setting) (Strategy, error) {
	options := newOptions(spec, args)
	result := sparse{rules: setting.Rules, depth: options.number("depth", 3, 1, 8), ties: parseTies(options)}
	maxN := 0
	if options.err == nil {
		maxN = maxTiles(result.depth)
	}
	result.tiles = options.number("n", 1, 1, maxN)
	return result, options.done()
}

// maxTiles returns the largest allowed number of sampled tiles for a depth of at least 1.
func maxTiles(depth int) int {
	const limit = 1_000_000
	return sort.Search(limit, func(numTiles int) bool {
		moves := 4
		for range depth - 1 {
			if moves *= 4 * (numTiles + 1); moves > maxSamples {
				return true
			}
		}
		return false
	})
}

func (sp sparse) String() string {
	return fmt.Sprintf("sparse:depth=%d,n=%d,ties=%s", sp.depth, sp.tiles, sp.ties)
}

// Deterministic returns true if no tile is drawn and no tie is broken at random.
func (sp sparse) Deterministic() bool { return sp.depth == 1 && sp.ties == tiesFirst }
func (sparse) Memory() int            { return 1 }

func (sp sparse) Player() Player {
	return &moveSampler{rules: sp.rules, ties: sp.ties, value: func(next game.Board, score int, rng *rand.Rand) (int64, error) {
		rest, err := sp.rest(next, sp.depth, rng)
		return sp.scale(sp.depth)*int64(score) + rest, err
	}}
}

// scale returns n^(depth-1), the value of a point of score depth moves before the end.
func (sp sparse) scale(depth int) int64 {
	scale := int64(1)
	for range depth - 1 {
		scale *= int64(sp.tiles)
	}
	return scale
}

// rest draws the value of a move to the board next, without the score of the move: the sum, over the sampled new tiles, of the values of the best
// moves after them. depth is the number of moves to the end of the search, including this move.
func (sp sparse) rest(next game.Board, depth int, rng *rand.Rand) (int64, error) {
	if depth == 1 {
		return 0, nil
	}
	sum := int64(0)
	for range sp.tiles {
		value, err := sp.best(sp.rules.AddRandom(next, rng), depth-1, rng)
		if err != nil {
			return 0, err
		}
		sum += value
	}
	return sum, nil
}

// best draws the value of the best move on a board; 0 if no move is legal. depth is the number of moves to the end of the search.
func (sp sparse) best(board game.Board, depth int, rng *rand.Rand) (int64, error) {
	horizontal, vertical := sp.rules.Scores(board)
	if depth == 1 && !board.AtLeast(game.MaxExponent) { // no merge overflows, and illegal moves have the score 0
		return int64(max(horizontal, vertical)), nil
	}
	var next [4]game.Board
	legal, overflow := sp.rules.Moved(board, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	scale, best := sp.scale(depth), int64(0)
	for i := range legal.Len() {
		dir := legal.At(i)
		score := horizontal
		if dir == game.Up || dir == game.Down {
			score = vertical
		}
		restValue, err := sp.rest(next[dir], depth, rng)
		if err != nil {
			return 0, err
		}
		best = max(best, scale*int64(score)+restValue)
	}
	return best, nil
}
