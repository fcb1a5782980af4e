package modelgen

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// grid has the names of the variables for the cells of a board.
type grid struct {
	rows, cols int
	cells      []string // row-major
}

// newGrid returns a board whose cells are the variables v_0, v_1 and so on, row by row.
func newGrid(rows, cols int) *grid {
	g := &grid{rows: rows, cols: cols, cells: make([]string, rows*cols)}
	for i := range g.cells {
		g.cells[i] = fmt.Sprintf("v_%d", i)
	}
	return g
}

// row returns the cells of row i from left to right.
func (g *grid) row(i int) line { return g.cells[i*g.cols : (i+1)*g.cols] }

// col returns the cells of column i from top to bottom.
func (g *grid) col(i int) line {
	l := make(line, g.rows)
	for r := range l {
		l[r] = g.cells[r*g.cols+i]
	}
	return l
}

// lines returns the rows, or for a vertical move the columns, each starting at the wall that the tiles move to.
func (g *grid) lines(move Move) []line {
	numLines, lineAt := g.rows, g.row
	if move.vertical() {
		numLines, lineAt = g.cols, g.col
	}
	lines := make([]line, numLines)
	for index := range lines {
		lines[index] = slices.Clone(lineAt(index))
		if move == Right || move == Down {
			slices.Reverse(lines[index])
		}
	}
	return lines
}

// countFormula returns the name of the formula that counts the tiles in row i, or for a vertical move in column i.
func (m Move) countFormula(i int) string {
	if m.vertical() {
		return fmt.Sprintf("tiles_col_%d", i)
	}
	return fmt.Sprintf("tiles_row_%d", i)
}

// boardColumns returns the number of columns of a generated model's board. It finds the number from the names of the model's formulas: there is one
// for each row and each column that counts its tiles. It returns 0 if the formulas do not fit the number of cells.
func boardColumns(formulas []string, cells int) int {
	count := func(move Move) int {
		lines := 0
		for slices.Contains(formulas, move.countFormula(lines)) {
			lines++
		}
		return lines
	}
	cols, rows := count(Up), count(Left)
	switch {
	case cols == 0 && rows == 1: // no tile moves up or down
		cols = cells
	case cols == 1 && rows == 0:
		rows = cells
	}
	if cols*rows != cells || cells == 0 {
		return 0
	}
	return cols
}

// pair has two neighbouring cells; near is closer to the wall that the tiles move to.
type pair struct{ near, far string }

// neighbours returns the pairs of neighbouring cells of a line.
func (l line) neighbours() []pair {
	var pairs []pair
	for index := 1; index < len(l); index++ {
		pairs = append(pairs, pair{l[index-1], l[index]})
	}
	return pairs
}

// neighbours returns the pairs of neighbouring cells of all lines along a move.
func (g *grid) neighbours(move Move) []pair {
	var pairs []pair
	for _, line := range g.lines(move) {
		pairs = append(pairs, line.neighbours()...)
	}
	return pairs
}

// legalMove returns the condition that a move is legal, that is, that it changes the board.
//
// Source: thesis section 3.6, movable and mergeable.
func (g *grid) legalMove(move Move) syntax.Expr {
	var alternatives []syntax.Expr
	for _, pair := range g.neighbours(move) {
		movable := and(isNot(pair.far, 0), is(pair.near, 0))
		mergeable := and(isNot(pair.near, 0), eq(ident(pair.near), ident(pair.far)))
		alternatives = append(alternatives, paren(movable), paren(mergeable))
	}
	return or(alternatives...)
}

// assignments returns the assignments of a move, one for each cell, in the order of the cells. valueAt returns the new value of a place in the line
// with an index.
func (g *grid) assignments(move Move, valueAt func(index int, line line, place int) syntax.Expr) []*syntax.Assign {
	byCell := map[string]*syntax.Assign{}
	for index, line := range g.lines(move) {
		for place, cell := range line {
			byCell[cell] = assign(cell, valueAt(index, line, place))
		}
	}
	assigns := make([]*syntax.Assign, len(g.cells))
	for index, cell := range g.cells {
		assigns[index] = byCell[cell]
	}
	return assigns
}

// unequalNeighbours returns a condition for each pair of neighbouring cells: the tiles differ.
func (g *grid) unequalNeighbours() []syntax.Expr {
	var conditions []syntax.Expr
	for _, pair := range slices.Concat(g.neighbours(Left), g.neighbours(Up)) {
		conditions = append(conditions, ne(ident(pair.near), ident(pair.far)))
	}
	return conditions
}
