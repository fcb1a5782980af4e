package modelgen

import "tilecheck/prism/syntax"

// Markov chains: the game with a policy, without a choice anywhere.

// chainMoves returns the commands of a chain in the move-merge phase: the commands of the moves if
// a policy manager chooses among them, otherwise one command that makes each legal move with the
// same probability.
func (b *builder) chainMoves() []*syntax.Command {
	if b.cfg.Policy.Kind != RandomMoves {
		return b.finalMoves()
	}
	var updates []*syntax.Update
	for _, m := range allMoves() {
		p := paren(&syntax.Cond{C: ident(m.canMove()), T: binary(syntax.OpDiv, intLit(1), ident(legalMoves)), E: intLit(0)})
		updates = append(updates, update(p, append(b.moveAssigns(m), assign(phase, intLit(randomPhase)))...))
	}
	guard := and(ident(noMax), not(ident(fail)), binary(syntax.OpGt, ident(legalMoves), intLit(0)), is(phase, moveMerge))
	doc := append(syntax.Doc{
		"The move-merge phase: each legal move with the same probability. The tiles of each line",
		"slide to the wall and equal ones merge, the pair nearest the wall first.",
	}, b.faultsDoc(allMoves()...)...)
	return []*syntax.Command{documented(command(randomMove, guard, updates...), doc...)}
}

// randomMove is the action of a random move.
const randomMove = "move"

// legalMoves names the formula that counts them.
const legalMoves = "legal_moves"

// moveAssigns returns the assignments of a move.
func (b *builder) moveAssigns(m Move) []*syntax.Assign {
	tiles := line.movedTiles
	if b.cfg.Updates == UpdatesPublished {
		tiles = line.publishedTiles
	}
	return b.grid.moved(m, func(i int, l line, j int) syntax.Expr { return l.moved(j, m.count(i), tiles) })
}

// countLegalMoves returns the formula legalMoves.
func countLegalMoves() syntax.Item {
	var xs []syntax.Expr
	for _, m := range allMoves() {
		xs = append(xs, paren(&syntax.Cond{C: ident(m.canMove()), T: intLit(1), E: intLit(0)}))
	}
	return formula(legalMoves, sum(xs...), "How many moves are legal.")
}
