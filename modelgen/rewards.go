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
	for _, m := range allMoves() {
		moves.Items = append(moves.Items, actionReward(m.String(), intLit(1)))
		score.Items = append(score.Items, actionReward(m.String(), mergedBy(m, rows, cols)))
	}
	if b.cfg.Kind == DTMC && b.cfg.Policy.Kind == RandomMoves {
		moves.Items, score.Items = []*syntax.RewardItem{actionReward(randomMove, intLit(1))}, []*syntax.RewardItem{actionReward(randomMove, meanScore(rows, cols))}
	}
	return append(items, moves, score)
}

// addMerged adds the formula for the tiles that a move makes in a line, and its name to the terms of a sum. Nothing merges in a line of one cell.
func (b *builder) addMerged(items []syntax.Item, terms []syntax.Expr, name string, l line) ([]syntax.Item, []syntax.Expr) {
	if len(l) < 2 {
		return items, terms
	}
	return append(items, formula(name, l.merged(-1, 0))), append(terms, ident(name))
}

// merged returns the sum of the tiles that are made by merging in cells p and beyond. pending is the cell of the tile before p that has not
// merged, or -1. Of a run of n equal tiles n/2 pairs merge, whichever end the move begins at.
func (l line) merged(pending, p int) syntax.Expr {
	if p == len(l) {
		return intLit(0)
	}
	next := l.merged(p, p+1)
	if pending >= 0 {
		pair := binary(syntax.OpMul, intLit(2), ident(l[p]))
		if p+2 < len(l) { // another pair may follow
			pair = sum(pair, paren(l.merged(-1, p+1)))
		}
		next = choose(eq(ident(l[pending]), ident(l[p])), pair, next)
	}
	return choose(is(l[p], 0), l.merged(pending, p+1), next)
}

// actionReward is the reward of a transition with an action.
func actionReward(action string, value syntax.Expr) *syntax.RewardItem {
	return &syntax.RewardItem{Transition: true, Action: ident(action), Guard: boolLit(true), Value: value}
}

// mergedBy is the sum of the tiles that a move makes, given the names of the formulas of rows and columns.
func mergedBy(m Move, rows, cols []syntax.Expr) syntax.Expr {
	if m.vertical() {
		return sum(cols...)
	}
	return sum(rows...)
}

// meanScore is the expected score of a move that is drawn from the legal ones.
func meanScore(rows, cols []syntax.Expr) syntax.Expr {
	var scores []syntax.Expr
	for _, m := range allMoves() {
		scores = append(scores, paren(&syntax.Cond{C: ident(m.canMove()), T: mergedBy(m, rows, cols), E: intLit(0)}))
	}
	return binary(syntax.OpDiv, paren(sum(scores...)), ident(legalMoves))
}
