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

// Add adds a fact. Its column has the name and the field as those of a [Table]
// have them; detail is for people, and may be nil.
func (f *Facts) Add(c Column, value, detail any) {
	cell := cellOf(value)
	f.fields.Columns = append(f.fields.Columns, c)
	if len(f.fields.Rows) == 0 {
		f.fields.Rows = make([][]Cell, 1)
	}
	f.fields.Rows[0] = append(f.fields.Rows[0], cell)
	if c.Name != "" {
		f.lines.Append(c.Name, cell, detail)
	}
}

// Write prints the facts in that format. The error is that of w.
func (f *Facts) Write(w io.Writer, format Format, opt Options) error {
	t := f.lines
	t.Columns = []Column{{Name: "item"}, {Name: "value", Align: Right}, {Name: "detail"}}
	if format.Machine() {
		t = f.fields
	}
	t.Title, t.Notes = f.Title, f.Notes
	return t.Write(w, format, opt)
}
