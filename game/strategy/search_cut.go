package strategy

import "tilecheck/game"

// cutSearch is a search that does not look further where the new tiles on the way there are improbable together.
//
// Values are kept, and are used again for the same board as deep in the search or deeper. They are then not quite those of a search
// without memory: the way there was more or less probable. So what a move is worth depends on the order in which the search looks at
// boards, which is fixed, but not on any search before: what is kept is forgotten before every move.
//
// Source: https://github.com/nneonneo/2048-ai (MIT), score_tilechoose_node, whose values these are but for rounding.
type cutSearch struct {
	rules  *game.Rules
	leaves leaves
	cutoff float32 // the probability
	depth  int     // rounds at most
	known  table
}

// valuer returns what values the boards after a move, with so many rounds to come at most.
func (s *cutSearch) valuer(depth int) valuer {
	s.depth = depth
	return func(next game.Board) (int64, error) {
		s.known.reset()
		return s.after(next, 0, 1)
	}
}

// after returns the value of b, the move being made, after so many rounds, of which the new tiles had the probability prob.
func (s *cutSearch) after(b game.Board, rounds int, prob float32) (int64, error) {
	if prob < s.cutoff || rounds >= s.depth {
		return s.leaves.value(b), nil
	}
	if known := s.known.get(b); known != nil && int(known.level) <= rounds {
		return known.value, nil
	}
	n := s.rules.Empties(b)
	two, four, err := s.round(b, rounds, prob/float32(n))
	if err != nil {
		return 0, err
	}
	v := mean(two, four, n, true)
	s.known.put(b, rounds, v)
	return v, nil
}

// round returns the sums over the cells for the new tile of what the best move is worth after a 2 and after a 4. The new tile is in one
// cell, and the new tiles before are what they are, with probability prob.
func (s *cutSearch) round(b game.Board, rounds int, prob float32) (two, four int64, err error) {
	probs := [...]float32{1: prob * 0.9, 2: prob * 0.1}
	if rounds+1 >= s.depth || probs[1] < s.cutoff {
		return s.leaves.lastRound(b, true)
	}
	return s.leaves.round(b, true, func(next game.Board, exp int) (int64, error) {
		return s.after(next, rounds+1, probs[exp])
	})
}
