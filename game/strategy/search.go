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

// after returns the value of a board after a move, from a search of the given number of further rounds. It takes the value from the table, or stores it
// there; the value depends only on the board and on rounds.
func (s *search) after(board game.Board, rounds int) (int64, error) {
	if cached := s.table.get(board); cached != nil && int(cached.level) == rounds {
		return cached.value, nil
	}
	value, err := s.expect(board, rounds, s.rare)
	if err == nil {
		s.table.put(board, rounds, value)
	}
	return value, err
}

// expect computes the value of a board after a move, from a search of the given number of further rounds. If fours is set, the first new tile can be
// a 4.
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
	return mean(two, four, s.rules.NumEmptyCells(board), fours), nil
}

// bestMove returns the legal move with the largest value; of several such moves, the first one. value returns the value of a board after a move. It is
// not called if only one move is legal.
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
	greatest := int64(0)
	for i := range legal.Len() {
		candidate, err := value(next[legal.At(i)])
		if err != nil {
			return 0, err
		}
		if i == 0 || candidate > greatest {
			greatest, dir = candidate, legal.At(i)
		}
	}
	return dir, nil
}
