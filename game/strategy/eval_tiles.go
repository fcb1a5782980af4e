package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// newTileLeaves returns leaves that are worth the mean, over the new tile, of what the boards with it are worth by other leaves. A lost
// board, which has no room for a new tile, is worth what it is by the others.
func newTileLeaves(rules *game.Rules, of leaves) leaves {
	if q, ok := of.(*quadLeaves); ok {
		return &plainLeaves{rules: rules, worth: q.tiled, lost: q.value}
	}
	return &plainLeaves{rules: rules, lost: of.value, worth: func(b game.Board) int64 {
		n := rules.Empties(b)
		var two, four int64
		for k := range n {
			two += of.value(rules.Spawn(b, k, 1))
			four += of.value(rules.Spawn(b, k, 2))
		}
		return mean(two, four, n, true)
	}}
}

// tiled returns the mean of the values of b with a new tile. Of the lines only two change.
func (q *quadLeaves) tiled(board game.Board) int64 {
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
