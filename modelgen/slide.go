package modelgen

import (
	"reflect"

	"tilecheck/prism/syntax"
)

// line has the cells of a row or column, starting at the wall that the tiles move to.
type line []string

// movedValue returns the new value of a place of the line after the move, as an expression of the old values of the cells. The expression has one
// branch for each number of tiles; count is the name of the formula for the number of tiles in the line. valueFor returns the branch for a number of
// tiles.
//
// Source: thesis section 3.5, flowchart under "Merging commands with the same action"; the branches follow the rules of section 3.1 where Tables 3.4
// and 3.5 break them.
func (l line) movedValue(place int, count string, valueFor func(l line, place, tiles int) syntax.Expr) syntax.Expr {
	value := valueFor(l, place, 1)
	for tiles := 2; tiles <= len(l); tiles++ {
		value = conditional(is(count, tiles), valueFor(l, place, tiles), value)
	}
	return value
}

// valueForTiles returns the new value of a place if the line has exactly the given number of tiles, at least one. The value for one tile is also
// correct for an empty line, as in Table 3.2.
func (l line) valueForTiles(place, tiles int) syntax.Expr { return l.placeValue(place, 0, tiles) }

// placeValue returns the value at index place of the tiles after the move, if exactly the given number of tiles are in the cells from next on, and no
// earlier tile can merge with them.
func (l line) placeValue(place, next, tiles int) syntax.Expr {
	switch {
	case place >= tiles:
		return intLit(0)
	case len(l)-next == tiles:
		return l.placeValuePending(place, next, next+1, tiles-1)
	}
	return conditional(is(l[next], 0), l.placeValue(place, next+1, tiles), l.placeValuePending(place, next, next+1, tiles-1))
}

// placeValuePending returns the value at index place if a tile in the cell pending precedes the tiles and has not merged yet. Exactly the given
// number of tiles are in the cells from next on.
func (l line) placeValuePending(place, pending, next, tiles int) syntax.Expr {
	switch {
	case place > tiles:
		return intLit(0)
	case tiles == 0:
		return ident(l[pending])
	case len(l)-next == tiles:
		return l.placeValueMeeting(place, pending, next, tiles-1)
	}
	return conditional(is(l[next], 0), l.placeValuePending(place, pending, next+1, tiles), l.placeValueMeeting(place, pending, next, tiles-1))
}

// placeValueMeeting returns the value at index place if the tile in the cell pending meets the tile in the cell next, and the given number of tiles
// follow. Equal tiles merge.
func (l line) placeValueMeeting(place, pending, next, tiles int) syntax.Expr {
	equal := eq(ident(l[pending]), ident(l[next]))
	if place == 0 {
		return conditional(equal, binary(syntax.OpMul, intLit(2), ident(l[pending])), ident(l[pending]))
	}
	return conditional(equal, l.placeValue(place-1, next+1, tiles), l.placeValuePending(place-1, next, next+1, tiles))
}

// conditional returns the expression condition ? then : otherwise, or then if both branches are the same.
func conditional(condition, then, otherwise syntax.Expr) syntax.Expr {
	if reflect.DeepEqual(then, otherwise) {
		return then
	}
	return &syntax.Cond{Condition: condition, Then: then, Else: otherwise}
}
