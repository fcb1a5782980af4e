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

// Values returns the values that a strategy computes for the legal moves on a board. The strategy makes the first move with the largest value. ok is
// false if the strategy does not compare values of moves.
func Values(playerStrategy Strategy, board game.Board) (values []MoveValue, ok bool, err error) {
	search, comparesValues := playerStrategy.(*lookahead)
	if !comparesValues {
		return nil, false, nil
	}
	value := search.newValuer()(board)
	legal := search.rules.Legal(board)
	for i := range legal.Len() {
		next, _, err := search.rules.Move(board, legal.At(i))
		if err != nil {
			return nil, false, err
		}
		moveValue, err := value(next)
		if err != nil {
			return nil, false, err
		}
		values = append(values, MoveValue{legal.At(i), float64(moveValue) / unit})
	}
	return values, true, nil
}

// parseExpectimax parses the options of an expectimax search. The option eval selects the evaluation.
func parseExpectimax(spec, args string, setting Setting) (Strategy, error) {
	options := newOptions(spec, args)
	switch eval := options.word("eval", "snake", "diagonal", "cs221", "modern"); eval {
	case "cs221":
		return parseCS221(options, setting.Rules)
	case "modern":
		return parseModern(options, setting.Rules)
	default:
		return parseDTU(eval, options, setting.Rules)
	}
}

// depth returns the value of the option depth: a number from 1 to largest, or 0 for a word such as adaptive, which is the default.
func (o *options) depth(largest int, word string) int {
	value := o.text("depth", word)
	if value == word {
		return 0
	}
	depth, err := strconv.Atoi(value)
	if err != nil || depth < 1 || depth > largest {
		o.fail("depth is "+value, fmt.Sprintf("an integer from 1 to %d or %s", largest, word))
	}
	return depth
}

// depthText is the inverse of options.depth.
func depthText(depth int, word string) string {
	if depth == 0 {
		return word
	}
	return strconv.Itoa(depth)
}
