package strategy

import (
	"fmt"
	"math/rand/v2"

	"tilecheck/game"
)

// monteCarlo plays runs random games to the end after every move and makes the move after which they end best on average.
//
// A value is an integer: the sum over the runs.
//
// Source: Liu, Solving 2048 as a Markov Decision Process, Algorithm 2. docs/strategies.md says what it leaves open.
type monteCarlo struct {
	rules *game.Rules
	runs  int
	value endValue
	ties  tieRule
}

// endValue is what a random game is worth.
type endValue string

const (
	valueScore endValue = "score" // the sum of the merged tiles from the move to be made on
	valueMax   endValue = "max"   // the largest tile on the last board
	valueSum   endValue = "sum"   // the sum of the tiles on the last board
)

func parseMonteCarlo(spec, args string, s Setting) (Strategy, error) {
	o := newOptions(spec, args)
	mc := monteCarlo{
		rules: s.Rules,
		runs:  o.number("runs", 50, 1, 100_000),
		value: endValue(o.word("value", string(valueScore), string(valueMax), string(valueSum))),
		ties:  parseTies(o),
	}
	return mc, o.done()
}

func (mc monteCarlo) String() string {
	return fmt.Sprintf("mc:runs=%d,value=%s,ties=%s", mc.runs, mc.value, mc.ties)
}
func (monteCarlo) Deterministic() bool { return false }
func (monteCarlo) Memory() int         { return 1 }

func (mc monteCarlo) Player() Player {
	return &sampler{rules: mc.rules, ties: mc.ties, value: func(next game.Board, score int, rng *rand.Rand) (int64, error) {
		sum := int64(mc.runs) * mc.scored(score)
		for range mc.runs {
			v, err := mc.rollOut(next, rng)
			if err != nil {
				return 0, err
			}
			sum += v
		}
		return sum, nil
	}}
}

// scored returns what a score is worth: itself, or nothing where only the last board counts.
func (mc monteCarlo) scored(score int) int64 {
	if mc.value == valueScore {
		return int64(score)
	}
	return 0
}

// ended returns what the last board of a game is worth.
func (mc monteCarlo) ended(b game.Board) int64 {
	switch mc.value {
	case valueMax:
		return int64(game.Value(b.Max()))
	case valueSum:
		sum := 0
		for _, v := range mc.rules.Shape().Values(b) {
			sum += v
		}
		return int64(sum)
	}
	return 0
}

// rollOut plays on at random after a move to b and returns what that is worth.
func (mc monteCarlo) rollOut(b game.Board, rng *rand.Rand) (int64, error) {
	total := int64(0)
	for {
		b = mc.rules.AddRandom(b, rng)
		next, score, err := mc.randomMove(b, rng)
		if err != nil {
			return 0, err
		}
		if next == b {
			return total + mc.ended(b), nil
		}
		b, total = next, total+mc.scored(score)
	}
}

// randomMove makes a legal move, each with the same probability; next is b when there is none.
//
// Most moves are legal. It tries one of all four, and asks which are legal only when that one is not: a move is tried first with
// probability 1/4, and is otherwise one of the n legal ones, 1/4 + (4-n)/4 * 1/n = 1/n.
func (mc monteCarlo) randomMove(b game.Board, rng *rand.Rand) (next game.Board, score int, err error) {
	next, score, err = mc.rules.Move(b, game.Dir(rng.Uint32()>>30))
	if next != b || err != nil {
		return next, score, err
	}
	legal := mc.rules.Legal(b)
	if legal == 0 {
		return b, 0, nil
	}
	return mc.rules.Move(b, legal.At(int(rng.Uint32N(uint32(legal.Len())))))
}
