package strategy

import "tilecheck/game"

// lineSum is an evaluation that is a sum over the rows and columns of a board.
type lineSum struct {
	shape      game.Shape
	rows, cols []*lineTable
}

// newLineSum returns the evaluation that adds the values of all lines. row(i) is the table for row i, read from the left, and col(j) is the table for
// column j, read from the top.
func newLineSum(shape game.Shape, row, col func(i int) *lineTable) *lineSum {
	sum := &lineSum{shape: shape}
	for i := range shape.Rows {
		sum.rows = append(sum.rows, row(i))
	}
	for j := range shape.Cols {
		sum.cols = append(sum.cols, col(j))
	}
	return sum
}

// value returns the sum of the values of all rows and columns of a board.
func (s *lineSum) value(board game.Board) int64 {
	sum := int64(0)
	for i, table := range s.rows {
		sum += table.at(s.row(board, i))
	}
	for j, table := range s.cols {
		sum += table.at(s.col(board, j))
	}
	return sum
}

// row returns row i of a board as packed cells, the leftmost first.
func (s *lineSum) row(board game.Board, i int) uint64 {
	return uint64(board) >> (4 * i * s.shape.Cols) & (1<<(4*s.shape.Cols) - 1)
}

// col returns column j of a board as packed cells, the uppermost first.
func (s *lineSum) col(board game.Board, j int) uint64 {
	var line uint64
	for i := range s.shape.Rows {
		line |= uint64(board) >> (4 * (i*s.shape.Cols + j)) & 15 << (4 * i)
	}
	return line
}

// maxTabled is the length of the longest line for which all values are stored.
const maxTabled = 4

// lineTable gives the value of a line of cells.
type lineTable struct {
	cells  int
	score  func(line []int) int64 // value of a line of exponents, which it does not modify
	values []int64                // by packed cells; nil if cells > maxTabled
}

// newLineTable returns a function from lines of cells to their score. For short lines, it computes all scores in advance.
func newLineTable(cells int, score func(line []int) int64) *lineTable {
	table := &lineTable{cells: cells, score: score}
	if cells > maxTabled {
		return table
	}
	table.values = make([]int64, 1<<(4*cells))
	line := make([]int, cells)
	for packed := range table.values {
		unpack(line, uint64(packed))
		table.values[packed] = score(line)
	}
	return table
}

// at returns the value of a line, whose cells have four bits each.
func (t *lineTable) at(line uint64) int64 {
	if t.values != nil {
		return t.values[line]
	}
	cells := make([]int, t.cells)
	unpack(cells, line)
	return t.score(cells)
}

// unpack sets cells to the exponents of a line of packed cells.
func unpack(cells []int, line uint64) {
	for i := range cells {
		cells[i] = int(line >> (4 * i) & 15)
	}
}

// newLineEvaluation returns the evaluation by a sum over lines. lost is valueOfLost of boardEvaluation.
func newLineEvaluation(rules *game.Rules, sum *lineSum, lost func(board game.Board) int64) evaluation {
	plain := boardEvaluation{rules: rules, valueOf: sum.value, valueOfLost: lost}
	if sum.shape == (game.Shape{Rows: 4, Cols: 4}) {
		return newQuadEvaluation(plain, sum)
	}
	return &plain
}
