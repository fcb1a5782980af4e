package table

import (
	"bytes"
	"fmt"
	"io"
)

// rowsAtATime is the number of rows that are printed together.
const rowsAtATime = 1000

// Rows prints a [Table] whose rows come one by one, and keeps few of them; see
// [Table.Stream].
type Rows struct {
	pending    Table // rows that are not printed yet
	w          io.Writer
	format     Format
	opt        Options
	hasPrinted bool     // rows were printed
	doc        document // the object in JSON
	widths     []int    // widths of the columns of the table for people; nil if it has blocks
}

// Stream prints the table as [Table.Write] does while its rows are appended;
// Close ends it. The table for people is that of Write if it has no more than a
// thousand rows. A longer one has the widths of the first thousand until a row
// needs more, and blocks if those do not fit.
func (t *Table) Stream(w io.Writer, format Format, opt Options) *Rows {
	return &Rows{pending: *t, w: w, format: format, opt: opt}
}

// Append adds a row as [Table.Append] does. It returns an error if the number of values is wrong or a write failed.
func (r *Rows) Append(values ...any) error {
	if len(values) != len(r.pending.Columns) {
		return fmt.Errorf("a row of the table has %d cells, want %d", len(values), len(r.pending.Columns))
	}
	if len(r.pending.Rows) == rowsAtATime {
		notes := r.pending.Notes
		r.pending.Notes = nil // Close prints the notes
		if err := r.print(false); err != nil {
			return err
		}
		r.pending.Rows, r.pending.Notes = r.pending.Rows[:0], notes
	}
	r.pending.Append(values...)
	return nil
}

// Close prints the last rows and the notes, to which it adds.
func (r *Rows) Close(notes ...string) error {
	r.pending.Notes = append(r.pending.Notes[:len(r.pending.Notes):len(r.pending.Notes)], notes...)
	if !r.hasPrinted {
		return r.pending.Write(r.w, r.format, r.opt)
	}
	return r.print(true)
}

// print prints the pending rows. isLast says that no rows follow.
func (r *Rows) print(isLast bool) error {
	var text bytes.Buffer
	switch r.format {
	case Text:
		r.text(&text)
	case JSON:
		if err := r.json(isLast); err != nil {
			return err
		}
		_, _ = r.doc.WriteTo(&text)
	default: // print only the rows, without the text that a table without rows has, too
		emptyLength := 0
		if r.hasPrinted {
			empty := Table{Title: r.pending.Title, Columns: r.pending.Columns}
			if err := empty.Write(&text, r.format, r.opt); err != nil {
				return err
			}
			emptyLength = text.Len()
			text.Reset()
		}
		if err := r.pending.Write(&text, r.format, r.opt); err != nil {
			return err
		}
		text.Next(emptyLength) // skip the header, which is already printed
	}
	r.hasPrinted = true
	_, err := r.w.Write(text.Bytes())
	return err
}

// json adds the pending rows to the JSON object. It begins the object before the first rows, and ends it after the last ones.
func (r *Rows) json(isLast bool) error {
	if !r.hasPrinted {
		if err := r.doc.open(r.opt, r.pending.summary()); err != nil {
			return err
		}
	}
	for _, row := range r.pending.objects() {
		if err := r.doc.result(row); err != nil {
			return err
		}
	}
	if isLast {
		return r.doc.close(r.pending.Notes)
	}
	return nil
}

// text writes the pending rows and the notes. The first call also writes the title and the header, and decides whether the rows form a grid or blocks
// of lines.
func (r *Rows) text(buffer *bytes.Buffer) {
	switch {
	case !r.hasPrinted:
		r.pending.writeTitle(buffer, r.opt)
		if widths, fits := r.pending.fit(r.opt.Width); fits {
			r.widths = r.pending.writeGrid(buffer, widths, r.opt)
		} else {
			r.pending.writeBlocks(buffer, r.opt)
		}
	case r.widths != nil:
		widths, _ := r.pending.fit(0)
		for i, width := range r.pending.wrapped(widths) {
			r.widths[i] = max(r.widths[i], width)
		}
		r.pending.writeRows(buffer, widths, r.widths, r.opt)
	default:
		buffer.WriteByte('\n')
		r.pending.writeBlocks(buffer, r.opt)
	}
	r.pending.writeNotes(buffer, r.opt)
}
