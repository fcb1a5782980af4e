package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// countEvaluation is the evaluation sum * blank^2 / filled^2, from the sum of the tiles and the numbers of blank and filled cells. A board
// without blank cells, so also a lost board, has the value 0.
//
// The source evaluates boards after the new tile. The value does not depend on the cell of the new tile, so a board before it is evaluated as
// if it had one more 2. (At depth 1 the new tile can also be a 4. This multiplies the values of all moves by the same factor, because all
// have the same sum.)
//
// Source: Lewis, Powell and Sajnani, section 5.2.
type countEvaluation struct {
	rules *game.Rules
	// blankFactors has blank^2 / filled^2 by the number of blanks, in blankUnit; 0 if all cells are blank.
	blankFactors [game.MaxCells + 1]int64
}

// blankUnit is the value 1 of blankFactors. No sum overflows: a board has at most the value 2^15 * 15^2, with one tile.
const blankUnit = 1 << 28

// newCountEvaluation returns an evaluation by the number of blank cells and the sum of the tiles. It is faster on 4x4 boards.
func newCountEvaluation(rules *game.Rules) evaluation {
	counts := &countEvaluation{rules: rules}
	cells := rules.Shape().Cells()
	for blank := range cells {
		filled := cells - blank
		counts.blankFactors[blank] = blankUnit * int64(blank*blank) / int64(filled*filled)
	}
	plain := boardEvaluation{rules: rules, valueOf: counts.valueOf}
	if rules.Shape() == (game.Shape{Rows: 4, Cols: 4}) {
		return newQuadCounts(plain, counts)
	}
	return &plain
}

// valueOf returns the value of a board with one more 2.
func (c *countEvaluation) valueOf(board game.Board) int64 {
	return c.blankFactors[c.rules.NumEmptyCells(board)-1] * (tileSum(board) + 2)
}

// tileSum returns the sum of the tiles.
func tileSum(board game.Board) int64 {
	sum := 0
	for ; board != 0; board >>= 4 {
		sum += game.Value(int(board & 15))
	}
	return int64(sum)
}

// quadCountEvaluation is the countEvaluation for 4x4 boards. It uses that both moves along an axis merge the same number of tiles.
type quadCountEvaluation struct {
	boardEvaluation
	blankFactors *[game.MaxCells + 1]int64
	slides       *[1 << 16]slideCount
}

// slideCount has the effects of the two moves along a line.
type slideCount struct {
	merges int8
	moves  int8 // 1 if either move changes the line
}

// newQuadCounts returns the evaluation for 4x4 boards. It computes the merges of each line in advance.
func newQuadCounts(plain boardEvaluation, counts *countEvaluation) *quadCountEvaluation {
	result := &quadCountEvaluation{boardEvaluation: plain, blankFactors: &counts.blankFactors, slides: new([1 << 16]slideCount)}
	for line := range result.slides {
		row := game.Board(line)
		next, _, _ := plain.rules.Move(row, game.Left)
		count := slideCount{merges: int8(plain.rules.NumEmptyCells(next) - plain.rules.NumEmptyCells(row))}
		if legal := plain.rules.Legal(row); legal.Has(game.Left) || legal.Has(game.Right) {
			count.moves = 1
		}
		result.slides[line] = count
	}
	return result
}

// countAxis counts, for each line of an axis, the merges and the changed lines among the other three lines.
type countAxis struct {
	lines         [4]uint16
	merges, moves [4]int
}

// setLines sets the four lines of a board along the axis. For each line it computes the numbers of merges and of moves of the other three lines.
func (a *countAxis) setLines(lines uint64, slides *[1 << 16]slideCount) {
	merges, moves := 0, 0
	for i := range 4 {
		a.lines[i] = uint16(lines >> (16 * i))
		count := slides[a.lines[i]]
		a.merges[i], a.moves[i] = int(count.merges), int(count.moves)
		merges += a.merges[i]
		moves += a.moves[i]
	}
	for i := range 4 {
		a.merges[i] = merges - a.merges[i]
		a.moves[i] = moves - a.moves[i]
	}
}

// blanks returns the number of cells that become blank by a move along the axis, after a new tile with an exponent in a cell of a line. It returns -1
// if the move is not legal.
func (a *countAxis) blanks(line, cell uint, exponent uint16, slides *[1 << 16]slideCount) int {
	count := slides[a.lines[line&3]|exponent<<(4*cell&15)]
	blank := a.merges[line&3] + int(count.merges)
	if a.moves[line&3]+int(count.moves) == 0 {
		blank = -1
	}
	return blank
}

func (q *quadCountEvaluation) sumOverLastTiles(board game.Board, fours bool) (two, four int64, err error) {
	packed := uint64(board)
	if twoLargest(packed) {
		return q.boardEvaluation.sumOverLastTiles(board, fours)
	}
	var horizontal, vertical countAxis
	horizontal.setLines(packed, q.slides)
	vertical.setLines(transposed(packed), q.slides)
	empty := emptyCells(packed)
	numEmpty := bits.OnesCount64(empty)
	for ; empty != 0; empty &= empty - 1 {
		cell := uint(bits.TrailingZeros64(empty)) / 4
		i, j := cell/4&3, cell&3
		two += q.blankFactor(numEmpty, max(horizontal.blanks(i, j, 1, q.slides), vertical.blanks(j, i, 1, q.slides)))
		if fours {
			four += q.blankFactor(numEmpty, max(horizontal.blanks(i, j, 2, q.slides), vertical.blanks(j, i, 2, q.slides)))
		}
	}
	sum := tileSum(board)
	return two * (sum + 4), four * (sum + 6), nil
}

// blankFactor returns the factor of the sum for a board with n blanks, after two new tiles and a move that makes more cells blank.
func (q *quadCountEvaluation) blankFactor(n, made int) int64 {
	if made < 0 {
		return 0
	}
	return q.blankFactors[(n-2+made)&15]
}
