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
	// Row is the row of ObserveRow, from 0.
	Row int
	// Cells are the cells of ObserveCells, in increasing order.
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

// ParseObserve parses the text of an Observe: "all", "none", "max", "row:1", "cells:0,3" or, for the same cells of a 2x2 board, "mask:10/01" or
// "mask:1001". The error is a *FieldError.
func ParseObserve(text string) (Observe, error) {
	fieldError := &FieldError{"observe", strconv.Quote(text), observeWant}
	kind, argument, hasArgument := strings.Cut(text, ":")
	switch {
	case !hasArgument && kind == "all":
		return Observe{}, nil
	case !hasArgument && kind == "none":
		return Observe{Kind: ObserveNone}, nil
	case !hasArgument && kind == "max":
		return Observe{Kind: ObserveMax}, nil
	case kind == "row":
		row, err := strconv.Atoi(argument)
		if err != nil || row < 0 || row >= maxSide || strconv.Itoa(row) != argument {
			return Observe{}, fieldError
		}
		return Observe{Kind: ObserveRow, Row: row}, nil
	case kind == "cells":
		previous := -1
		for word := range strings.SplitSeq(argument, ",") {
			cell, err := strconv.Atoi(word)
			if err != nil || cell <= previous || cell >= maxSide*maxSide || strconv.Itoa(cell) != word {
				return Observe{}, fieldError
			}
			previous = cell
		}
		return Observe{Kind: ObserveCells, Cells: argument}, nil
	case kind == "mask":
		return parseMask(strings.ReplaceAll(argument, "/", ""), fieldError)
	}
	return Observe{}, fieldError
}

// parseMask parses a mask without slashes: the digit 1 stands for a cell that the player sees, 0 for another cell. It returns fieldError for any
// other text.
func parseMask(mask string, fieldError error) (Observe, error) {
	if mask == "" || len(mask) > maxSide*maxSide || strings.Trim(mask, "01") != "" {
		return Observe{}, fieldError
	}
	var cells []string
	for i, digit := range mask {
		if digit == '1' {
			cells = append(cells, strconv.Itoa(i))
		}
	}
	if cells == nil {
		return Observe{Kind: ObserveNone}, nil
	}
	return Observe{Kind: ObserveCells, Cells: strings.Join(cells, ",")}, nil
}

// String returns a text that ParseObserve parses. It writes a mask as cells.
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

// validate returns an error if the kind is invalid, or if a row or a cell is not on the board.
func (o Observe) validate(rows, cols int) error {
	parsed, err := ParseObserve(o.String())
	if err != nil || parsed != o {
		return &FieldError{"observe", o.String(), observeWant}
	}
	if o.Kind == ObserveRow && o.Row >= rows {
		return &FieldError{"observe", o.String(), fmt.Sprintf("a row from 0 to %d", rows-1)}
	}
	for _, cell := range o.cells(rows, cols) {
		if cell >= rows*cols {
			return &FieldError{"observe", o.String(), fmt.Sprintf("cells from 0 to %d", rows*cols-1)}
		}
	}
	return nil
}

// cells returns the indices of the cells that the player sees, row by row.
func (o Observe) cells(rows, cols int) []int {
	var cells []int
	switch o.Kind {
	case ObserveAll:
		for cell := range rows * cols {
			cells = append(cells, cell)
		}
	case ObserveRow:
		for col := range cols {
			cells = append(cells, o.Row*cols+col)
		}
	case ObserveCells:
		for word := range strings.SplitSeq(o.Cells, ",") {
			cell, _ := strconv.Atoi(word)
			cells = append(cells, cell)
		}
	}
	return cells
}

// meaning returns lines that describe what the player sees.
func (o Observe) meaning() []string {
	seenCells := map[ObserveKind]string{
		ObserveAll: "every cell", ObserveNone: "no cell", ObserveMax: "the greatest tile, not where it is",
		ObserveRow: fmt.Sprintf("row %d", o.Row), ObserveCells: "the cells " + o.Cells,
	}[o.Kind]
	return []string{
		fmt.Sprintf("Observe %q: the player sees %s,", o, seenCells),
		"  besides the phase, the start and the end of the game. Every move can be tried; an",
		"  illegal one changes nothing, which the player sees by the phase.",
	}
}

// observables returns the declarations of the observables of a POMDP.
func (b *builder) observables() []syntax.Item {
	observable := func(name string, expr syntax.Expr) syntax.Item {
		return &syntax.ObservableDecl{Name: &syntax.Ident{Name: name}, X: expr}
	}
	visible := &syntax.Observables{Doc: syntax.Doc{"What the player sees."}, Names: []*syntax.Ident{ident(phase)}}
	for _, cell := range b.cfg.Observe.cells(b.cfg.Rows, b.cfg.Cols) {
		visible.Names = append(visible.Names, ident(b.grid.cells[cell]))
	}
	items := []syntax.Item{visible}
	if b.cfg.Observe.Kind == ObserveMax {
		items = append(items, observable("greatest", call("max", each(b.grid.cells, func(cell string) syntax.Expr { return ident(cell) })...)))
	}
	return append(items, observable("begins", ident(fieldEmpty)), observable("won", ident(success)), observable("lost", ident(fail)))
}

// blindMoves returns the moves of a player who does not know which moves are legal: an illegal move does nothing.
func (b *builder) blindMoves() []*syntax.Command {
	commands := b.finalMoves()
	var illegal []*syntax.Command
	for _, move := range allMoves() {
		guard := and(ident(noMax), not(ident(fail)), not(ident(move.canMove())), is(phase, moveMerge))
		illegal = append(illegal, command(move.String(), guard, update(nil)))
	}
	documented(illegal[0], "Moves that are illegal can be tried.")
	return append(commands, illegal...)
}
