package modelgen

import (
	"reflect"

	"tilecheck/prism/syntax"
)

// line is the variables of a row or column, starting at the wall that the tiles move to.
type line []string

// moved returns the value of cell j of the line after the move, as an expression of the cells.
// count names the formula for the number of tiles in the line. The result is `count=L ? … :
// count=L-1 ? … : …`: one branch per number of tiles, with conditionals that find the empty cells.
// byTiles is movedTiles or publishedTiles.
//
// Source: thesis section 3.5, flowchart under "Merging commands with the same action"; the branches follow the rules of section 3.1 where Tables 3.4 and 3.5 break them.
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

// from returns the value of the j-th place when exactly the given number of tiles in cells p and
// beyond slide into the places from there on.
func (l line) from(j, p, tiles int) syntax.Expr {
	switch {
	case j >= tiles:
		return intLit(0)
	case len(l)-p == tiles:
		return l.withPending(j, p, p+1, tiles-1)
	}
	return choose(is(l[p], 0), l.from(j, p+1, tiles), l.withPending(j, p, p+1, tiles-1))
}

// withPending is from after the tile in cell h, which has not merged yet, with exactly the given
// number of tiles in cells p and beyond.
func (l line) withPending(j, h, p, tiles int) syntax.Expr {
	switch {
	case j > tiles:
		return intLit(0)
	case tiles == 0:
		return ident(l[h])
	case len(l)-p == tiles:
		return l.reaching(j, h, p, tiles-1)
	}
	return choose(is(l[p], 0), l.withPending(j, h, p+1, tiles), l.reaching(j, h, p, tiles-1))
}

// reaching is withPending when the tile in cell h reaches the tile in cell p, after which the
// given number of tiles follow: equal tiles merge.
func (l line) reaching(j, h, p, tiles int) syntax.Expr {
	equal := eq(ident(l[h]), ident(l[p]))
	if j == 0 {
		return choose(equal, binary(syntax.OpMul, intLit(2), ident(l[h])), ident(l[h]))
	}
	return choose(equal, l.from(j-1, p+1, tiles), l.withPending(j-1, p, p+1, tiles))
}

// choose is `c ? t : e`, or t when both are the same.
func choose(c, t, e syntax.Expr) syntax.Expr {
	if reflect.DeepEqual(t, e) {
		return t
	}
	return &syntax.Cond{C: c, T: t, E: e}
}
