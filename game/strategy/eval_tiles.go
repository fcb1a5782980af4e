package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// newTileEvaluation returns an evaluation of boards after a move. It is the mean value of the inner evaluation over all new tiles. A lost board has
// the value of the inner evaluation.
func newTileEvaluation(rules *game.Rules, inner evaluation) evaluation {
	if quad, ok := inner.(*quadEvaluation); ok {
		return &boardEvaluation{rules: rules, valueOf: quad.meanOverTiles, valueOfLost: quad.value}
	}
	return &boardEvaluation{rules: rules, valueOfLost: inner.value, valueOf: func(board game.Board) int64 {
		empties := rules.NumEmptyCells(board)
		var two, four int64
		for empty := range empties {
			two += inner.value(rules.Spawn(board, empty, 1))
			four += inner.value(rules.Spawn(board, empty, 2))
		}
		return mean(two, four, empties, true)
	}}
}

// meanOverTiles returns the mean of the values of a board with a new tile. It is fast, because a new tile changes only the values of two lines.
func (q *quadEvaluation) meanOverTiles(board game.Board) int64 {
	b := uint64(board)
	empty, t := emptyCells(b), transposed(b)
	n := bits.OnesCount64(empty)
	value := q.value(board)
	two, four := int64(n)*value, int64(n)*value
	for ; empty != 0; empty &= empty - 1 {
		at := uint(bits.TrailingZeros64(empty))
		i, j := at>>4&3, at>>2&3
		row, col := uint16(b>>(16*i)), uint16(t>>(16*j))
		rest := q.rows[i][row] + q.cols[j][col]
		two += q.rows[i][row|1<<(4*j)] + q.cols[j][col|1<<(4*i)] - rest
		four += q.rows[i][row|2<<(4*j)] + q.cols[j][col|2<<(4*i)] - rest
	}
	return mean(two, four, n, true)
}
