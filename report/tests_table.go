package report

import (
	"bytes"
	"fmt"
	"io"

	"tilecheck/internal/noun"
	"tilecheck/internal/printable"
	"tilecheck/report/number"
	"tilecheck/report/table"
)

// maxReasons is the number of rows of the table of reasons. The formats for machines have all results.
const maxReasons = 40

// WriteTests prints a run of a test suite.
//
// The table for people has the failures in detail: the place, the expectation, the answer and a command that repeats it.
// Of many failures with one reason it has only the first, and the number of the others. Then it has the reasons of
// results that were not judged, the counts by folder and engine, and the findings and notes. The last line is the
// conclusion. Markdown has the same for a pull request in at most [MaxTestsMarkdown] bytes.
//
// The summary of JSON has the counts, the findings as "annotations", and the changes since the baseline.
//
// The error is that of w.
func WriteTests(w io.Writer, f table.Format, rep *TestReport, opt table.Options) error {
	switch f {
	case table.Text:
		return rep.writeText(w, opt)
	case table.JSON, table.CSV:
		return rep.writeRecords(w, f, opt)
	case table.Markdown:
		return rep.writeMarkdown(w, opt)
	}
	return fmt.Errorf("unknown format %v", f)
}

// writeText prints the failures in detail, then the tables, findings and notes, and last the conclusion.
func (rep *TestReport) writeText(w io.Writer, opt table.Options) error {
	var b bytes.Buffer
	if rep.Title != "" {
		table.Paragraph(&b, rep.Title, opt.Width)
		b.WriteByte('\n')
	}
	for _, r := range rep.failures() {
		r.writeDetail(&b, opt)
		if r.More > 0 {
			left := fmt.Sprintf("%d more results on %s for the same reason are not shown here, see --format json", r.More, r.Engine)
			table.Paragraph(&b, left+"\n", opt.Width)
		}
	}
	for _, t := range []*table.Table{rep.reasonTable(), rep.fittingFolderTable(opt.Width)} {
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.Write(&b, table.Text, opt); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	for i := range rep.Findings {
		table.Paragraph(&b, rep.Findings[i].place()+": warning: "+rep.Findings[i].Message, opt.Width)
	}
	for _, note := range rep.Notes {
		table.Paragraph(&b, note, opt.Width)
	}
	tone := table.Good
	if !tallyOf(rep.Results).good() {
		tone = table.Bad
	}
	b.WriteString(table.Paint(rep.conclusion(), tone, opt) + "\n")
	_, err := w.Write(b.Bytes())
	return err
}

// writeDetail prints a result as a heading that editors can jump to and a block of lines. The heading and the command
// are not wrapped, so that they can be copied.
func (r *TestResult) writeDetail(b *bytes.Buffer, opt table.Options) {
	b.WriteString(printable.Line(r.place()) + ": " + table.Paint(r.Outcome.String(), r.Outcome.tone(), opt))
	if r.Engine != "" {
		b.WriteString(" (" + printable.Line(r.Engine) + ")")
	}
	b.WriteByte('\n')
	const indent = "          "
	for _, line := range r.parts() {
		width := opt.Width - 2 - len(indent)
		if opt.Width <= 0 || line.Name == "re-run" {
			width = 0
		} else {
			width = max(width, table.MinColumn)
		}
		for i, text := range table.Wrap(printable.Text(line.Text), width) {
			head := indent
			if i == 0 {
				head = line.Name + indent[len(line.Name):]
			}
			b.WriteString("  " + head + text + "\n")
		}
	}
	b.WriteByte('\n')
}

// reasonTable has the reasons of results that neither passed nor failed.
func (rep *TestReport) reasonTable() *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "outcome"},
		{Name: "count", Align: table.Right},
		{Name: "engine"},
		{Name: "reason", Min: 16},
		{Name: "first", Min: 16},
	}}
	rows := rep.reasons()
	shown := rows[:min(len(rows), maxReasons)]
	for _, r := range shown {
		t.Append(r.Outcome.String(), r.N, r.Engine, r.Reason, r.First)
	}
	if left := rows[len(shown):]; len(left) > 0 {
		results := 0
		for _, r := range left {
			results += r.N
		}
		t.Notes = []string{fmt.Sprintf("%s, of %s, are not shown here, see --format json", noun.Count(len(left), "more reason"), noun.Count(results, "result"))}
	}
	return t
}

// folderTable has the counts by folder and engine, without the outcomes that do not occur.
func (rep *TestReport) folderTable() *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}}
	for _, o := range tallyOrder() {
		t.Columns = append(t.Columns, table.Column{Name: o.String(), Align: table.Right})
	}
	t.Columns = append(t.Columns, table.Column{Name: "time", Align: table.Right})
	for _, f := range rep.folders() {
		row := []table.Cell{{Text: f.Folder}, {Text: f.Engine}}
		for _, o := range tallyOrder() {
			c := table.Cell{Text: countText(int64(f.counts[o]))}
			if o.failing() {
				c.Tone = table.Bad
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, append(row, table.Cell{Text: number.Duration(f.seconds)}))
	}
	return t.DropEmpty()
}

// fittingFolderTable is folderTable with fewer columns if it is wider than width.
func (rep *TestReport) fittingFolderTable(width int) *table.Table {
	t := rep.folderTable()
	if t.Fits(width) {
		return t
	}
	short := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}}
	for _, name := range []string{"bad", "pass", "other", "time"} {
		short.Columns = append(short.Columns, table.Column{Name: name, Align: table.Right})
	}
	for _, f := range rep.folders() {
		bad, pass := f.failing(), f.counts[TestPassed]
		text := func(n int) table.Cell { return table.Cell{Text: countText(int64(n))} }
		short.Append(f.Folder, f.Engine, table.Cell{Text: countText(int64(bad)), Tone: table.Bad}, text(pass), text(f.total-bad-pass), number.Duration(f.seconds))
	}
	return short.DropEmpty()
}
