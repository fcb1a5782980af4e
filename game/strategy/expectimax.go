package strategy

import (
	"fmt"
	"strconv"

	"tilecheck/game"
)

// lookahead makes the move with the largest value at the end of a search: expectimax or minimax. It is deterministic and depends on the board
// only.
//
// docs/strategies-search.md says which details the sources leave open, and how they are decided here.
type lookahead struct {
	spec  string
	rules *game.Rules
	// newValuer returns a function that returns the valuer for the moves of a board. The valuer must be called for the moves in the order of
	// game.Dir. The function must not be shared by goroutines.
	newValuer func() func(b game.Board) valuer
}

// valuer returns the value of a board after a move.
type valuer func(next game.Board) (int64, error)

func (e *lookahead) String() string    { return e.spec }
func (*lookahead) Deterministic() bool { return true }
func (*lookahead) Memory() int         { return 1 }
func (e *lookahead) Player() Player    { return e.player() }
func (e *lookahead) Chooser() Chooser  { return e.player() }

func (e *lookahead) player() deterministicPlayer {
	valuerOf := e.newValuer()
	return func(board game.Board, legal game.Moves) (game.Dir, error) {
		return bestMove(e.rules, board, legal, valuerOf(board))
	}
}

// MoveValue is a legal move with its value, in points of the strategy's evaluation.
type MoveValue struct {
	Dir   game.Dir
	Value float64
}

// Values returns the strategy's values of the legal moves of a board. The strategy makes the first move with the largest value. ok is false
// if the strategy does not compare values.
func Values(s Strategy, board game.Board) (values []MoveValue, ok bool, err error) {
	e, is := s.(*lookahead)
	if !is {
		return nil, false, nil
	}
	value := e.newValuer()(board)
	legal := e.rules.Legal(board)
	for i := range legal.Len() {
		next, _, err := e.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, false, err
		}
		v, err := value(next)
		if err != nil {
			return nil, false, err
		}
		values = append(values, MoveValue{legal.At(i), float64(v) / unit})
	}
	return values, true, nil
}

func parseExpectimax(spec, args string, s Setting) (Strategy, error) {
	o := newOptions(spec, args)
	switch eval := o.word("eval", "snake", "diagonal", "cs221", "modern"); eval {
	case "cs221":
		return parseCS221(o, s.Rules)
	case "modern":
		return parseModern(o, s.Rules)
	default:
		return parseDTU(eval, o, s.Rules)
	}
}

// depth returns the value of the option depth: an integer from 1 to hi, or 0 for a word. The word is the default.
func (o *options) depth(hi int, word string) int {
	value := o.text("depth", word)
	if value == word {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > hi {
		o.fail("depth is "+value, fmt.Sprintf("an integer from 1 to %d or %s", hi, word))
	}
	return n
}

// depthText is the inverse of options.depth.
func depthText(depth int, word string) string {
	if depth == 0 {
		return word
	}
	return strconv.Itoa(depth)
}
