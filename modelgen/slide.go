package modelgen

import (
	"reflect"

	"tilecheck/prism/syntax"
)

// line is the variables of a row or column, starting at the wall that the tiles move to.
type line []string

// moved returns the value of the line's cell j after the move, for every valuation of its cells. count names the formula that says how
// many of them hold a tile: the result is `count=L ? … : count=L-1 ? … : …`, one branch for each number of tiles and cells' own
// conditionals in it to find out which cells are empty. byTiles is movedTiles or publishedTiles.
//
// Source: thesis section 3.5, flowchart under "Merging commands with the same action"; the branches follow the rules of section 3.1,
// where those of Tables 3.4 and 3.5 do not.
func (l line) moved(j int, count string, byTiles func(l line, j, tiles int) syntax.Expr) syntax.Expr {
	x := byTiles(l, j, 1)
	for tiles := 2; tiles <= len(l); tiles++ {
		x = choose(is(count, tiles), byTiles(l, j, tiles), x)
	}
	return x
}

// movedTiles is moved for the valuations where exactly tiles cells, at least one, hold a tile. For tiles == 1 it holds for an empty line
// as well, as in Table 3.2.
func (l line) movedTiles(j, tiles int) syntax.Expr { return l.from(j, 0, tiles) }

// from returns what the tiles in cells p and beyond, of which there are exactly tiles, put into the j-th place after them.
func (l line) from(j, p, tiles int) syntax.Expr {
	switch {
	case j >= tiles:
		return intLit(0)
	case len(l)-p == tiles:
		return l.held(j, p, p+1, tiles-1)
	}
	return choose(is(l[p], 0), l.from(j, p+1, tiles), l.held(j, p, p+1, tiles-1))
}

// held is from for the tile in cell h, which has not merged yet, followed by exactly tiles tiles in cells p and beyond.
func (l line) held(j, h, p, tiles int) syntax.Expr {
	switch {
	case j > tiles:
		return intLit(0)
	case tiles == 0:
		return ident(l[h])
	case len(l)-p == tiles:
		return l.met(j, h, p, tiles-1)
	}
	return choose(is(l[p], 0), l.held(j, h, p+1, tiles), l.met(j, h, p, tiles-1))
}

// met is held for the tile in cell h that reaches the tile in cell p, which tiles more follow: it merges when they are equal.
func (l line) met(j, h, p, tiles int) syntax.Expr {
	equal := eq(ident(l[h]), ident(l[p]))
	if j == 0 {
		return choose(equal, binary(syntax.OpMul, intLit(2), ident(l[h])), ident(l[h]))
	}
	return choose(equal, l.from(j-1, p+1, tiles), l.held(j-1, p, p+1, tiles))
}

// choose is `c ? t : e`, or t when both are the same.
func choose(c, t, e syntax.Expr) syntax.Expr {
	if reflect.DeepEqual(t, e) {
		return t
	}
	return &syntax.Cond{C: c, T: t, E: e}
}
