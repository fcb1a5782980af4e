package table

import "io"

// Facts are what a command has to say about one thing: for people a line each,
// for programs one result with a field each.
type Facts struct {
	Title  string
	Notes  []string
	fields Table // with one row
	lines  Table
}

// Add adds a fact: a value with its name in text, and its field in JSON and CSV. Text does not show a fact without a name. detail is an explanation
// that only text and Markdown show; it may be nil.
func (f *Facts) Add(column Column, value, detail any) {
	cell := cellOf(value)
	f.fields.Columns = append(f.fields.Columns, column)
	if len(f.fields.Rows) == 0 {
		f.fields.Rows = make([][]Cell, 1)
	}
	f.fields.Rows[0] = append(f.fields.Rows[0], cell)
	if column.Name != "" {
		f.lines.Append(column.Name, cell, detail)
	}
}

// Write writes the facts to w: a line for each fact in text and Markdown, and one record with a field for each fact in JSON and CSV.
func (f *Facts) Write(w io.Writer, format Format, opt Options) error {
	facts := f.lines
	facts.Columns = []Column{{Name: "item"}, {Name: "value", Align: Right}, {Name: "detail"}}
	if format.Machine() {
		facts = f.fields
	}
	facts.Title, facts.Notes = f.Title, f.Notes
	return facts.Write(w, format, opt)
}
