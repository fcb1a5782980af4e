package modelgen

import (
	"fmt"
	"math/bits"
	"slices"

	"tilecheck/prism/syntax"
)

// filled is the set of the cells that hold a tile, bit i for cell i.
type filled uint

// String writes a digit for each of four cells, cell 0 first: 1 when it is filled.
func (f filled) String() string {
	s := []byte("0000")
	for i := range s {
		s[i] += byte(f >> i & 1)
	}
	return string(s)
}

func (f filled) has(i int) bool { return f>>i&1 == 1 }

func (f filled) len() int { return bits.OnesCount(uint(f)) }

// arrangements returns the sets of filled cells on a board of four, those with fewer tiles first, then those that have the first filled
// cell further to the front.
func arrangements() []filled {
	all := make([]filled, 16)
	for i := range all {
		all[i] = filled(i)
	}
	slices.SortStableFunc(all, func(a, b filled) int {
		if a.len() != b.len() {
			return a.len() - b.len()
		}
		return int(bits.Reverse8(uint8(b))) - int(bits.Reverse8(uint8(a)))
	})
	return all
}

// tiles returns the cells of a line that hold a tile.
func (g *grid) tiles(f filled, l line) line {
	var tiles line
	for _, cell := range l {
		if f.has(slices.Index(g.cells, cell)) {
			tiles = append(tiles, cell)
		}
	}
	return tiles
}

// slides reports whether some tile has an empty cell before it.
func (g *grid) slides(m Move, f filled) bool {
	for _, p := range g.pairs(m) {
		if f.has(slices.Index(g.cells, p.far)) && !f.has(slices.Index(g.cells, p.near)) {
			return true
		}
	}
	return false
}

// merges returns the pairs of neighbours of which one pair must be equal for the move to be legal.
func (g *grid) merges(m Move, f filled) []pair {
	var ps []pair
	for _, p := range g.pairs(m) {
		if f.has(slices.Index(g.cells, p.far)) && f.has(slices.Index(g.cells, p.near)) {
			ps = append(ps, p)
		}
	}
	return ps
}

// possible reports whether a move can be legal for these filled cells.
func (g *grid) possible(m Move, f filled) bool { return g.slides(m, f) || len(g.merges(m, f)) > 0 }

// anyEqual is true when one of the pairs is equal.
func anyEqual(ps []pair) syntax.Expr {
	var xs []syntax.Expr
	for _, p := range ps {
		xs = append(xs, eq(ident(p.near), ident(p.far)))
	}
	return or(xs...)
}

// exactly is true when these cells hold a tile and no other does.
func (g *grid) exactly(f filled) syntax.Expr {
	var xs []syntax.Expr
	for i, cell := range g.cells {
		if f.has(i) {
			xs = append(xs, isNot(cell, 0))
		} else {
			xs = append(xs, is(cell, 0))
		}
	}
	return and(xs...)
}

// combinedMoves has one command for each move and set of filled cells for which it can be legal.
//
// Source: thesis section 3.4.
func (b *builder) combinedMoves() []*syntax.Command {
	var commands []*syntax.Command
	for _, m := range allMoves() {
		first := len(commands)
		for _, f := range arrangements() {
			if b.grid.possible(m, f) {
				commands = append(commands, b.combinedMove(m, f))
			}
		}
		commands[first].Doc = syntax.Doc{fmt.Sprintf("The move-merge phase, %s.", m)}
	}
	return commands
}

func (b *builder) combinedMove(m Move, f filled) *syntax.Command {
	guards := []syntax.Expr{paren(b.grid.exactly(f))}
	if !b.grid.slides(m, f) {
		guards = append(guards, paren(anyEqual(b.grid.merges(m, f))))
	}
	guards = append(guards, ident(noMax), is(phase, moveMerge))
	assigns := b.grid.moved(m, func(_ int, l line, j int) syntax.Expr {
		return l.movedTiles(j, max(1, len(b.grid.tiles(f, l))))
	})
	return command(m.String(), and(guards...), update(nil, append(assigns, assign(phase, intLit(randomPhase)))...))
}
