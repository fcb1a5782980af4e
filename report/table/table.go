package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tilecheck/report/number"
	"tilecheck/result"
)

// Table is what a command has to say in rows and columns. Build it with
// [Table.Append] and print it with [Table.Write].
type Table struct {
	Title   string // optional; not in CSV
	Summary any    // what JSON has as "summary" instead of the title
	Columns []Column
	Rows    [][]Cell // every row has a cell a column
	Notes   []string // paragraphs below the table; not in CSV
}

// Column is a column of a [Table].
type Column struct {
	// Name is what people read above the column; without one they do not see it.
	Name string
	// Field is the column in CSV and the member in JSON, where it must be unique.
	// Empty is the name with "_" for blanks; a column with "-" is for people alone.
	Field string
	// Group is the member in JSON that has the field in it, in CSV what it begins
	// with.
	Group string
	Align Align
	// Each keeps the column in every row, also where all rows have the same text in a table that is too wide.
	Each bool
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

// cellOf returns the cell of a value.
func cellOf(value any) Cell {
	switch x := value.(type) {
	case nil:
		return Cell{}
	case Cell:
		return x
	case string:
		return Cell{Text: x}
	case float64:
		return Cell{Text: number.Text(x), Value: x}
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
// JSON is one object, as the package comment says, with a row an object of
// fields without its empty cells.
//
// The error is that of w, or says which row has not a cell a column.
func (t *Table) Write(w io.Writer, f Format, opt Options) error {
	if i := slices.IndexFunc(t.Rows, func(row []Cell) bool { return len(row) != len(t.Columns) }); i >= 0 {
		return fmt.Errorf("row %d of the table has %d cells, want %d", i+1, len(t.Rows[i]), len(t.Columns))
	}
	switch f {
	case Text:
		return t.forPeople().writeText(w, opt)
	case JSON:
		return t.writeJSON(w, opt)
	case CSV:
		return t.writeCSV(w)
	case Markdown:
		return t.forPeople().writeMarkdown(w)
	}
	return fmt.Errorf("unknown format %v", f)
}

// key is the column's member in JSON, empty if it has none.
func (c *Column) key() string {
	switch c.Field {
	case "-":
		return ""
	case "":
		return strings.ReplaceAll(c.Name, " ", "_")
	}
	return c.Field
}

// writeCSV writes the table as CSV: a header and a line per row.
func (t *Table) writeCSV(w io.Writer) error {
	header := make([]string, 0, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		switch key := c.key(); {
		case key == "":
		case c.Group != "":
			header = append(header, c.Group+"_"+key)
		default:
			header = append(header, key)
		}
	}
	records := [][]string{header}
	for _, row := range t.Rows {
		record := make([]string, 0, len(header))
		for i, c := range row {
			if t.Columns[i].key() == "" {
				continue
			}
			text := c.Text
			if c.Value != nil {
				text = plain(c.Value)
			}
			record = append(record, text)
		}
		records = append(records, record)
	}
	return writeCSV(w, records)
}

// writeJSON writes the table as a JSON document.
func (t *Table) writeJSON(w io.Writer, opt Options) error {
	return writeDocument(w, opt, t.summary(), t.objects(), t.Notes)
}

// summary returns the summary of the JSON document: the table's own, or one with its title.
func (t *Table) summary() any {
	if t.Summary != nil {
		return t.Summary
	}
	return Summary(t.Title)
}

// objects are the rows in JSON.
func (t *Table) objects() []object {
	rows := make([]object, len(t.Rows))
	for i, row := range t.Rows {
		for j, cell := range row {
			c := &t.Columns[j]
			if key := c.key(); key != "" {
				rows[i] = append(rows[i], member{c.Group, key, cell.machine()})
			}
		}
	}
	return rows
}

// machine is the value in JSON; nil if there is none.
func (c *Cell) machine() any {
	switch x := c.Value.(type) {
	case float64:
		return result.JSONNumber(x)
	case nil:
		if c.Text == "" {
			return nil
		}
		return c.Text
	}
	return c.Value
}

// forPeople returns the table without the columns that only machines read.
func (t *Table) forPeople() *Table {
	return t.without(func(i int) bool { return t.Columns[i].Name == "" && t.Columns[i].Field != "" })
}

// DropEmpty returns the table without the columns that are empty in every row;
// without rows it is returned whole.
func (t *Table) DropEmpty() *Table {
	return t.without(func(i int) bool {
		return len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[i].Text != "" })
	})
}

// without returns the table without some columns.
func (t *Table) without(drop func(i int) bool) *Table {
	out := &Table{Title: t.Title, Rows: make([][]Cell, len(t.Rows)), Notes: t.Notes}
	for i, c := range t.Columns {
		if drop(i) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, row := range t.Rows {
			out.Rows[j] = append(out.Rows[j], row[i])
		}
	}
	return out
}
