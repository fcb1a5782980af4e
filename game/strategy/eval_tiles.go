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
	packed := uint64(board)
	empty, columns := emptyCells(packed), transposed(packed)
	numEmpty := bits.OnesCount64(empty)
	value := q.value(board)
	two, four := int64(numEmpty)*value, int64(numEmpty)*value
	for ; empty != 0; empty &= empty - 1 {
		shift := uint(bits.TrailingZeros64(empty))
		i, j := shift>>4&3, shift>>2&3
		row, col := uint16(packed>>(16*i)), uint16(columns>>(16*j))
		withoutTile := q.rows[i][row] + q.cols[j][col]
		two += q.rows[i][row|1<<(4*j)] + q.cols[j][col|1<<(4*i)] - withoutTile
		four += q.rows[i][row|2<<(4*j)] + q.cols[j][col|2<<(4*i)] - withoutTile
	}
	return mean(two, four, numEmpty, true)
}
