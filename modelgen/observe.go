package modelgen

import (
	"fmt"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Observe is the part of the board that the player of a partially observable model sees. The
// phase, the start and the end of the game are always visible. The zero value is the whole board.
type Observe struct {
	Kind ObserveKind
	// Row is that of ObserveRow, from 0.
	Row int
	// Cells are those of ObserveCells, in increasing order.
	Cells string // the numbers as text, so that an Observe is comparable: "0,3"
}

// ObserveKind is the kind of an Observe.
type ObserveKind uint8

// The kinds of observation.
const (
	// ObserveAll is every cell: the player of the other models.
	ObserveAll ObserveKind = iota
	// ObserveNone is no cell: a blindfolded player.
	ObserveNone
	// ObserveMax is the greatest tile, not where it is.
	ObserveMax
	// ObserveRow is the cells of one row.
	ObserveRow
	// ObserveCells is some cells.
	ObserveCells
)

const observeWant = "all, none, max, row:R, cells:0,3 (row by row from 0) or mask:10/01 (1 is a cell that is seen)"

// ParseObserve reads "all", "none", "max", "row:1", "cells:0,3" and, for the same cells of a 2x2 board, "mask:10/01" or "mask:1001". The
// error is a *FieldError.
func ParseObserve(text string) (Observe, error) {
	wrong := &FieldError{"observe", strconv.Quote(text), observeWant}
	kind, rest, simplifyIf := strings.Cut(text, ":")
	switch {
	case !simplifyIf && kind == "all":
		return Observe{}, nil
	case !simplifyIf && kind == "none":
		return Observe{Kind: ObserveNone}, nil
	case !simplifyIf && kind == "max":
		return Observe{Kind: ObserveMax}, nil
	case kind == "row":
		r, err := strconv.Atoi(rest)
		if err != nil || r < 0 || r >= maxSide || strconv.Itoa(r) != rest {
			return Observe{}, wrong
		}
		return Observe{Kind: ObserveRow, Row: r}, nil
	case kind == "cells":
		before := -1
		for word := range strings.SplitSeq(rest, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n <= before || n >= maxSide*maxSide || strconv.Itoa(n) != word {
				return Observe{}, wrong
			}
			before = n
		}
		return Observe{Kind: ObserveCells, Cells: rest}, nil
	case kind == "mask":
		return parseMask(strings.ReplaceAll(rest, "/", ""), wrong)
	}
	return Observe{}, wrong
}

func parseMask(mask string, wrong error) (Observe, error) {
	if mask == "" || len(mask) > maxSide*maxSide || strings.Trim(mask, "01") != "" {
		return Observe{}, wrong
	}
	var cells []string
	for i, c := range mask {
		if c == '1' {
			cells = append(cells, strconv.Itoa(i))
		}
	}
	if cells == nil {
		return Observe{Kind: ObserveNone}, nil
	}
	return Observe{Kind: ObserveCells, Cells: strings.Join(cells, ",")}, nil
}

// String returns a text that ParseObserve reads; a mask as cells.
func (o Observe) String() string {
	switch o.Kind {
	case ObserveAll:
		return "all"
	case ObserveNone:
		return "none"
	case ObserveMax:
		return "max"
	case ObserveRow:
		return "row:" + strconv.Itoa(o.Row)
	case ObserveCells:
		return "cells:" + o.Cells
	}
	return fmt.Sprintf("ObserveKind(%d)", o.Kind)
}

// validate returns an error for cells or rows outside the board.
func (o Observe) validate(rows, cols int) error {
	parsed, err := ParseObserve(o.String())
	if err != nil || parsed != o {
		return &FieldError{"observe", o.String(), observeWant}
	}
	if o.Kind == ObserveRow && o.Row >= rows {
		return &FieldError{"observe", o.String(), fmt.Sprintf("a row from 0 to %d", rows-1)}
	}
	for _, i := range o.cells(rows, cols) {
		if i >= rows*cols {
			return &FieldError{"observe", o.String(), fmt.Sprintf("cells from 0 to %d", rows*cols-1)}
		}
	}
	return nil
}

// cells returns the numbers of the cells that are observed individually.
func (o Observe) cells(rows, cols int) []int {
	var out []int
	switch o.Kind {
	case ObserveAll:
		for i := range rows * cols {
			out = append(out, i)
		}
	case ObserveRow:
		for c := range cols {
			out = append(out, o.Row*cols+c)
		}
	case ObserveCells:
		for word := range strings.SplitSeq(o.Cells, ",") {
			i, _ := strconv.Atoi(word)
			out = append(out, i)
		}
	}
	return out
}

func (o Observe) meaning() []string {
	what := map[ObserveKind]string{
		ObserveAll: "every cell", ObserveNone: "no cell", ObserveMax: "the greatest tile, not where it is",
		ObserveRow: fmt.Sprintf("row %d", o.Row), ObserveCells: "the cells " + o.Cells,
	}[o.Kind]
	return []string{
		fmt.Sprintf("Observe %q: the player sees %s,", o, what),
		"  besides the phase, the start and the end of the game. Every move can be tried; an",
		"  illegal one changes nothing, which the player sees by the phase.",
	}
}

// observables declares the observables.
func (b *builder) observables() []syntax.Item {
	see := func(name string, x syntax.Expr) syntax.Item {
		return &syntax.ObservableDecl{Name: &syntax.Ident{Name: name}, X: x}
	}
	seen := &syntax.Observables{Doc: syntax.Doc{"What the player sees."}, Names: []*syntax.Ident{ident(phase)}}
	for _, i := range b.cfg.Observe.cells(b.cfg.Rows, b.cfg.Cols) {
		seen.Names = append(seen.Names, ident(b.grid.cells[i]))
	}
	items := []syntax.Item{seen}
	if b.cfg.Observe.Kind == ObserveMax {
		items = append(items, see("greatest", call("max", each(b.grid.cells, func(c string) syntax.Expr { return ident(c) })...)))
	}
	return append(items, see("begins", ident(fieldEmpty)), see("won", ident(success)), see("lost", ident(fail)))
}

// blindMoves returns the moves of a player who does not know which moves are legal.
func (b *builder) blindMoves() []*syntax.Command {
	commands := b.finalMoves()
	var refused []*syntax.Command
	for _, m := range allMoves() {
		guard := and(ident(noMax), not(ident(fail)), not(ident(m.canMove())), is(phase, moveMerge))
		refused = append(refused, command(m.String(), guard, update(nil)))
	}
	documented(refused[0], "Moves that are illegal can be tried.")
	return append(commands, refused...)
}
