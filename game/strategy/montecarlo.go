package strategy

import (
	"fmt"
	"math/rand/v2"

	"tilecheck/game"
)

// monteCarlo plays random games to their end after each legal move, and makes the move with the best mean value of these games.
//
// The value of a move is an integer: the sum over the runs.
//
// Source: Liu, Solving 2048 as a Markov Decision Process, Algorithm 2. docs/strategies.md says what it leaves open.
type monteCarlo struct {
	rules *game.Rules
	runs  int
	value endValue
	ties  tieRule
}

// endValue says how the value of a random game is computed.
type endValue string

const (
	valueScore endValue = "score" // the score from the move on
	valueMax   endValue = "max"   // the largest tile on the last board
	valueSum   endValue = "sum"   // the sum of the tiles on the last board
)

// parseMonteCarlo parses the options of a player that evaluates moves by random games.
func parseMonteCarlo(spec, args string, setting Setting) (Strategy, error) {
	options := newOptions(spec, args)
	player := monteCarlo{
		rules: setting.Rules,
		runs:  options.number("runs", 50, 1, 100_000),
		value: endValue(options.word("value", string(valueScore), string(valueMax), string(valueSum))),
		ties:  parseTies(options),
	}
	return player, options.done()
}

func (mc monteCarlo) String() string {
	return fmt.Sprintf("mc:runs=%d,value=%s,ties=%s", mc.runs, mc.value, mc.ties)
}
func (monteCarlo) Deterministic() bool { return false }
func (monteCarlo) Memory() int         { return 1 }

// Player returns a player whose value of a move is the sum of the values of random games after it.
func (mc monteCarlo) Player() Player {
	return &moveSampler{rules: mc.rules, ties: mc.ties, value: func(next game.Board, score int, rng *rand.Rand) (int64, error) {
		sum := int64(mc.runs) * mc.valueOfScore(score)
		for range mc.runs {
			value, err := mc.rollOut(next, rng)
			if err != nil {
				return 0, err
			}
			sum += value
		}
		return sum, nil
	}}
}

// valueOfScore returns the value of a score: the score itself, or 0 if only the last board counts.
func (mc monteCarlo) valueOfScore(score int) int64 {
	if mc.value == valueScore {
		return int64(score)
	}
	return 0
}

// valueOfEnd returns the value of the last board of a game.
func (mc monteCarlo) valueOfEnd(board game.Board) int64 {
	switch mc.value {
	case valueMax:
		return int64(game.Value(board.Max()))
	case valueSum:
		sum := 0
		for _, tile := range mc.rules.Shape().Values(board) {
			sum += tile
		}
		return int64(sum)
	}
	return 0
}

// rollOut plays a random game from a board after a move, and returns its value.
func (mc monteCarlo) rollOut(board game.Board, rng *rand.Rand) (int64, error) {
	total := int64(0)
	for {
		board = mc.rules.AddRandom(board, rng)
		next, score, err := mc.randomMove(board, rng)
		if err != nil {
			return 0, err
		}
		if next == board {
			return total + mc.valueOfEnd(board), nil
		}
		board, total = next, total+mc.valueOfScore(score)
	}
}

// randomMove makes a random legal move, each with the same probability, and returns the next board and the score of the move. If no move is legal,
// next is the board itself.
//
// Most moves are legal, so it first tries one of all four directions, and computes the legal moves only if this direction is not legal. With n legal
// moves, each of them has the probability 1/4 + (4-n)/4 * 1/n = 1/n.
func (mc monteCarlo) randomMove(board game.Board, rng *rand.Rand) (next game.Board, score int, err error) {
	next, score, err = mc.rules.Move(board, game.Dir(rng.Uint32()>>30))
	if next != board || err != nil {
		return next, score, err
	}
	legal := mc.rules.Legal(board)
	if legal == 0 {
		return board, 0, nil
	}
	return mc.rules.Move(board, legal.At(int(rng.Uint32N(uint32(legal.Len())))))
}
