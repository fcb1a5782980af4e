package modelgen

import (
	"fmt"

	"tilecheck/prism/syntax"
)

// rewards returns two reward structures: the number of moves, and the score, to which a move adds the tiles that it makes by merging.
//
// Source: the rules of the game, G. Cirulli 2014.
func (b *builder) rewards() []syntax.Item {
	var items []syntax.Item
	moves := &syntax.Rewards{Doc: syntax.Doc{"The number of moves."}, Name: ident("moves")}
	score := &syntax.Rewards{Doc: syntax.Doc{"The score."}, Name: ident("score")}
	var rows, cols []syntax.Expr
	for i := range b.grid.rows {
		items, rows = b.addMerged(items, rows, fmt.Sprintf("merged_row_%d", i), b.grid.row(i))
	}
	for i := range b.grid.cols {
		items, cols = b.addMerged(items, cols, fmt.Sprintf("merged_col_%d", i), b.grid.col(i))
	}
	if len(items) > 0 {
		items[0].(*syntax.FormulaDecl).Doc = syntax.Doc{"The sum of the tiles that a move makes in each row or column, in either direction."}
	}
	for _, move := range allMoves() {
		moves.Items = append(moves.Items, actionReward(move.String(), intLit(1)))
		score.Items = append(score.Items, actionReward(move.String(), mergedBy(move, rows, cols)))
	}
	if b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves {
		moves.Items, score.Items = []*syntax.RewardItem{actionReward(randomMove, intLit(1))}, []*syntax.RewardItem{actionReward(randomMove, meanScore(rows, cols))}
	}
	return append(items, moves, score)
}

// addMerged adds a formula for the sum of the tiles that a move makes in a line, and adds the formula's name to the terms of a sum. It adds nothing
// for a line of one cell.
func (b *builder) addMerged(items []syntax.Item, terms []syntax.Expr, name string, line line) ([]syntax.Item, []syntax.Expr) {
	if len(line) < 2 {
		return items, terms
	}
	return append(items, formula(name, line.mergedSum(-1, 0))), append(terms, ident(name))
}

// mergedSum returns the sum of the tiles that merging makes in the cells from index cell on. pending is the index of an earlier tile that has not
// merged, or -1. Of n equal neighbouring tiles, n/2 pairs merge, rounded down, whether the move goes to one end of the line or to the other.
func (l line) mergedSum(pending, cell int) syntax.Expr {
	if cell == len(l) {
		return intLit(0)
	}
	next := l.mergedSum(cell, cell+1)
	if pending >= 0 {
		pair := binary(syntax.OpMul, intLit(2), ident(l[cell]))
		if cell+2 < len(l) { // another pair may follow
			pair = sum(pair, paren(l.mergedSum(-1, cell+1)))
		}
		next = conditional(eq(ident(l[pending]), ident(l[cell])), pair, next)
	}
	return conditional(is(l[cell], 0), l.mergedSum(pending, cell+1), next)
}

// actionReward returns a reward for every transition with an action.
func actionReward(action string, value syntax.Expr) *syntax.RewardItem {
	return &syntax.RewardItem{IsTransition: true, Action: ident(action), Guard: boolLit(true), Value: value}
}

// mergedBy returns the sum of the tiles that a move makes. rows and cols have the names of the formulas for the lines.
func mergedBy(move Move, rows, cols []syntax.Expr) syntax.Expr {
	if move.vertical() {
		return sum(cols...)
	}
	return sum(rows...)
}

// meanScore returns the expected score of a move that is drawn from the legal moves.
func meanScore(rows, cols []syntax.Expr) syntax.Expr {
	var scores []syntax.Expr
	for _, move := range allMoves() {
		scores = append(scores, paren(&syntax.Cond{Condition: ident(move.canMove()), Then: mergedBy(move, rows, cols), Else: intLit(0)}))
	}
	return binary(syntax.OpDiv, paren(sum(scores...)), ident(legalMoves))
}
