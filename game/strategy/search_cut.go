package strategy

import "tilecheck/game"

// cutSearch is expectimax that ends a branch when the probability of its new tiles is below a cutoff.
//
// It stores values and uses them again for the same board at the same or a greater depth. Such a value can differ slightly from the exact one,
// because the probability of its branch was another. So the value of a move depends on the order in which the search visits boards. This
// order is fixed, and stored values are cleared before each move, so a result does not depend on earlier searches.
//
// Source: https://github.com/nneonneo/2048-ai (MIT), score_tilechoose_node, whose values these are but for rounding.
type cutSearch struct {
	rules      *game.Rules
	evaluation evaluation
	cutoff     float32 // smallest probability of a branch that is searched
	depth      int     // largest number of rounds
	table      searchTable
}

// valuer returns the function that values boards after a move, with at most depth more rounds.
func (s *cutSearch) valuer(depth int) valuer {
	s.depth = depth
	return func(next game.Board) (int64, error) {
		s.table.reset()
		return s.after(next, 0, 1)
	}
}

// after returns the value of b, a board after a move, in a branch of that many rounds whose new tiles have the probability prob.
func (s *cutSearch) after(board game.Board, rounds int, prob float32) (int64, error) {
	if prob < s.cutoff || rounds >= s.depth {
		return s.evaluation.value(board), nil
	}
	if known := s.table.get(board); known != nil && int(known.level) <= rounds {
		return known.value, nil
	}
	n := s.rules.Empties(board)
	two, four, err := s.sumOverTiles(board, rounds, prob/float32(n))
	if err != nil {
		return 0, err
	}
	v := mean(two, four, n, true)
	s.table.put(board, rounds, v)
	return v, nil
}

// sumOverTiles returns evaluation.sumOverTiles of the values that after computes. prob is the probability of the branch and of one cell for the
// new tile.
func (s *cutSearch) sumOverTiles(board game.Board, rounds int, prob float32) (two, four int64, err error) {
	probs := [...]float32{1: prob * 0.9, 2: prob * 0.1}
	if rounds+1 >= s.depth || probs[1] < s.cutoff {
		return s.evaluation.sumOverLastTiles(board, true)
	}
	return s.evaluation.sumOverTiles(board, true, func(next game.Board, exp int) (int64, error) {
		return s.after(next, rounds+1, probs[exp])
	})
}
