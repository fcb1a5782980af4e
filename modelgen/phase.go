package modelgen

import (
	"fmt"

	"tilecheck/prism/syntax"
)

// The random phase: new tiles, and the module that draws their cells.

// randomPhase returns the commands that add a new tile. The game starts with two tiles, so the
// first one does not end the phase.
//
// Source: thesis sections 3.4 and 3.6.
func (b *builder) randomPhase() []*syntax.Command {
	switch b.cfg.Spawn {
	case SpawnUniform:
		return b.uniformPhase()
	case SpawnWorstTile, SpawnWorst:
		return b.chosenTiles()
	}
	var first, next []*syntax.Command
	for _, cell := range b.grid.cells {
		first = append(first, command(cell+"_init", firstTile(), b.newTile(cell, asItIs)...))
		guard := and(not(ident(fieldEmpty)), is(cell, 0), ident(noMax), is(phase, randomPhase))
		next = append(next, command(cell, guard, b.newTile(cell, asItIs, toMoves())...))
	}
	documented(first[0], firstTileDoc)
	documented(next[0], "Every other tile ends the random phase.")
	return append(first, next...)
}

const firstTileDoc = "The random phase. A game starts with two tiles; this is the first."

func firstTile() syntax.Expr { return and(ident(fieldEmpty), is(phase, randomPhase)) }

// nextTile is the guard of the commands that add a tile to a board with tiles.
func nextTile() syntax.Expr {
	return and(not(ident(fieldEmpty)), ident(noMax), is(phase, randomPhase))
}

func toMoves() *syntax.Assign { return assign(phase, intLit(moveMerge)) }

// uniformPhase returns the random phase as two commands. Their guards exclude full boards, which
// never occur in the random phase: symbolic engines check the sum of the probabilities there too,
// and it is 0.
func (b *builder) uniformPhase() []*syntax.Command {
	var first, next []*syntax.Update
	for _, cell := range b.grid.cells {
		first = append(first, b.newTile(cell, over(intLit(len(b.grid.cells))))...)
		next = append(next, b.newTile(cell, drawnAmongEmpty(cell), toMoves())...)
	}
	guard := and(not(ident(fieldEmpty)), not(ident(fieldFull)), ident(noMax), is(phase, randomPhase))
	return []*syntax.Command{
		documented(command(actSpawnInit, firstTile(), first...), firstTileDoc),
		documented(command(actSpawn, guard, next...),
			"Every other tile ends the random phase, which never sees a full board: !field_full is",
			"for engines that check the sum of the probabilities in unreachable states as well."),
	}
}

// drawnAmongEmpty divides a probability by the number of empty cells; it is 0 if the cell has a tile.
func drawnAmongEmpty(cell string) func(syntax.Expr) syntax.Expr {
	return func(p syntax.Expr) syntax.Expr {
		return paren(&syntax.Cond{C: is(cell, 0), T: over(ident(emptyCells))(p), E: intLit(0)})
	}
}

// over divides a probability by n.
func over(n syntax.Expr) func(syntax.Expr) syntax.Expr {
	return func(p syntax.Expr) syntax.Expr { return binary(syntax.OpDiv, p, n) }
}

// spawnManager returns the module that draws the cell of a new tile, and draws again if the cell
// is not empty. Its variable has one more value than there are cells, for "nothing drawn". Unlike
// in the thesis, nothing is drawn before the random phase, because the scheduler of the moves
// would see it; and nothing is drawn at the start, where the thesis has cell 0.
//
// Source: thesis section 3.7, Random Phase.
func (b *builder) spawnManager() *syntax.Module {
	const rn = "rn"
	cells := b.grid.cells
	d := draw{rn, len(cells)}
	module := &syntax.Module{
		Doc:  syntax.Doc{"Draws the cell of a new tile: every empty cell is equally likely."},
		Name: ident("spawn_manager"),
		Vars: []*syntax.VarDecl{d.variable(fmt.Sprintf("The cell drawn; %d is none.", len(cells)))},
	}
	redraw := []syntax.Expr{d.none()}
	for i, cell := range cells {
		module.Commands = append(module.Commands, command(cell+"_init", is(rn, i), d.forget()))
	}
	for i, cell := range cells {
		module.Commands = append(module.Commands, command(cell, is(rn, i), d.forget()))
		redraw = append(redraw, paren(and(is(rn, i), isNot(cell, 0))))
	}
	guard := and(is(phase, randomPhase), ident(noMax), paren(or(redraw...)))
	module.Commands = append(module.Commands, documented(command(resetCell, guard, d.updates()...),
		"Draw when there is no cell or its cell has a tile."))
	return module
}

// resetCell is the action that draws a cell.
const resetCell = "reset_rn"

// draw is a variable that holds a number drawn uniformly from 0 to n-1, or n when there is none.
type draw struct {
	name string
	n    int
}

func (d draw) variable(doc string) *syntax.VarDecl { return rangeVar(d.name, intLit(d.n), d.n, doc) }

func (d draw) none() syntax.Expr { return is(d.name, d.n) }

func (d draw) forget() *syntax.Update { return update(nil, assign(d.name, intLit(d.n))) }

func (d draw) updates() []*syntax.Update {
	updates := make([]*syntax.Update, d.n)
	for i := range updates {
		updates[i] = update(binary(syntax.OpDiv, intLit(1), intLit(d.n)), assign(d.name, intLit(i)))
	}
	return updates
}
