package strategy

import "tilecheck/game"

// search looks rounds ahead, a round being a new tile and a move: at every new tile, and at every move. The value of a board is the mean
// over the tiles of what the best move is worth.
//
// Source: Russell and Norvig, Artificial Intelligence, section 5.5, without an opponent.
type search struct {
	rules  *game.Rules
	leaves leaves
	rare   bool // look at new 4s below the first round
	known  table
}

// valuer returns what values the boards after a move, with so many rounds to come.
func (s *search) valuer(rounds int) valuer {
	s.known.reset()
	return func(next game.Board) (int64, error) { return s.expect(next, rounds, true) }
}

// after returns the value of b, the move being made, with so many rounds to come. It is kept: it does not depend on how b came about.
func (s *search) after(b game.Board, rounds int) (int64, error) {
	if known := s.known.get(b); known != nil && int(known.level) == rounds {
		return known.value, nil
	}
	v, err := s.expect(b, rounds, s.rare)
	if err == nil {
		s.known.put(b, rounds, v)
	}
	return v, err
}

// expect returns the value of b with so many rounds to come, of which the first has 4s if fours is set.
func (s *search) expect(b game.Board, rounds int, fours bool) (int64, error) {
	var two, four int64
	var err error
	switch rounds {
	case 0:
		return s.leaves.value(b), nil
	case 1:
		two, four, err = s.leaves.lastRound(b, fours)
	default:
		two, four, err = s.leaves.round(b, fours, func(next game.Board, _ int) (int64, error) { return s.after(next, rounds-1) })
	}
	if err != nil {
		return 0, err
	}
	return mean(two, four, s.rules.Empties(b), fours), nil
}

// bestMove returns the move of legal with the largest value, the first in the order of the directions if there are several. Where there is
// one its value is not asked for.
func bestMove(rules *game.Rules, b game.Board, legal game.Moves, value func(next game.Board) (int64, error)) (game.Dir, error) {
	var next [4]game.Board
	_, overflow := rules.Moved(b, &next)
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
