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

// cellOf returns a value as a cell, with its default text. A value that is a cell stays unchanged.
func cellOf(value any) Cell {
	switch typed := value.(type) {
	case nil:
		return Cell{}
	case Cell:
		return typed
	case string:
		return Cell{Text: typed}
	case float64:
		return Cell{Text: number.Text(typed), Value: typed}
	}
	return Cell{Text: fmt.Sprint(value), Value: value}
}

// Write writes the table to w in a format.
//
// The text format is as wide as the contents, unless [Options.Width] is less. Then Write makes columns with Min narrower, the widest first. If that
// is not enough, it prints columns with the same text in every row only once, above the table. If that is not enough either, it prints each row as a
// block of lines "column  text".
//
// JSON is one object, as the package comment says. In it, each row is an object without the empty cells.
//
// Write returns an error if a row does not have one cell for each column, or if a write fails.
func (t *Table) Write(w io.Writer, format Format, opt Options) error {
	if i := slices.IndexFunc(t.Rows, func(row []Cell) bool { return len(row) != len(t.Columns) }); i >= 0 {
		return fmt.Errorf("row %d of the table has %d cells, want %d", i+1, len(t.Rows[i]), len(t.Columns))
	}
	switch format {
	case Text:
		return t.forPeople().writeText(w, opt)
	case JSON:
		return t.writeJSON(w, opt)
	case CSV:
		return t.writeCSV(w)
	case Markdown:
		return t.forPeople().writeMarkdown(w)
	}
	return fmt.Errorf("unknown format %v", format)
}

// key returns the key of the column in JSON and CSV; "" if only text and Markdown show the column.
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
		column := &t.Columns[i]
		switch key := column.key(); {
		case key == "":
		case column.Group != "":
			header = append(header, column.Group+"_"+key)
		default:
			header = append(header, key)
		}
	}
	records := [][]string{header}
	for _, row := range t.Rows {
		record := make([]string, 0, len(header))
		for i, cell := range row {
			if t.Columns[i].key() == "" {
				continue
			}
			text := cell.Text
			if cell.Value != nil {
				text = plain(cell.Value)
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

// objects returns the rows as JSON objects.
func (t *Table) objects() []object {
	rows := make([]object, len(t.Rows))
	for i, row := range t.Rows {
		for j, cell := range row {
			column := &t.Columns[j]
			if key := column.key(); key != "" {
				rows[i] = append(rows[i], member{column.Group, key, cell.machine()})
			}
		}
	}
	return rows
}

// machine returns the value of the cell in JSON; nil if the cell is empty.
func (c *Cell) machine() any {
	switch typed := c.Value.(type) {
	case float64:
		return result.JSONNumber(typed)
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

// without returns a copy of the table without the columns for whose index drop returns true.
func (t *Table) without(drop func(i int) bool) *Table {
	remaining := &Table{Title: t.Title, Rows: make([][]Cell, len(t.Rows)), Notes: t.Notes}
	for i, column := range t.Columns {
		if drop(i) {
			continue
		}
		remaining.Columns = append(remaining.Columns, column)
		for j, row := range t.Rows {
			remaining.Rows[j] = append(remaining.Rows[j], row[i])
		}
	}
	return remaining
}
