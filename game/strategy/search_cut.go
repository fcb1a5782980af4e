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

// after returns the value of a board after a move. rounds is the number of earlier rounds of the search, and probability is the probability of the new
// tiles in these rounds. The search ends at its depth, or if the probability is less than the cutoff.
func (s *cutSearch) after(board game.Board, rounds int, probability float32) (int64, error) {
	if probability < s.cutoff || rounds >= s.depth {
		return s.evaluation.value(board), nil
	}
	if cached := s.table.get(board); cached != nil && int(cached.level) <= rounds {
		return cached.value, nil
	}
	empties := s.rules.NumEmptyCells(board)
	two, four, err := s.sumOverTiles(board, rounds, probability/float32(empties))
	if err != nil {
		return 0, err
	}
	value := mean(two, four, empties, true)
	s.table.put(board, rounds, value)
	return value, nil
}

// sumOverTiles returns the sums, over the empty cells, of the values of the best moves after a new 2 and after a new 4. probability is the probability
// of the earlier new tiles, times the probability of one empty cell.
func (s *cutSearch) sumOverTiles(board game.Board, rounds int, probability float32) (two, four int64, err error) {
	probabilities := [...]float32{1: probability * 0.9, 2: probability * 0.1}
	if rounds+1 >= s.depth || probabilities[1] < s.cutoff {
		return s.evaluation.sumOverLastTiles(board, true)
	}
	return s.evaluation.sumOverTiles(board, true, func(next game.Board, exponent int) (int64, error) {
		return s.after(next, rounds+1, probabilities[exponent])
	})
}
