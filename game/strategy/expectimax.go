package strategy

import (
	"fmt"
	"strconv"

	"tilecheck/game"
)

// expectimax makes the move with the largest expected value some moves ahead. It is deterministic and looks at nothing but the board.
//
// docs/strategies-search.md says what the sources leave open, and how it is decided.
type expectimax struct {
	spec  string
	rules *game.Rules
	// look returns what says of a board how boards after its moves are valued, one after the other in the order of the directions; it may
	// not be shared by goroutines.
	look func() func(b game.Board) valuer
}

// valuer is what a board is worth, the move being made.
type valuer func(next game.Board) (int64, error)

func (e *expectimax) String() string    { return e.spec }
func (*expectimax) Deterministic() bool { return true }
func (*expectimax) Memory() int         { return 1 }
func (e *expectimax) Player() Player    { return e.player() }
func (e *expectimax) Chooser() Chooser  { return e.player() }

func (e *expectimax) player() decider {
	how := e.look()
	return func(b game.Board, legal game.Moves) (game.Dir, error) { return bestMove(e.rules, b, legal, how(b)) }
}

// MoveValue is a legal move and what a strategy that compares values thinks it is worth, in points of its own.
type MoveValue struct {
	Dir   game.Dir
	Value float64
}

// Values returns what a strategy thinks the legal moves of a board are worth; the move that it makes has the largest, and is the first
// of these. It is not ok where a strategy does not compare values.
func Values(s Strategy, b game.Board) (values []MoveValue, ok bool, err error) {
	e, is := s.(*expectimax)
	if !is {
		return nil, false, nil
	}
	value := e.look()(b)
	legal := e.rules.Legal(b)
	for i := range legal.Len() {
		next, _, err := e.rules.Move(b, legal.At(i))
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

// depth returns the value of the option depth, an integer from 1 to hi, or 0 for a word, which is the default.
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
