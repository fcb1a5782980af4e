package game

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Format returns the tile values of a board, one row a line, each line ended, values separated by one space, a dot for an empty cell.
// Parse reads it back. The shape must be valid.
func (s Shape) Format(board Board) string { return s.formatValues(s.Values(board)) }

func (s Shape) formatValues(values []int) string {
	var text strings.Builder
	for i, value := range values {
		if value == 0 {
			text.WriteByte('.')
		} else {
			text.WriteString(strconv.Itoa(value))
		}
		if (i+1)%s.Cols == 0 {
			text.WriteByte('\n')
		} else {
			text.WriteByte(' ')
		}
	}
	return text.String()
}

// ParseError is one thing that is wrong with the text of a board.
type ParseError struct {
	Line, Col int // from 1; Col counts bytes
	Msg       string
}

// Error returns "line:col: message".
func (e *ParseError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg) }

// Parse reads tile values, one row a line, separated by spaces or tabs. "/" ends a row like a line end does, so that a board fits on
// one line: "2 . / 4 8". "." and "0" are empty cells; blank lines are skipped.
//
// The error joins one *ParseError for everything that is wrong, or is that of s.Validate.
func (s Shape) Parse(text string) (Board, error) {
	if err := s.Validate(); err != nil {
		return 0, err
	}
	parser := boardParser{shape: s}
	for i, line := range strings.Split(text, "\n") {
		parser.line, parser.col = i+1, 1
		for row := range strings.SplitSeq(line, "/") {
			parser.row(row)
			parser.col += len(row) + len("/")
		}
		parser.col-- // no "/" after the last row
	}
	if parser.rows != s.Rows {
		parser.errorf(0, "found %s, want %d for a %s board", count(parser.rows, "row"), s.Rows, s)
	}
	return parser.board, errors.Join(parser.errs...)
}

// boardParser is the state of Shape.Parse.
type boardParser struct {
	shape     Shape
	line, col int // where the row being read starts
	rows      int // not blank, so far
	board     Board
	errs      []error
}

// row reads one row, without what ends it.
func (p *boardParser) row(text string) {
	numFound := 0
	for start := 0; start < len(text); {
		if strings.IndexByte(" \t\r", text[start]) >= 0 {
			start++
			continue
		}
		end := len(text)
		if n := strings.IndexAny(text[start:], " \t\r"); n >= 0 {
			end = start + n
		}
		p.cell(numFound, start, text[start:end])
		numFound++
		start = end
	}
	if numFound == 0 {
		return
	}
	p.rows++
	if numFound != p.shape.Cols {
		p.errorf(0, "found %s in row %d, want %d for a %s board", count(numFound, "cell"), p.rows, p.shape.Cols, p.shape)
	}
}

// cell reads the word at offset at as the cell in column col of the row after the last.
func (p *boardParser) cell(col, column int, word string) {
	exp := 0
	if word != "." {
		value, err := strconv.Atoi(word)
		exponent, ok := exponent(value)
		if err != nil || !ok {
			p.errorf(column, "found %q, want a tile: . or %s", word, wantTile)
		}
		exp = exponent
	}
	if len(p.errs) == 0 && p.rows < p.shape.Rows && col < p.shape.Cols {
		p.board = p.board.With(p.rows*p.shape.Cols+col, exp)
	}
}

func (p *boardParser) errorf(at int, format string, args ...any) {
	p.errs = append(p.errs, &ParseError{Line: p.line, Col: p.col + at, Msg: fmt.Sprintf(format, args...)})
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// tileWidth fits the widest tile, 131072, and a space after it.
const tileWidth = 7

// Draw returns a board in a frame of box-drawing characters, 2*Rows+1 lines, each ended and 8*Cols+1 characters wide whatever the tiles are.
// The shape must be valid.
func (s Shape) Draw(board Board) string { return s.drawValues(s.Values(board)) }

func (s Shape) drawValues(values []int) string {
	var text strings.Builder
	text.WriteString(s.ruler("┌", "┬", "┐"))
	for i, value := range values {
		tile := ""
		if value != 0 {
			tile = strconv.Itoa(value)
		}
		fmt.Fprintf(&text, "│%*s ", tileWidth-1, tile)
		if (i+1)%s.Cols != 0 {
			continue
		}
		text.WriteString("│\n")
		if i+1 < s.Cells() {
			text.WriteString(s.ruler("├", "┼", "┤"))
		}
	}
	text.WriteString(s.ruler("└", "┴", "┘"))
	return text.String()
}

func (s Shape) ruler(left, middle, right string) string {
	dash := strings.Repeat("─", tileWidth)
	return left + strings.Repeat(dash+middle, s.Cols-1) + dash + right + "\n"
}
