package modelgen

import "tilecheck/prism/syntax"

// Markov chains: the game with a policy, without a choice anywhere.

// chainMoves returns the commands of a Markov chain in the move-merge phase. If a policy manager chooses, there is one command for each move.
// Otherwise one command makes each legal move with the same probability.
func (b *builder) chainMoves() []*syntax.Command {
	if b.cfg.Policy.Kind != RandomMoves {
		return b.finalMoves()
	}
	var updates []*syntax.Update
	for _, move := range allMoves() {
		probability := paren(&syntax.Cond{Condition: ident(move.canMove()), Then: binary(syntax.OpDiv, intLit(1), ident(legalMoves)), Else: intLit(0)})
		updates = append(updates, update(probability, append(b.moveAssigns(move), assign(phase, intLit(randomPhase)))...))
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

// legalMoves is the name of the formula that counts the legal moves.
const legalMoves = "legal_moves"

// moveAssigns returns the assignments of a move to all cells.
func (b *builder) moveAssigns(move Move) []*syntax.Assign {
	valueForTiles := line.valueForTiles
	if b.cfg.Updates == UpdatesPublished {
		valueForTiles = line.publishedValueForTiles
	}
	return b.grid.assignments(move, func(index int, line line, place int) syntax.Expr {
		return line.movedValue(place, move.countFormula(index), valueForTiles)
	})
}

// countLegalMoves returns the formula that counts the legal moves.
func countLegalMoves() syntax.Item {
	var terms []syntax.Expr
	for _, move := range allMoves() {
		terms = append(terms, paren(&syntax.Cond{Condition: ident(move.canMove()), Then: intLit(1), Else: intLit(0)}))
	}
	return formula(legalMoves, sum(terms...), "How many moves are legal.")
}
