package modelgen

import (
	"slices"

	"tilecheck/prism/syntax"
)

// question is a condition on a row of a table: an expression of the model, and its answer for each
// row.
type question struct {
	x       syntax.Expr
	answers []bool
}

// decide returns an integer expression with the value classes[i] for the board and memory of
// rows[i]. For other boards it may have any value.
//
// It is a decision tree. Each node asks the question that separates the classes best by the Gini
// impurity; ties go to the first. The legal moves are among the questions, so a preference list
// stays one.
//
// Source: L. Breiman et al., Classification and Regression Trees, 1984, chapter 2.
func (g *grid) decide(rows []TableRow, classes []int) syntax.Expr {
	t := &tree{questions: g.questions(rows), classes: classes}
	size := slices.Max(classes) + 1
	t.yes, t.no = make([]int, size), make([]int, size)
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	return t.node(all)
}

// tree is the data that the nodes of a tree share while it is built.
type tree struct {
	questions []question
	classes   []int
	yes, no   []int // rows of each class on each side of a question; zero between uses
}

func (t *tree) node(rows []int) syntax.Expr {
	first := t.classes[rows[0]]
	if !slices.ContainsFunc(rows, func(r int) bool { return t.classes[r] != first }) {
		return intLit(first)
	}
	q := t.best(rows)
	var yes, no []int
	for _, r := range rows {
		if q.answers[r] {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return paren(&syntax.Cond{C: q.x, T: t.node(yes), E: t.node(no)})
}

// best returns the question with the highest purity. Rows of different classes differ in some
// answer, so a splitting question exists.
func (t *tree) best(rows []int) *question {
	best, most := -1, 0.0
	for i := range t.questions {
		if purity, splits := t.purity(&t.questions[i], rows); splits && (best < 0 || purity > most) {
			best, most = i, purity
		}
	}
	return &t.questions[best]
}

// purity is the sum over both sides of the squared numbers of each class, over the number of rows: the expected number of rows that
// are in the class of a row drawn from the same side.
func (t *tree) purity(q *question, rows []int) (purity float64, splits bool) {
	var squares, total [2]int
	for _, r := range rows {
		c := t.classes[r]
		// (n+1)^2 - n^2 = 2n+1
		if q.answers[r] {
			squares[0] += 2*t.yes[c] + 1
			t.yes[c]++
			total[0]++
		} else {
			squares[1] += 2*t.no[c] + 1
			t.no[c]++
			total[1]++
		}
	}
	for _, r := range rows {
		t.yes[t.classes[r]], t.no[t.classes[r]] = 0, 0
	}
	if total[0] == 0 || total[1] == 0 {
		return 0, false
	}
	return float64(squares[0])/float64(total[0]) + float64(squares[1])/float64(total[1]), true
}

// questions returns all questions: which moves are legal, how neighbours compare, how large a tile
// is, and the value of the memory. The last two distinguish any two rows.
func (g *grid) questions(rows []TableRow) []question {
	var all []question
	ask := func(x syntax.Expr, holds func(r *TableRow) bool) {
		q := question{x: x, answers: make([]bool, len(rows))}
		for i := range rows {
			q.answers[i] = holds(&rows[i])
		}
		if slices.Contains(q.answers, true) && slices.Contains(q.answers, false) {
			all = append(all, q)
		}
	}
	for _, m := range allMoves() {
		pairs := g.indices(m)
		ask(ident(m.canMove()), func(r *TableRow) bool { return slides(pairs, r.Cells) })
	}
	for _, v := range distinct(rows, func(r *TableRow) []int { return []int{r.Memory} }) {
		ask(is(memory, v), func(r *TableRow) bool { return r.Memory == v })
	}
	for _, p := range slices.Concat(g.indices(Left), g.indices(Up)) {
		near, far := ident(g.cells[p[0]]), ident(g.cells[p[1]])
		ask(eq(near, far), func(r *TableRow) bool { return r.Cells[p[0]] == r.Cells[p[1]] })
		ask(binary(syntax.OpLt, near, far), func(r *TableRow) bool { return r.Cells[p[0]] < r.Cells[p[1]] })
	}
	tiles := distinct(rows, func(r *TableRow) []int { return r.Cells })
	for i, cell := range g.cells {
		for _, v := range tiles {
			x := binary(syntax.OpLe, ident(cell), intLit(v))
			if v == 0 {
				x = is(cell, 0)
			}
			ask(x, func(r *TableRow) bool { return r.Cells[i] <= v })
		}
	}
	return all
}

// indices returns the pairs of neighbours along a move as indices of cells, the nearer one first.
func (g *grid) indices(m Move) [][2]int {
	var all [][2]int
	for _, p := range g.pairs(m) {
		all = append(all, [2]int{slices.Index(g.cells, p.near), slices.Index(g.cells, p.far)})
	}
	return all
}

// slides evaluates grid.legal.
func slides(pairs [][2]int, cells []int) bool {
	return slices.ContainsFunc(pairs, func(p [2]int) bool {
		near, far := cells[p[0]], cells[p[1]]
		return near == 0 && far != 0 || near != 0 && near == far
	})
}

// distinct returns the different values in rows, in ascending order.
func distinct(rows []TableRow, of func(r *TableRow) []int) []int {
	seen := map[int]bool{}
	var all []int
	for i := range rows {
		for _, v := range of(&rows[i]) {
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}
