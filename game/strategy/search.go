package strategy

import "tilecheck/game"

// search is expectimax to a fixed number of rounds. A round is a new tile and a move. The value of a board is the mean over all new tiles of the
// value of the best move.
//
// Source: Russell and Norvig, Artificial Intelligence, section 5.5, without an opponent.
type search struct {
	rules      *game.Rules
	evaluation evaluation
	rare       bool // consider new 4s in all rounds; otherwise only in the first
	table      searchTable
}

// valuer returns the function that values boards after a move, with rounds more rounds.
func (s *search) valuer(rounds int) valuer {
	s.table.reset()
	return func(next game.Board) (int64, error) { return s.expect(next, rounds, true) }
}

// after returns the value of b, a board after a move, with rounds more rounds. It stores the value, which depends on b and rounds only.
func (s *search) after(board game.Board, rounds int) (int64, error) {
	if known := s.table.get(board); known != nil && int(known.level) == rounds {
		return known.value, nil
	}
	v, err := s.expect(board, rounds, s.rare)
	if err == nil {
		s.table.put(board, rounds, v)
	}
	return v, err
}

// expect computes the value of b with rounds more rounds. In the first of them new tiles can be 4s if fours is set.
func (s *search) expect(board game.Board, rounds int, fours bool) (int64, error) {
	var two, four int64
	var err error
	switch rounds {
	case 0:
		return s.evaluation.value(board), nil
	case 1:
		two, four, err = s.evaluation.sumOverLastTiles(board, fours)
	default:
		two, four, err = s.evaluation.sumOverTiles(board, fours, func(next game.Board, _ int) (int64, error) { return s.after(next, rounds-1) })
	}
	if err != nil {
		return 0, err
	}
	return mean(two, four, s.rules.Empties(board), fours), nil
}

// bestMove returns the first move of legal with the largest value, in the order of game.Dir. It does not compute the value of a single
// legal move.
func bestMove(rules *game.Rules, board game.Board, legal game.Moves, value func(next game.Board) (int64, error)) (game.Dir, error) {
	var next [4]game.Board
	_, overflow := rules.Moved(board, &next)
	if overflow != 0 {
		return 0, game.ErrOverflow
	}
	dir := legal.At(0)
	if legal.Len() == 1 {
		return dir, nil
	}
	most := int64(0)
	for i := range legal.Len() {
		v, err := value(next[legal.At(i)])
		if err != nil {
			return 0, err
		}
		if i == 0 || v > most {
			most, dir = v, legal.At(i)
		}
	}
	return dir, nil
}
