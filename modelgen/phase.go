package modelgen

import (
	"fmt"

	"tilecheck/prism/syntax"
)

// The random phase: new tiles, and the module that draws their cells.

// randomPhase returns the commands that add a new tile. The game starts with two tiles, so the first tile does not end the phase.
//
// Source: thesis sections 3.4 and 3.6.
func (b *builder) randomPhase() []*syntax.Command {
	switch b.cfg.Spawn {
	case SpawnUniform:
		return b.uniformPhase()
	case SpawnWorstTile, SpawnWorst:
		return b.chosenTiles()
	}
	var firstCommands, laterCommands []*syntax.Command
	for _, cell := range b.grid.cells {
		firstCommands = append(firstCommands, command(cell+"_init", firstTileGuard(), b.newTile(cell, unscaled)...))
		guard := and(not(ident(fieldEmpty)), is(cell, 0), ident(noMax), is(phase, randomPhase))
		laterCommands = append(laterCommands, command(cell, guard, b.newTile(cell, unscaled, toMovePhase())...))
	}
	documented(firstCommands[0], firstTileDoc)
	documented(laterCommands[0], "Every other tile ends the random phase.")
	return append(firstCommands, laterCommands...)
}

const firstTileDoc = "The random phase. A game starts with two tiles; this is the first."

// firstTileGuard returns the guard of the commands that add the first tile of the game.
func firstTileGuard() syntax.Expr { return and(ident(fieldEmpty), is(phase, randomPhase)) }

// nextTileGuard returns the guard of the commands that add a later tile.
func nextTileGuard() syntax.Expr {
	return and(not(ident(fieldEmpty)), ident(noMax), is(phase, randomPhase))
}

// toMovePhase returns the assignment that starts the move-merge phase.
func toMovePhase() *syntax.Assign { return assign(phase, intLit(moveMerge)) }

// uniformPhase returns the random phase as two commands: for the first tile, and for a later one. The guards exclude full boards, which never occur
// in the random phase: there the sum of the probabilities would be 0, and symbolic engines check the sum in unreachable states, too.
func (b *builder) uniformPhase() []*syntax.Command {
	var firstUpdates, laterUpdates []*syntax.Update
	for _, cell := range b.grid.cells {
		firstUpdates = append(firstUpdates, b.newTile(cell, dividedBy(intLit(len(b.grid.cells))))...)
		laterUpdates = append(laterUpdates, b.newTile(cell, dividedAmongEmpty(cell), toMovePhase())...)
	}
	guard := and(not(ident(fieldEmpty)), not(ident(fieldFull)), ident(noMax), is(phase, randomPhase))
	return []*syntax.Command{
		documented(command(actSpawnInit, firstTileGuard(), firstUpdates...), firstTileDoc),
		documented(command(actSpawn, guard, laterUpdates...),
			"Every other tile ends the random phase, which never sees a full board: !field_full is",
			"for engines that check the sum of the probabilities in unreachable states as well."),
	}
}

// dividedAmongEmpty returns a function that divides a probability by the number of empty cells. The result is 0 in states in which the cell has a
// tile.
func dividedAmongEmpty(cell string) func(syntax.Expr) syntax.Expr {
	return func(probability syntax.Expr) syntax.Expr {
		return paren(&syntax.Cond{Condition: is(cell, 0), Then: dividedBy(ident(emptyCells))(probability), Else: intLit(0)})
	}
}

// dividedBy returns a function that divides a probability by an expression.
func dividedBy(divisor syntax.Expr) func(syntax.Expr) syntax.Expr {
	return func(probability syntax.Expr) syntax.Expr { return binary(syntax.OpDiv, probability, divisor) }
}

// spawnManager returns the module that draws the cell of a new tile, and draws again while the cell is not empty. The largest value of its variable
// means that no cell is drawn. There are two differences from the thesis. It draws only in the random phase, because otherwise the scheduler of the
// moves could see the drawn cell. And no cell is drawn at the start, where the thesis has cell 0.
//
// Source: thesis section 3.7, Random Phase.
func (b *builder) spawnManager() *syntax.Module {
	const drawnVar = "rn"
	cells := b.grid.cells
	drawnCell := draw{drawnVar, len(cells)}
	module := &syntax.Module{
		Doc:  syntax.Doc{"Draws the cell of a new tile: every empty cell is equally likely."},
		Name: ident("spawn_manager"),
		Vars: []*syntax.VarDecl{drawnCell.variable(fmt.Sprintf("The cell drawn; %d is none.", len(cells)))},
	}
	redraw := []syntax.Expr{drawnCell.isNone()}
	for i, cell := range cells {
		module.Commands = append(module.Commands, command(cell+"_init", is(drawnVar, i), drawnCell.reset()))
	}
	for i, cell := range cells {
		module.Commands = append(module.Commands, command(cell, is(drawnVar, i), drawnCell.reset()))
		redraw = append(redraw, paren(and(is(drawnVar, i), isNot(cell, 0))))
	}
	guard := and(is(phase, randomPhase), ident(noMax), paren(or(redraw...)))
	module.Commands = append(module.Commands, documented(command(resetCell, guard, drawnCell.updates()...),
		"Draw when there is no cell or its cell has a tile."))
	return module
}

// resetCell is the action that draws a cell.
const resetCell = "reset_rn"

// draw is a variable for a random number from 0 to count-1. The value count means that no number is drawn.
type draw struct {
	name  string
	count int
}

// variable returns the declaration of the variable.
func (d draw) variable(doc string) *syntax.VarDecl {
	return rangeVar(d.name, intLit(d.count), d.count, doc)
}

// isNone returns the condition that no number is drawn.
func (d draw) isNone() syntax.Expr { return is(d.name, d.count) }

// reset returns the update after which no number is drawn.
func (d draw) reset() *syntax.Update { return update(nil, assign(d.name, intLit(d.count))) }

// updates returns the updates that draw each number with the same probability.
func (d draw) updates() []*syntax.Update {
	updates := make([]*syntax.Update, d.count)
	for i := range updates {
		updates[i] = update(binary(syntax.OpDiv, intLit(1), intLit(d.count)), assign(d.name, intLit(i)))
	}
	return updates
}
