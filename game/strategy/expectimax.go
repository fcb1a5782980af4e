package strategy

import (
	"fmt"
	"strconv"
)

// expectimax makes the move with the largest expected value some moves ahead. It is deterministic and looks at nothing but the board.
//
// docs/strategies-search.md says what the sources leave open, and how it is decided.
type expectimax struct {
	spec string
	// player returns what chooses; it may not be shared by goroutines.
	player func() decider
}

func (e *expectimax) String() string    { return e.spec }
func (*expectimax) Deterministic() bool { return true }
func (*expectimax) Memory() int         { return 1 }
func (e *expectimax) Player() Player    { return e.player() }
func (e *expectimax) Chooser() Chooser  { return e.player() }

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
