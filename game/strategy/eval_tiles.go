package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// newTileEvaluation returns an evaluation whose value is the mean, over the new tile, of the values of another evaluation. The value of a lost
// board is that of the other evaluation.
func newTileEvaluation(rules *game.Rules, of evaluation) evaluation {
	if q, ok := of.(*quadEvaluation); ok {
		return &boardEvaluation{rules: rules, valueOf: q.meanOverTiles, valueOfLost: q.value}
	}
	return &boardEvaluation{rules: rules, valueOfLost: of.value, valueOf: func(board game.Board) int64 {
		n := rules.Empties(board)
		var two, four int64
		for k := range n {
			two += of.value(rules.Spawn(board, k, 1))
			four += of.value(rules.Spawn(board, k, 2))
		}
		return mean(two, four, n, true)
	}}
}

// meanOverTiles returns the mean of the values of board with a new tile. Only two lines change for each new tile.
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
