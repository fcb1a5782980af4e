package modelgen

import (
	"slices"

	"tilecheck/prism/syntax"
)

// question is a condition on a row of a table: an expression of the model, and whether it holds for each row.
type question struct {
	condition syntax.Expr
	answers   []bool
}

// decisionTree returns an integer expression that has the value classes[i] for the board and memory of rows[i]. For other boards it may have any
// value.
//
// Each inner node asks the question that separates the classes best by the Gini impurity; the first of several best ones. The legal moves are among
// the questions, so the tree of a preference list is the list.
//
// Source: L. Breiman et al., Classification and Regression Trees, 1984, chapter 2.
func (g *grid) decisionTree(rows []TableRow, classes []int) syntax.Expr {
	tree := &tree{questions: g.questions(rows), classes: classes}
	size := slices.Max(classes) + 1
	tree.yes, tree.no = make([]int, size), make([]int, size)
	rowIndexes := make([]int, len(rows))
	for i := range rowIndexes {
		rowIndexes[i] = i
	}
	return tree.subtree(rowIndexes)
}

// tree has the data that the nodes of a decision tree share while the tree is built.
type tree struct {
	questions []question
	classes   []int
	yes, no   []int // rows of each class on each side of a question; zero between uses
}

// subtree returns the decision tree for some rows, given by their indices.
func (t *tree) subtree(rows []int) syntax.Expr {
	firstClass := t.classes[rows[0]]
	if !slices.ContainsFunc(rows, func(row int) bool { return t.classes[row] != firstClass }) {
		return intLit(firstClass)
	}
	question := t.bestQuestion(rows)
	var yes, no []int
	for _, row := range rows {
		if question.answers[row] {
			yes = append(yes, row)
		} else {
			no = append(no, row)
		}
	}
	return paren(&syntax.Cond{Condition: question.condition, Then: t.subtree(yes), Else: t.subtree(no)})
}

// bestQuestion returns the question with the highest purity for some rows. The rows have different classes, so some question separates them.
func (t *tree) bestQuestion(rows []int) *question {
	bestIndex, maxPurity := -1, 0.0
	for i := range t.questions {
		if purity, splits := t.purity(&t.questions[i], rows); splits && (bestIndex < 0 || purity > maxPurity) {
			bestIndex, maxPurity = i, purity
		}
	}
	return &t.questions[bestIndex]
}

// purity returns the sum, over both sides of a question, of the squared numbers of rows of each class, divided by the number of rows of the side.
// splits is false if one side has no rows.
func (t *tree) purity(question *question, rows []int) (purity float64, splits bool) {
	var squares, sizes [2]int
	for _, row := range rows {
		class := t.classes[row]
		// (n+1)^2 - n^2 = 2n+1
		if question.answers[row] {
			squares[0] += 2*t.yes[class] + 1
			t.yes[class]++
			sizes[0]++
		} else {
			squares[1] += 2*t.no[class] + 1
			t.no[class]++
			sizes[1]++
		}
	}
	for _, row := range rows {
		t.yes[t.classes[row]], t.no[t.classes[row]] = 0, 0
	}
	if sizes[0] == 0 || sizes[1] == 0 {
		return 0, false
	}
	return float64(squares[0])/float64(sizes[0]) + float64(squares[1])/float64(sizes[1]), true
}

// questions returns the questions about rows: which moves are legal, how neighbouring tiles compare, how large a tile is, and which value the memory
// has. It omits questions with the same answer for all rows. The last two kinds distinguish any two rows.
func (g *grid) questions(rows []TableRow) []question {
	var useful []question
	add := func(condition syntax.Expr, holds func(row *TableRow) bool) {
		question := question{condition: condition, answers: make([]bool, len(rows))}
		for i := range rows {
			question.answers[i] = holds(&rows[i])
		}
		if slices.Contains(question.answers, true) && slices.Contains(question.answers, false) {
			useful = append(useful, question)
		}
	}
	for _, move := range allMoves() {
		pairs := g.neighbourIndices(move)
		add(ident(move.canMove()), func(row *TableRow) bool { return isLegalOn(pairs, row.Cells) })
	}
	for _, value := range distinct(rows, func(row *TableRow) []int { return []int{row.Memory} }) {
		add(is(memory, value), func(row *TableRow) bool { return row.Memory == value })
	}
	for _, pair := range slices.Concat(g.neighbourIndices(Left), g.neighbourIndices(Up)) {
		nearTile, farTile := ident(g.cells[pair[0]]), ident(g.cells[pair[1]])
		add(eq(nearTile, farTile), func(row *TableRow) bool { return row.Cells[pair[0]] == row.Cells[pair[1]] })
		add(binary(syntax.OpLt, nearTile, farTile), func(row *TableRow) bool { return row.Cells[pair[0]] < row.Cells[pair[1]] })
	}
	tiles := distinct(rows, func(row *TableRow) []int { return row.Cells })
	for i, cell := range g.cells {
		for _, value := range tiles {
			condition := binary(syntax.OpLe, ident(cell), intLit(value))
			if value == 0 {
				condition = is(cell, 0)
			}
			add(condition, func(row *TableRow) bool { return row.Cells[i] <= value })
		}
	}
	return useful
}

// neighbourIndices returns the pairs of neighbouring cells along a move as indices, the cell closer to the wall first.
func (g *grid) neighbourIndices(move Move) [][2]int {
	var indices [][2]int
	for _, pair := range g.neighbours(move) {
		indices = append(indices, [2]int{slices.Index(g.cells, pair.near), slices.Index(g.cells, pair.far)})
	}
	return indices
}

// isLegalOn reports whether a move is legal on a board. pairs has the neighbouring cells along the move, and cells the values of the board.
func isLegalOn(pairs [][2]int, cells []int) bool {
	return slices.ContainsFunc(pairs, func(pair [2]int) bool {
		near, far := cells[pair[0]], cells[pair[1]]
		return near == 0 && far != 0 || near != 0 && near == far
	})
}

// distinct returns the different values of all rows, in ascending order.
func distinct(rows []TableRow, valuesOf func(row *TableRow) []int) []int {
	seen := map[int]bool{}
	var values []int
	for i := range rows {
		for _, value := range valuesOf(&rows[i]) {
			if !seen[value] {
				seen[value] = true
				values = append(values, value)
			}
		}
	}
	slices.Sort(values)
	return values
}
