package strategy

import (
	"fmt"
	"math"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// minimax is search against an opponent who chooses new tiles to minimize the value: to a fixed number of rounds, with alpha-beta cuts. A round is a
// new tile and a move. It stores nothing, so a value depends on the board and the number of rounds only.
//
// Source: Russell and Norvig, Artificial Intelligence, section 5.3; Knuth and Moore, An analysis of alpha-beta pruning, 1975.
type minimax struct {
	rules      *game.Rules
	evaluation evaluation
	against    solve.Against
}

// after returns the value of a board after a move, from a search of the given number of further rounds. If the value is at most alpha, it may return
// any number from the value to alpha.
func (s *minimax) after(board game.Board, rounds int, alpha int64) (int64, error) {
	if rounds == 0 {
		return s.evaluation.value(board), nil
	}
	least, _, err := s.place(board, rounds, alpha)
	return least, err
}

// place returns the value of a board after a move for the player, and the new tile that the opponent chooses there. rounds is the number of further
// rounds. A value of at most alpha may be any such number.
func (s *minimax) place(board game.Board, rounds int, alpha int64) (int64, solve.Placement, error) {
	lower := alpha
	if s.against != solve.Worst {
		lower = math.MinInt64 // the value is a mean, to which small values count
	}
	value := func(empty, exponent int, limit int64) (int64, error) {
		return s.best(s.rules.Spawn(board, empty, exponent), rounds, lower, limit)
	}
	odds := solve.Odds[int64]{Twos: game.FourOdds - 1, Total: game.FourOdds}
	return solve.LeastPlacement(s.against, odds, s.rules.NumEmptyCells(board), math.MaxInt64, value, func(least int64) bool { return least <= alpha })
}

// best returns the value of the best move on a board, from a search of rounds rounds with this move. A value of at most alpha, or of at least beta,
// may be any such number (alpha-beta pruning).
func (s *minimax) best(board game.Board, rounds int, alpha, beta int64) (int64, error) {
	var next [4]game.Board
	legal, overflow := s.rules.Moved(board, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	best := s.evaluation.floor()
	for i := range legal.Len() {
		value, err := s.after(next[legal.At(i)], rounds-1, max(alpha, best))
		if err != nil {
			return 0, err
		}
		if best = max(best, value); best >= beta {
			return best, nil
		}
	}
	return s.evaluation.replaceLost(board, best), nil
}

// maxRounds is the largest depth of minimax.
const maxRounds = 6

// minimaxOptions reads the options eval and depth of a search against an opponent. text has both options, with their defaults.
func minimaxOptions(opts *options, rules *game.Rules, against solve.Against) (search *minimax, depth int, text string) {
	eval := opts.word("eval", "modern", "snake", "diagonal", "cs221")
	depth = opts.number("depth", 2, 1, maxRounds)
	search = &minimax{rules: rules, against: against}
	switch eval {
	case "modern":
		search.evaluation = newModernEvaluation(rules)
	case "cs221":
		search.evaluation = newCountEvaluation(rules)
	default:
		search.evaluation = dtuEvaluation{shape: rules.Shape(), snake: eval == "snake", emptyBonus: defaultEmpty, orderPenalty: defaultMono}.evaluation(rules)
	}
	return search, depth, fmt.Sprintf("eval=%s,depth=%d", eval, depth)
}

// parseMinimax parses the options of a minimax player. By default it expects the opponent of the setting, or worst-cell if there is none.
func parseMinimax(spec, args string, setting Setting) (Strategy, error) {
	options := newOptions(spec, args)
	expected := solve.WorstCell
	if setting.Against != solve.Chance {
		expected = setting.Against
	}
	against := options.againstOption(expected, solve.WorstCell, solve.WorstTile, solve.Worst)
	search, depth, text := minimaxOptions(options, setting.Rules, against)
	if err := options.done(); err != nil {
		return nil, err
	}
	return &lookahead{
		spec: fmt.Sprintf("minimax:against=%s,%s", against, text), rules: setting.Rules,
		newValuer: func() func(board game.Board) valuer {
			return func(game.Board) valuer {
				return func(next game.Board) (int64, error) { return search.after(next, depth, math.MinInt64) }
			}
		},
	}, nil
}
