package report

import (
	"fmt"
	"io"
	"slices"
)

// Table is what a command has to say in rows and columns. Build it with
// [Table.Append] and print it with [Table.Write].
type Table struct {
	Title   string // optional; not in CSV
	Columns []Column
	Rows    [][]Cell // every row has a cell a column
	Notes   []string // paragraphs below the table; not in CSV
}

// Column is a column of a [Table].
type Column struct {
	Name  string // lower case; also the key in JSON, where it must be unique
	Align Align
	// Min, when positive, lets a table that is too wide squeeze the column to
	// that width; Max, when positive, is the width it never exceeds. Cells that
	// do not fit break into lines.
	Min, Max int
	// Code marks text of a language, such as a property; Markdown shows it as code.
	Code bool
}

// Align is the alignment of a column in tables and Markdown.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
	Center
)

// Cell is a cell of a [Table].
type Cell struct {
	// Text is what people read; it may have several lines.
	Text string
	// Value is what JSON and CSV carry: a string, bool, number or list of
	// strings. When it is nil that is Text, or nothing in JSON if Text is empty.
	Value any
	Tone  Tone
}

// Tone is what a colour says about a cell. Nothing is said by colour alone.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
)

// Append adds a row. A [Cell] is taken as it is; any other value becomes a cell
// with its default text, a float64 with six significant digits.
func (t *Table) Append(values ...any) {
	row := make([]Cell, len(values))
	for i, v := range values {
		row[i] = cellOf(v)
	}
	t.Rows = append(t.Rows, row)
}

func cellOf(value any) Cell {
	switch x := value.(type) {
	case nil:
		return Cell{}
	case Cell:
		return x
	case string:
		return Cell{Text: x}
	case float64:
		return Cell{Text: scaleOf(x, 0).format(x, 0), Value: x}
	}
	return Cell{Text: fmt.Sprint(value), Value: value}
}

// Write prints the table in that format.
//
// The table for people is as wide as its contents unless [Options.Width] is
// less. Then columns with Min are squeezed, the widest first; if that is not
// enough, columns with the same text in every row are printed once, above the
// rest; and if that is not enough, every row becomes a block of lines
// "column  text".
//
// JSON is one object {"tilecheck", "title", "rows", "notes"}, a row being an
// object from column names to values without its empty cells.
//
// The error is that of w, or says which row has not a cell a column.
func (t *Table) Write(w io.Writer, f Format, opt Options) error {
	if i := slices.IndexFunc(t.Rows, func(row []Cell) bool { return len(row) != len(t.Columns) }); i >= 0 {
		return fmt.Errorf("row %d of the table has %d cells, want %d", i+1, len(t.Rows[i]), len(t.Columns))
	}
	switch f {
	case FormatTable:
		return t.writeText(w, opt)
	case FormatJSON:
		return t.writeJSON(w, opt)
	case FormatCSV:
		return t.writeCSV(w)
	case FormatMarkdown:
		return t.writeMarkdown(w)
	}
	return fmt.Errorf("unknown format %v", f)
}

func (t *Table) writeCSV(w io.Writer) error {
	header := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		header[i] = c.Name
	}
	records := [][]string{header}
	for _, row := range t.Rows {
		record := make([]string, len(row))
		for i, c := range row {
			record[i] = c.Text
			if c.Value != nil {
				record[i] = plain(c.Value)
			}
		}
		records = append(records, record)
	}
	return writeCSV(w, records)
}

func (t *Table) writeJSON(w io.Writer, opt Options) error {
	rows := make([]object, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make(object, len(row))
		for j, c := range row {
			value := c.Value
			if value == nil {
				value = some(c.Text)
			}
			rows[i][j] = member{t.Columns[j].Name, value}
		}
	}
	return writeJSON(w, envelope(opt, t.Title, "rows", rows, t.Notes))
}

// envelope is the one object of every JSON report.
func envelope(opt Options, title, key string, rows []object, notes []string) object {
	return object{{"tilecheck", opt.version()}, {"title", some(title)}, {key, rows}, {"notes", list(notes)}}
}

// dropEmpty returns the table without the columns that are empty in every row;
// without rows it is returned whole.
func (t *Table) dropEmpty() *Table {
	if len(t.Rows) == 0 {
		return t
	}
	out := &Table{Title: t.Title, Rows: make([][]Cell, len(t.Rows)), Notes: t.Notes}
	for i, c := range t.Columns {
		if !slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[i].Text != "" }) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, row := range t.Rows {
			out.Rows[j] = append(out.Rows[j], row[i])
		}
	}
	return out
}
