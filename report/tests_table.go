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

// WriteTests writes a run of a test suite to w.
//
// The text format shows each failure in detail: the place, the expectation, the answer and a command that repeats it. Of many failures with the same
// reason it shows only the first ones, and the number of the others. Then it lists the reasons of results that were not judged, the counts by folder
// and engine, the findings, the notes and the conclusion. The changes since the baseline are last. Markdown shows the same for a pull request, in at
// most [MaxTestsMarkdown] bytes.
//
// The summary of JSON has the counts, the findings as "annotations", and the changes since the baseline.
func WriteTests(w io.Writer, format table.Format, rep *TestReport, opt table.Options) error {
	switch {
	case format == table.Text:
		return rep.writeText(w, opt)
	case format.Machine():
		return rep.writeRecords(w, format, opt)
	case format == table.Markdown:
		return rep.writeMarkdown(w, opt)
	}
	return fmt.Errorf("unknown format %v", format)
}

// writeText writes the report as text, in the order that [WriteTests] describes.
func (rep *TestReport) writeText(w io.Writer, opt table.Options) error {
	var text bytes.Buffer
	if rep.Title != "" {
		table.Paragraph(&text, rep.Title, opt.Width)
		text.WriteByte('\n')
	}
	for _, failure := range rep.failures() {
		failure.writeDetail(&text, opt)
		if failure.More > 0 {
			left := fmt.Sprintf("%d more results on %s for the same reason are not shown here, see --format json", failure.More, failure.Engine)
			table.Paragraph(&text, left+"\n", opt.Width)
		}
	}
	for _, piece := range []*table.Table{rep.reasonTable(), rep.fittingFolderTable(opt.Width)} {
		if len(piece.Rows) == 0 {
			continue
		}
		if err := piece.Write(&text, table.Text, opt); err != nil {
			return err
		}
		text.WriteByte('\n')
	}
	for i := range rep.Findings {
		table.Paragraph(&text, rep.Findings[i].place()+": warning: "+rep.Findings[i].Message, opt.Width)
	}
	for _, note := range rep.Notes {
		table.Paragraph(&text, note, opt.Width)
	}
	tone := table.Good
	if !tallyOf(rep.Results).good() {
		tone = table.Bad
	}
	text.WriteString(table.Paint(rep.conclusion(), tone, opt) + "\n")
	if rep.Baseline != nil {
		text.WriteByte('\n')
		if err := rep.Baseline.Write(&text, table.Text, opt); err != nil {
			return err
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writeDetail prints a result in detail: a heading file:line:col, to which editors can jump, and a line for each detail. It does not wrap the heading
// and the command, because users copy them.
func (r *TestResult) writeDetail(buffer *bytes.Buffer, opt table.Options) {
	buffer.WriteString(printable.Line(r.place()) + ": " + table.Paint(r.Outcome.String(), r.Outcome.tone(), opt))
	if r.Engine != "" {
		buffer.WriteString(" (" + printable.Line(r.Engine) + ")")
	}
	buffer.WriteByte('\n')
	const indent = "          " // wider than the name of each detail
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
			buffer.WriteString("  " + head + text + "\n")
		}
	}
	buffer.WriteByte('\n')
}

// reasonTable returns a table with the reasons of the results that neither passed nor failed.
func (rep *TestReport) reasonTable() *table.Table {
	reasonRows := &table.Table{Columns: []table.Column{
		{Name: "outcome"},
		{Name: "count", Align: table.Right},
		{Name: "engine"},
		{Name: "reason", Min: 16},
		{Name: "first", Min: 16},
	}}
	rows := rep.reasons()
	shown := rows[:min(len(rows), maxReasons)]
	for _, reason := range shown {
		reasonRows.Append(reason.Outcome.String(), reason.N, reason.Engine, reason.Reason, reason.First)
	}
	if omitted := rows[len(shown):]; len(omitted) > 0 {
		results := 0
		for _, reason := range omitted {
			results += reason.N
		}
		reasonRows.Notes = []string{fmt.Sprintf("%s, of %s, are not shown here, see --format json", noun.Count(len(omitted), "more reason"), noun.Count(results, "result"))}
	}
	return reasonRows
}

// folderTable returns a table with the counts by folder and engine. It omits the outcomes that do not occur.
func (rep *TestReport) folderTable() *table.Table {
	folderRows := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}}
	for _, outcome := range tallyOrder() {
		folderRows.Columns = append(folderRows.Columns, table.Column{Name: outcome.String(), Align: table.Right})
	}
	folderRows.Columns = append(folderRows.Columns, table.Column{Name: "time", Align: table.Right})
	for _, folder := range rep.folders() {
		row := []table.Cell{{Text: folder.Folder}, {Text: folder.Engine}}
		for _, outcome := range tallyOrder() {
			cell := table.Cell{Text: countText(int64(folder.counts[outcome]))}
			if outcome.failing() {
				cell.Tone = table.Bad
			}
			row = append(row, cell)
		}
		folderRows.Rows = append(folderRows.Rows, append(row, table.Cell{Text: number.Duration(folder.seconds)}))
	}
	folderRows.Notes = rep.cacheNotes()
	return folderRows.DropEmpty()
}

// cacheNotes returns a note about the times of results from the cache; nil if there are none.
func (rep *TestReport) cacheNotes() []string {
	if tallyOf(rep.Results).cached == 0 {
		return nil
	}
	return []string{"the time of a result from the cache is that of the run that computed it"}
}

// fittingFolderTable returns the table of folderTable if it fits the width, and otherwise a table with fewer columns.
func (rep *TestReport) fittingFolderTable(width int) *table.Table {
	full := rep.folderTable()
	if full.Fits(width) {
		return full
	}
	narrow := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}, Notes: rep.cacheNotes()}
	for _, name := range []string{"bad", "pass", "other", "time"} {
		narrow.Columns = append(narrow.Columns, table.Column{Name: name, Align: table.Right})
	}
	for _, folder := range rep.folders() {
		failing, passed := folder.failing(), folder.counts[TestPassed]
		text := func(count int) table.Cell { return table.Cell{Text: countText(int64(count))} }
		narrow.Append(folder.Folder, folder.Engine, table.Cell{Text: countText(int64(failing)), Tone: table.Bad}, text(passed), text(folder.total-failing-passed), number.Duration(folder.seconds))
	}
	return narrow.DropEmpty()
}
