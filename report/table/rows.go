package table

import (
	"bytes"
	"fmt"
	"io"
)

// chunk is how many rows are printed at a time.
const chunk = 1000

// Rows prints a [Table] whose rows come one by one, and keeps few of them; see
// [Table.Stream].
type Rows struct {
	t     Table // rows that are not printed yet
	w     io.Writer
	f     Format
	opt   Options
	begun bool     // rows were printed
	doc   document // the object in JSON
	grid  []int    // widths of the columns of the table for people; nil if it has blocks
}

// Stream prints the table as [Table.Write] does while its rows are appended;
// Close ends it. The table for people is that of Write if it has no more than a
// thousand rows. A longer one has the widths of the first thousand until a row
// needs more, and blocks if those do not fit.
func (t *Table) Stream(w io.Writer, f Format, opt Options) *Rows {
	return &Rows{t: *t, w: w, f: f, opt: opt}
}

// Append adds a row as [Table.Append] does. The error is that of the writer.
func (r *Rows) Append(values ...any) error {
	if len(values) != len(r.t.Columns) {
		return fmt.Errorf("a row of the table has %d cells, want %d", len(values), len(r.t.Columns))
	}
	if len(r.t.Rows) == chunk {
		notes := r.t.Notes
		r.t.Notes = nil
		if err := r.print(false); err != nil {
			return err
		}
		r.t.Rows, r.t.Notes = r.t.Rows[:0], notes
	}
	r.t.Append(values...)
	return nil
}

// Close prints the last rows and the notes, to which it adds.
func (r *Rows) Close(notes ...string) error {
	r.t.Notes = append(r.t.Notes[:len(r.t.Notes):len(r.t.Notes)], notes...)
	if !r.begun {
		return r.t.Write(r.w, r.f, r.opt)
	}
	return r.print(true)
}

// print prints rows that are not all.
func (r *Rows) print(last bool) error {
	var b bytes.Buffer
	switch r.f {
	case Text:
		r.text(&b)
	case JSON:
		if err := r.json(last); err != nil {
			return err
		}
		_, _ = r.doc.WriteTo(&b)
	default: // the rows are what comes after the empty table
		before := 0
		if r.begun {
			empty := Table{Title: r.t.Title, Columns: r.t.Columns}
			if err := empty.Write(&b, r.f, r.opt); err != nil {
				return err
			}
			before = b.Len()
			b.Reset()
		}
		if err := r.t.Write(&b, r.f, r.opt); err != nil {
			return err
		}
		b.Next(before)
	}
	r.begun = true
	_, err := r.w.Write(b.Bytes())
	return err
}

// json prints rows of the one array.
func (r *Rows) json(last bool) error {
	if !r.begun {
		if err := r.doc.open(r.opt, r.t.summary()); err != nil {
			return err
		}
	}
	for _, row := range r.t.objects() {
		if err := r.doc.result(row); err != nil {
			return err
		}
	}
	if last {
		return r.doc.close(r.t.Notes)
	}
	return nil
}

// text writes the rows that were added since the last call, at first with the head of the table.
func (r *Rows) text(b *bytes.Buffer) {
	if !r.begun {
		r.t.writeTitle(b, r.opt)
		if widths, ok := r.t.fit(r.opt.Width); ok {
			r.grid = r.t.writeGrid(b, widths, r.opt)
		} else {
			r.t.writeBlocks(b, r.opt)
		}
	} else if widths, _ := r.t.fit(0); r.grid != nil {
		for i, n := range r.t.wrapped(widths) {
			r.grid[i] = max(r.grid[i], n)
		}
		r.t.writeRows(b, widths, r.grid, r.opt)
	} else {
		b.WriteByte('\n')
		r.t.writeBlocks(b, r.opt)
	}
	r.t.writeNotes(b, r.opt)
}
