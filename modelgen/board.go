package modelgen

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// grid is the board's variables.
type grid struct {
	rows, cols int
	cells      []string // row-major
}

// newGrid returns the board with the variables v_0, v_1 and so on.
func newGrid(rows, cols int) *grid {
	g := &grid{rows: rows, cols: cols, cells: make([]string, rows*cols)}
	for i := range g.cells {
		g.cells[i] = fmt.Sprintf("v_%d", i)
	}
	return g
}

func (g *grid) row(i int) line { return g.cells[i*g.cols : (i+1)*g.cols] }

func (g *grid) col(i int) line {
	l := make(line, g.rows)
	for r := range l {
		l[r] = g.cells[r*g.cols+i]
	}
	return l
}

// lines returns the rows or columns that a move slides along, in order.
func (g *grid) lines(m Move) []line {
	n, at := g.rows, g.row
	if m.vertical() {
		n, at = g.cols, g.col
	}
	ls := make([]line, n)
	for i := range ls {
		ls[i] = slices.Clone(at(i))
		if m == Right || m == Down {
			slices.Reverse(ls[i])
		}
	}
	return ls
}

// count names the formula that counts the tiles in line i of a move.
func (m Move) count(i int) string {
	if m.vertical() {
		return fmt.Sprintf("tiles_col_%d", i)
	}
	return fmt.Sprintf("tiles_row_%d", i)
}

// columns returns the number of columns of a generated model's board, from the names of its
// formulas, some of which count the tiles of a line; 0 if there is no board with this number of
// cells.
func columns(formulas []string, cells int) int {
	count := func(m Move) int {
		n := 0
		for slices.Contains(formulas, m.count(n)) {
			n++
		}
		return n
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

// pair is two neighbours; near is the one closer to the wall that the tiles move to.
type pair struct{ near, far string }

func (l line) pairs() []pair {
	var ps []pair
	for i := 1; i < len(l); i++ {
		ps = append(ps, pair{l[i-1], l[i]})
	}
	return ps
}

func (g *grid) pairs(m Move) []pair {
	var ps []pair
	for _, l := range g.lines(m) {
		ps = append(ps, l.pairs()...)
	}
	return ps
}

// legal is true when the move changes the board.
//
// Source: thesis section 3.6, movable and mergeable.
func (g *grid) legal(m Move) syntax.Expr {
	var ways []syntax.Expr
	for _, p := range g.pairs(m) {
		movable := and(isNot(p.far, 0), is(p.near, 0))
		mergeable := and(isNot(p.near, 0), eq(ident(p.near), ident(p.far)))
		ways = append(ways, paren(movable), paren(mergeable))
	}
	return or(ways...)
}

// moved returns the assignments of a move, one for each cell in order. after returns the value of
// place j of line i.
func (g *grid) moved(m Move, after func(i int, l line, j int) syntax.Expr) []*syntax.Assign {
	byCell := map[string]*syntax.Assign{}
	for i, l := range g.lines(m) {
		for j, cell := range l {
			byCell[cell] = assign(cell, after(i, l, j))
		}
	}
	assigns := make([]*syntax.Assign, len(g.cells))
	for i, cell := range g.cells {
		assigns[i] = byCell[cell]
	}
	return assigns
}

// stuck is true when no two neighbours are equal.
func (g *grid) stuck() []syntax.Expr {
	var xs []syntax.Expr
	for _, p := range slices.Concat(g.pairs(Left), g.pairs(Up)) {
		xs = append(xs, ne(ident(p.near), ident(p.far)))
	}
	return xs
}
