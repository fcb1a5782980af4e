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

// after returns the value of b, a board after a move, with rounds more rounds. If the value is at most alpha, it may return any number from the
// value to alpha.
func (s *minimax) after(board game.Board, rounds int, alpha int64) (int64, error) {
	if rounds == 0 {
		return s.evaluation.value(board), nil
	}
	least, _, err := s.place(board, rounds, alpha)
	return least, err
}

// place returns the new tile that the opponent chooses on b, and the value as after does.
func (s *minimax) place(board game.Board, rounds int, alpha int64) (int64, solve.Placement, error) {
	lower := alpha
	if s.against != solve.Worst {
		lower = math.MinInt64 // the value is a mean, to which small values count
	}
	value := func(n, exp int, limit int64) (int64, error) {
		return s.best(s.rules.Spawn(board, n, exp), rounds, lower, limit)
	}
	odds := solve.Odds[int64]{Twos: game.FourOdds - 1, Total: game.FourOdds}
	return solve.LeastPlacement(s.against, odds, s.rules.Empties(board), math.MaxInt64, value, func(least int64) bool { return least <= alpha })
}

// best returns the value of the best move on b and of rounds-1 more rounds. A value of at most alpha, or of at least beta, may be any such number.
func (s *minimax) best(board game.Board, rounds int, alpha, beta int64) (int64, error) {
	var next [4]game.Board
	legal, overflow := s.rules.Moved(board, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	best := s.evaluation.floor()
	for i := range legal.Len() {
		v, err := s.after(next[legal.At(i)], rounds-1, max(alpha, best))
		if err != nil {
			return 0, err
		}
		if best = max(best, v); best >= beta {
			return best, nil
		}
	}
	return s.evaluation.replaceLost(board, best), nil
}

// maxRounds is the largest depth of minimax.
const maxRounds = 6

// minimaxOptions reads the options of a search against an opponent.
func minimaxOptions(o *options, rules *game.Rules, against solve.Against) (s *minimax, depth int, text string) {
	eval := o.word("eval", "modern", "snake", "diagonal", "cs221")
	depth = o.number("depth", 2, 1, maxRounds)
	s = &minimax{rules: rules, against: against}
	switch eval {
	case "modern":
		s.evaluation = newModernEvaluation(rules)
	case "cs221":
		s.evaluation = newCountEvaluation(rules)
	default:
		s.evaluation = dtuEvaluation{shape: rules.Shape(), snake: eval == "snake", emptyBonus: defaultEmpty, orderPenalty: defaultMono}.evaluation(rules)
	}
	return s, depth, fmt.Sprintf("eval=%s,depth=%d", eval, depth)
}

// parseMinimax parses a player who expects the opponent of the setting, or worst-cell if there is none.
func parseMinimax(spec, args string, s Setting) (Strategy, error) {
	o := newOptions(spec, args)
	expected := solve.WorstCell
	if s.Against != solve.Chance {
		expected = s.Against
	}
	against := o.againstOption(expected, solve.WorstCell, solve.WorstTile, solve.Worst)
	search, depth, text := minimaxOptions(o, s.Rules, against)
	if err := o.done(); err != nil {
		return nil, err
	}
	return &lookahead{
		spec: fmt.Sprintf("minimax:against=%s,%s", against, text), rules: s.Rules,
		newValuer: func() func(board game.Board) valuer {
			return func(game.Board) valuer {
				return func(next game.Board) (int64, error) { return search.after(next, depth, math.MinInt64) }
			}
		},
	}, nil
}
