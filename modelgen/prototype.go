package modelgen

import (
	"fmt"
	"reflect"
	"slices"

	"tilecheck/prism/syntax"
)

// protoCell is one of the four modules.
type protoCell struct{ at, value, phase string }

func protoCells() []protoCell {
	cells := make([]protoCell, 4)
	for i, at := range []string{"00", "01", "10", "11"} {
		cells[i] = protoCell{at, "v_" + at, "phase_" + at}
	}
	return cells
}

// prototype is one module for each cell; the actions keep them in step.
//
// Source: thesis section 3.3.
func (b *builder) prototype() []syntax.Item {
	cells := protoCells()
	for i, c := range cells {
		b.grid.cells[i] = c.value
	}
	var items []syntax.Item
	for i, c := range cells {
		module := &syntax.Module{
			Name: ident("cell_" + c.at),
			Vars: []*syntax.VarDecl{
				rangeVar(c.value, ident(constMax), 0, "0 is an empty cell."),
				rangeVar(c.phase, intLit(1), randomPhase, "0 is the move-merge phase, 1 the random phase."),
			},
		}
		module.Commands = slices.Concat(
			byTiles("The random phase", func(f filled) []*syntax.Command { return b.protoRandom(i, c, f) }),
			byTiles("The move-merge phase", func(f filled) []*syntax.Command { return b.protoMoves(c, f) }),
			endCommands(),
		)
		items = append(items, module)
	}
	return append(items, b.protoFormulas()...)
}

// byTiles joins the commands for every set of filled cells, with a heading where the number of tiles changes.
func byTiles(heading string, commandsFor func(filled) []*syntax.Command) []*syntax.Command {
	var all []*syntax.Command
	tiles := -1
	for _, f := range arrangements() {
		commands := commandsFor(f)
		if len(commands) > 0 && f.len() != tiles {
			tiles = f.len()
			documented(commands[0], fmt.Sprintf("%s, %d filled.", heading, tiles))
		}
		all = append(all, commands...)
	}
	return all
}

func protoField(f filled) string { return "field_" + f.String() }

// protoRandom returns the commands of cell i in the random phase when the cells f are filled. The
// name of an action says which cells are filled afterwards. On an empty board two tiles are added.
func (b *builder) protoRandom(i int, c protoCell, f filled) []*syntax.Command {
	added := 1
	guards := []syntax.Expr{ident(noMax), ident(protoField(f)), is(c.phase, randomPhase)}
	if f.len() == 0 {
		added, guards = 2, guards[1:]
	}
	var commands []*syntax.Command
	for _, to := range arrangements() {
		if to&f != f || to.len() != f.len()+added {
			continue
		}
		next := assign(c.phase, intLit(moveMerge))
		updates := []*syntax.Update{update(nil, next)}
		if to.has(i) && !f.has(i) {
			updates = b.newTile(c.value, asItIs, next)
		}
		commands = append(commands, command(fmt.Sprintf("f%s_%s", f, to), and(guards...), updates...))
	}
	return commands
}

// protoMoves is one cell's part of the moves when the cells f are filled.
func (b *builder) protoMoves(c protoCell, f filled) []*syntax.Command {
	var commands []*syntax.Command
	for _, m := range allMoves() {
		if !b.grid.possible(m, f) {
			continue
		}
		merges := b.grid.merges(m, f)
		guards := []syntax.Expr{ident(protoField(f)), is(c.phase, moveMerge)}
		if len(merges) > 0 {
			guards = slices.Insert(guards, 0, syntax.Expr(ident(noMax)))
		}
		value := b.protoMoved(m, f, c.value)
		if !b.grid.slides(m, f) {
			equal := anyEqual(merges)
			value = simplifyIf(equal, value)
			guards = append(guards, paren(equal))
		}
		var assigns []*syntax.Assign
		if !reflect.DeepEqual(value, syntax.Expr(ident(c.value))) {
			assigns = append(assigns, assign(c.value, value))
		}
		assigns = append(assigns, assign(c.phase, intLit(randomPhase)))
		commands = append(commands, command(m.String(), and(guards...), update(nil, assigns...)))
	}
	return commands
}

// protoMoved is the value of a cell after a move when the cells f are filled.
func (b *builder) protoMoved(m Move, f filled, cell string) syntax.Expr {
	lines := b.grid.lines(m)
	l := lines[slices.IndexFunc(lines, func(l line) bool { return slices.Contains(l, cell) })]
	tiles := b.grid.tiles(f, l)
	return tiles.from(slices.Index(l, cell), 0, len(tiles))
}

// simplifyIf simplifies a conditional whose condition is known to hold.
func simplifyIf(known, x syntax.Expr) syntax.Expr {
	if cond, ok := x.(*syntax.Cond); ok && reflect.DeepEqual(cond.C, known) {
		return cond.T
	}
	return x
}

func (b *builder) protoFormulas() []syntax.Item {
	first := protoCells()[0].phase
	over := []syntax.Expr{ident(protoField(15)), is(first, moveMerge)}
	items := []syntax.Item{
		formula(noMax, and(each(b.grid.cells, belowMax)...), "The game is not won."),
		formula(success, and(paren(or(each(b.grid.cells, func(c string) syntax.Expr {
			return eq(ident(c), ident(constMax))
		})...)), is(first, randomPhase)), "The game is won: MAX is there after a move."),
		formula(fail, and(append(over, b.grid.stuck()...)...), "The game is lost: the board is full and no neighbours are equal."),
	}
	for i, f := range arrangements() {
		decl := formula(protoField(f), b.grid.exactly(f))
		if i == 0 {
			decl.Doc = syntax.Doc{"The filled cells: top left, top right, bottom left, bottom right."}
		}
		items = append(items, decl)
	}
	return append(items, label(fail, ident(fail)), label(success, ident(success)))
}
