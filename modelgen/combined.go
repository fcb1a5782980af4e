package modelgen

import (
	"fmt"
	"math/bits"
	"slices"

	"tilecheck/prism/syntax"
)

// filled is the set of the cells that have a tile: bit i stands for cell i.
type filled uint

// String returns four digits for a board of four cells, cell 0 first: 1 for a cell with a tile, otherwise 0.
func (f filled) String() string {
	digits := []byte("0000")
	for i := range digits {
		digits[i] += byte(f >> i & 1)
	}
	return string(digits)
}

// contains reports whether cell i has a tile.
func (f filled) contains(i int) bool { return f>>i&1 == 1 }

// len returns the number of tiles.
func (f filled) len() int { return bits.OnesCount(uint(f)) }

// arrangements returns all sets of filled cells of a board of four cells. The sets are ordered by the number of tiles, then by the first filled cell.
func arrangements() []filled {
	sets := make([]filled, 16)
	for i := range sets {
		sets[i] = filled(i)
	}
	slices.SortStableFunc(sets, func(first, second filled) int {
		if first.len() != second.len() {
			return first.len() - second.len()
		}
		return int(bits.Reverse8(uint8(second))) - int(bits.Reverse8(uint8(first)))
	})
	return sets
}

// filledCells returns the cells of a line that have a tile.
func (g *grid) filledCells(occupied filled, cells line) line {
	var inLine line
	for _, cell := range cells {
		if occupied.contains(slices.Index(g.cells, cell)) {
			inLine = append(inLine, cell)
		}
	}
	return inLine
}

// canSlide reports whether a move slides a tile into an empty neighbouring cell if exactly the occupied cells have tiles.
func (g *grid) canSlide(move Move, occupied filled) bool {
	for _, pair := range g.neighbours(move) {
		if occupied.contains(slices.Index(g.cells, pair.far)) && !occupied.contains(slices.Index(g.cells, pair.near)) {
			return true
		}
	}
	return false
}

// mergeablePairs returns the pairs of neighbouring occupied cells in the direction of a move. If the tiles of such a pair are equal, the move merges
// them.
func (g *grid) mergeablePairs(move Move, occupied filled) []pair {
	var pairs []pair
	for _, pair := range g.neighbours(move) {
		if occupied.contains(slices.Index(g.cells, pair.far)) && occupied.contains(slices.Index(g.cells, pair.near)) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// canBeLegal reports whether a move can be legal if exactly the occupied cells have tiles.
func (g *grid) canBeLegal(move Move, occupied filled) bool {
	return g.canSlide(move, occupied) || len(g.mergeablePairs(move, occupied)) > 0
}

// anyEqual returns the condition that the tiles of at least one pair are equal.
func anyEqual(pairs []pair) syntax.Expr {
	var conditions []syntax.Expr
	for _, pair := range pairs {
		conditions = append(conditions, eq(ident(pair.near), ident(pair.far)))
	}
	return or(conditions...)
}

// exactlyFilled returns the condition that exactly the occupied cells have tiles.
func (g *grid) exactlyFilled(occupied filled) syntax.Expr {
	var conditions []syntax.Expr
	for i, cell := range g.cells {
		if occupied.contains(i) {
			conditions = append(conditions, isNot(cell, 0))
		} else {
			conditions = append(conditions, is(cell, 0))
		}
	}
	return and(conditions...)
}

// combinedMoves returns the moves of the combined model: one command for each move and each set of filled cells for which the move can be legal.
//
// Source: thesis section 3.4.
func (b *builder) combinedMoves() []*syntax.Command {
	var commands []*syntax.Command
	for _, move := range allMoves() {
		first := len(commands)
		for _, occupied := range arrangements() {
			if b.grid.canBeLegal(move, occupied) {
				commands = append(commands, b.combinedMove(move, occupied))
			}
		}
		commands[first].Doc = syntax.Doc{fmt.Sprintf("The move-merge phase, %s.", move)}
	}
	return commands
}

// combinedMove returns the command of a move for the states in which exactly the occupied cells have tiles.
func (b *builder) combinedMove(move Move, occupied filled) *syntax.Command {
	guards := []syntax.Expr{paren(b.grid.exactlyFilled(occupied))}
	if !b.grid.canSlide(move, occupied) {
		guards = append(guards, paren(anyEqual(b.grid.mergeablePairs(move, occupied))))
	}
	guards = append(guards, ident(noMax), is(phase, moveMerge))
	assigns := b.grid.assignments(move, func(_ int, line line, place int) syntax.Expr {
		return line.valueForTiles(place, max(1, len(b.grid.filledCells(occupied, line))))
	})
	return command(move.String(), and(guards...), update(nil, append(assigns, assign(phase, intLit(randomPhase)))...))
}
