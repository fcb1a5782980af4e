package strategy

import (
	"math/bits"

	"tilecheck/game"
)

// counts is the evaluation sum * blank^2 / filled^2: the sum of the tiles, and how many cells are blank and filled. A lost board is worth
// 0, as every board without a blank is.
//
// It is that of boards with the last new tile, which is a 2, and does not depend on where that is put: a board on which the move is made
// is worth what it is with a 2 more. (Where the last new tile is the first as well, at depth 1, a 4 is as likely as elsewhere. That makes
// all moves worth more in the same proportion, since the sum is the same for all.)
//
// Source: Lewis, Powell and Sajnani, section 5.2.
type counts struct {
	rules *game.Rules
	// shares has blank^2 / filled^2 by the number of blanks, in a unit of its own; 0 when all cells are blank.
	shares [game.MaxCells + 1]int64
}

// shareUnit is the value 1 of shares. Boards of one tile are worth most, 2^15 * 15^2: sums of ten times as many as there are cells fit.
const shareUnit = 1 << 28

// newCountLeaves returns the leaves that counts evaluates.
func newCountLeaves(rules *game.Rules) leaves {
	c := &counts{rules: rules}
	cells := rules.Shape().Cells()
	for blank := range cells {
		filled := cells - blank
		c.shares[blank] = shareUnit * int64(blank*blank) / int64(filled*filled)
	}
	plain := plainLeaves{rules: rules, worth: c.worth}
	if rules.Shape() == (game.Shape{Rows: 4, Cols: 4}) {
		return newQuadCounts(plain, c)
	}
	return &plain
}

// worth returns the value of a board with a 2 more.
func (c *counts) worth(b game.Board) int64 {
	return c.shares[c.rules.Empties(b)-1] * (tileSum(b) + 2)
}

// tileSum returns the sum of the tiles.
func tileSum(b game.Board) int64 {
	sum := 0
	for ; b != 0; b >>= 4 {
		sum += game.Value(int(b & 15))
	}
	return int64(sum)
}

// quadCounts are the leaves of 4x4 boards that counts evaluates. A move makes as many cells blank as tiles merge, whichever way along an
// axis it goes.
type quadCounts struct {
	plainLeaves
	shares *[game.MaxCells + 1]int64
	slides *[1 << 16]slideCount
}

// slideCount is what the moves along a line do.
type slideCount struct {
	merges int8
	moves  int8 // 1 if either move changes the line
}

func newQuadCounts(plain plainLeaves, c *counts) *quadCounts {
	q := &quadCounts{plainLeaves: plain, shares: &c.shares, slides: new([1 << 16]slideCount)}
	for line := range q.slides {
		b := game.Board(line)
		next, _, _ := plain.rules.Move(b, game.Left)
		s := slideCount{merges: int8(plain.rules.Empties(next) - plain.rules.Empties(b))}
		if legal := plain.rules.Legal(b); legal.Has(game.Left) || legal.Has(game.Right) {
			s.moves = 1
		}
		q.slides[line] = s
	}
	return q
}

// countAxis counts the merges along the lines of an axis, and the lines that move, but for one line.
type countAxis struct {
	lines         [4]uint16
	merges, moves [4]int
}

func (a *countAxis) set(lines uint64, slides *[1 << 16]slideCount) {
	merges, moves := 0, 0
	for i := range 4 {
		a.lines[i] = uint16(lines >> (16 * i))
		s := slides[a.lines[i]]
		a.merges[i], a.moves[i] = int(s.merges), int(s.moves)
		merges += a.merges[i]
		moves += a.moves[i]
	}
	for i := range 4 {
		a.merges[i] = merges - a.merges[i]
		a.moves[i] = moves - a.moves[i]
	}
}

// blanks returns how many cells a move along the axis makes blank after a tile of exponent exp is put into cell at of line i; -1 if it is
// not legal.
func (a *countAxis) blanks(i, at uint, exp uint16, slides *[1 << 16]slideCount) int {
	s := slides[a.lines[i&3]|exp<<(4*at&15)]
	n := a.merges[i&3] + int(s.merges)
	if a.moves[i&3]+int(s.moves) == 0 {
		n = -1
	}
	return n
}

func (q *quadCounts) lastRound(board game.Board, fours bool) (two, four int64, err error) {
	b := uint64(board)
	if twoLargest(b) {
		return q.plainLeaves.lastRound(board, fours)
	}
	var h, v countAxis
	h.set(b, q.slides)
	v.set(transposed(b), q.slides)
	empty := emptyCells(b)
	n := bits.OnesCount64(empty)
	for ; empty != 0; empty &= empty - 1 {
		at := uint(bits.TrailingZeros64(empty)) / 4
		i, j := at/4&3, at&3
		two += q.share(n, max(h.blanks(i, j, 1, q.slides), v.blanks(j, i, 1, q.slides)))
		if fours {
			four += q.share(n, max(h.blanks(i, j, 2, q.slides), v.blanks(j, i, 2, q.slides)))
		}
	}
	sum := tileSum(board)
	return two * (sum + 4), four * (sum + 6), nil
}

// share returns what a unit of the sum is worth when two tiles are put on a board with n blanks, and a move between makes so many blank.
func (q *quadCounts) share(n, made int) int64 {
	if made < 0 {
		return 0
	}
	return q.shares[(n-2+made)&15]
}
