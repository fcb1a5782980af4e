package modelgen

import (
	"fmt"
	"reflect"
	"slices"

	"tilecheck/prism/syntax"
)

// protoCell has the names of one of the four modules of the prototype: the suffix of the module's name, and its variables for the tile and the phase.
type protoCell struct{ suffix, value, phase string }

// protoCells returns the names of the four modules, row by row.
func protoCells() []protoCell {
	cells := make([]protoCell, 4)
	for i, suffix := range []string{"00", "01", "10", "11"} {
		cells[i] = protoCell{suffix, "v_" + suffix, "phase_" + suffix}
	}
	return cells
}

// prototypeItems returns the items of the prototype: one module for each cell, which synchronise on all actions, and the formulas.
//
// Source: thesis section 3.3.
func (b *builder) prototypeItems() []syntax.Item {
	cells := protoCells()
	for i, cell := range cells {
		b.grid.cells[i] = cell.value
	}
	var items []syntax.Item
	for i, cell := range cells {
		module := &syntax.Module{
			Name: ident("cell_" + cell.suffix),
			Vars: []*syntax.VarDecl{
				rangeVar(cell.value, ident(constMax), 0, "0 is an empty cell."),
				rangeVar(cell.phase, intLit(1), randomPhase, "0 is the move-merge phase, 1 the random phase."),
			},
		}
		module.Commands = slices.Concat(
			byTiles("The random phase", func(occupied filled) []*syntax.Command { return b.protoRandom(i, cell, occupied) }),
			byTiles("The move-merge phase", func(occupied filled) []*syntax.Command { return b.protoMoves(cell, occupied) }),
			endCommands(),
		)
		items = append(items, module)
	}
	return append(items, b.protoFormulas()...)
}

// byTiles returns the commands for all sets of filled cells, in the order of arrangements. It adds a comment above the first command for each number
// of tiles.
func byTiles(heading string, commandsFor func(filled) []*syntax.Command) []*syntax.Command {
	var commandList []*syntax.Command
	numTiles := -1
	for _, occupied := range arrangements() {
		commands := commandsFor(occupied)
		if len(commands) > 0 && occupied.len() != numTiles {
			numTiles = occupied.len()
			documented(commands[0], fmt.Sprintf("%s, %d filled.", heading, numTiles))
		}
		commandList = append(commandList, commands...)
	}
	return commandList
}

// protoField returns the name of the formula that holds if exactly the occupied cells have tiles.
func protoField(occupied filled) string { return "field_" + occupied.String() }

// protoRandom returns the commands of cell i in the random phase if exactly the occupied cells have tiles. The name of an action says which cells
// have tiles before and after it. On an empty board, two tiles are added.
func (b *builder) protoRandom(i int, cell protoCell, occupied filled) []*syntax.Command {
	numAdded := 1
	guards := []syntax.Expr{ident(noMax), ident(protoField(occupied)), is(cell.phase, randomPhase)}
	if occupied.len() == 0 {
		numAdded, guards = 2, guards[1:]
	}
	var commands []*syntax.Command
	for _, filledAfter := range arrangements() {
		if filledAfter&occupied != occupied || filledAfter.len() != occupied.len()+numAdded {
			continue
		}
		toMove := assign(cell.phase, intLit(moveMerge))
		updates := []*syntax.Update{update(nil, toMove)}
		if filledAfter.contains(i) && !occupied.contains(i) {
			updates = b.newTile(cell.value, unscaled, toMove)
		}
		commands = append(commands, command(fmt.Sprintf("f%s_%s", occupied, filledAfter), and(guards...), updates...))
	}
	return commands
}

// protoMoves returns the commands of a cell in the move-merge phase if exactly the occupied cells have tiles.
func (b *builder) protoMoves(cell protoCell, occupied filled) []*syntax.Command {
	var commands []*syntax.Command
	for _, move := range allMoves() {
		if !b.grid.canBeLegal(move, occupied) {
			continue
		}
		merges := b.grid.mergeablePairs(move, occupied)
		guards := []syntax.Expr{ident(protoField(occupied)), is(cell.phase, moveMerge)}
		if len(merges) > 0 {
			guards = slices.Insert(guards, 0, syntax.Expr(ident(noMax)))
		}
		value := b.protoMoved(move, occupied, cell.value)
		if !b.grid.canSlide(move, occupied) {
			equal := anyEqual(merges)
			value = simplifyIf(equal, value)
			guards = append(guards, paren(equal))
		}
		var assigns []*syntax.Assign
		if !reflect.DeepEqual(value, syntax.Expr(ident(cell.value))) {
			assigns = append(assigns, assign(cell.value, value))
		}
		assigns = append(assigns, assign(cell.phase, intLit(randomPhase)))
		commands = append(commands, command(move.String(), and(guards...), update(nil, assigns...)))
	}
	return commands
}

// protoMoved returns the value of a cell after a move if exactly the occupied cells have tiles.
func (b *builder) protoMoved(move Move, occupied filled, cell string) syntax.Expr {
	lines := b.grid.lines(move)
	line := lines[slices.IndexFunc(lines, func(line line) bool { return slices.Contains(line, cell) })]
	tiles := b.grid.filledCells(occupied, line)
	return tiles.placeValue(slices.Index(line, cell), 0, len(tiles))
}

// simplifyIf returns an expression under the assumption that a known condition holds: the first branch of a conditional with this condition.
func simplifyIf(known, expr syntax.Expr) syntax.Expr {
	if cond, ok := expr.(*syntax.Cond); ok && reflect.DeepEqual(cond.Condition, known) {
		return cond.Then
	}
	return expr
}

// protoFormulas returns the formulas and labels of the prototype.
func (b *builder) protoFormulas() []syntax.Item {
	firstPhase := protoCells()[0].phase
	lost := []syntax.Expr{ident(protoField(15)), is(firstPhase, moveMerge)}
	items := []syntax.Item{
		formula(noMax, and(each(b.grid.cells, belowMax)...), "The game is not won."),
		formula(success, and(paren(or(each(b.grid.cells, func(cell string) syntax.Expr {
			return eq(ident(cell), ident(constMax))
		})...)), is(firstPhase, randomPhase)), "The game is won: MAX is there after a move."),
		formula(fail, and(append(lost, b.grid.unequalNeighbours()...)...), "The game is lost: the board is full and no neighbours are equal."),
	}
	for i, occupied := range arrangements() {
		decl := formula(protoField(occupied), b.grid.exactlyFilled(occupied))
		if i == 0 {
			decl.Doc = syntax.Doc{"The filled cells: top left, top right, bottom left, bottom right."}
		}
		items = append(items, decl)
	}
	return append(items, label(fail, ident(fail)), label(success, ident(success)))
}
