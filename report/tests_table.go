package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/internal/printable"
	"tilecheck/report/number"
	"tilecheck/report/table"
)

// How much of a report for people is written out; the machine formats have everything.
const (
	maxAlike   = 5  // results with the same outcome for the same reason that are shown in detail
	maxReasons = 40 // rows of the table of reasons
)

// WriteTests prints a run of a test suite.
//
// The table for people has what failed in detail, with the place, what was
// expected, what came and how to repeat it; then the reasons of what was not
// judged with their counts; then the counts by folder and engine; then the
// findings and notes. Its last line says it all. Of many failures with one reason only the first are shown, and
// how many more there are. Markdown has the same for a pull request in at most
// [MaxTestsMarkdown] bytes.
//
// The summary of JSON has the counts, the findings as "annotations", and what
// changed since the baseline.
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

func (rep *TestReport) writeText(w io.Writer, opt table.Options) error {
	var b bytes.Buffer
	if rep.Title != "" {
		table.Paragraph(&b, rep.Title, opt.Width)
		b.WriteByte('\n')
	}
	shown, more := rep.failures()
	for i, r := range shown {
		r.writeDetail(&b, opt)
		if n := more[i]; n > 0 {
			left := fmt.Sprintf("%d more results on %s for the same reason are not shown here, see --format json", n, r.Engine)
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
	if t := tallyOf(rep.Results); t.failing() > 0 || t.total == 0 {
		tone = table.Bad
	}
	b.WriteString(table.Paint(rep.conclusion(), tone, opt) + "\n")
	_, err := w.Write(b.Bytes())
	return err
}

// failures returns the failing results to show, in the order of the suite, and
// how many alike come after each that are not shown.
func (rep *TestReport) failures() (shown []*TestResult, more map[int]int) {
	more = make(map[int]int)
	hidden := make(map[*TestResult]int) // by the last of the results alike that are shown
	skip := make(map[*TestResult]bool)
	for _, g := range rep.byReason() {
		if !g.outcome.failing() || g.reason == "" || len(g.results) <= maxAlike {
			continue
		}
		hidden[g.results[maxAlike-1]] = len(g.results) - maxAlike
		for _, r := range g.results[maxAlike:] {
			skip[r] = true
		}
	}
	for i := range rep.Results {
		r := &rep.Results[i]
		if !r.Outcome.failing() || skip[r] {
			continue
		}
		if n := hidden[r]; n > 0 {
			more[len(shown)] = n
		}
		shown = append(shown, r)
	}
	return shown, more
}

// writeDetail prints one result as a heading that editors can jump to and a
// block of lines. The heading and the command are not broken, so that they can
// be copied.
func (r *TestResult) writeDetail(b *bytes.Buffer, opt table.Options) {
	b.WriteString(printable.Line(r.place()) + ": " + table.Paint(r.Outcome.String(), r.Outcome.tone(), opt))
	if r.Engine != "" {
		b.WriteString(" (" + printable.Line(r.Engine) + ")")
	}
	b.WriteByte('\n')
	const indent = "          "
	for _, line := range r.details() {
		width := opt.Width - 2 - len(indent)
		if opt.Width <= 0 || line.name == "re-run" {
			width = 0
		} else {
			width = max(width, table.MinColumn)
		}
		for i, text := range table.Wrap(printable.Text(line.text), width) {
			head := indent
			if i == 0 {
				head = line.name + indent[len(line.name):]
			}
			b.WriteString("  " + head + text + "\n")
		}
	}
	b.WriteByte('\n')
}

type detail struct{ name, text string }

// details are the parts of a result that have a text.
func (r *TestResult) details() []detail {
	property := r.title()
	if property == wholeRun {
		property = ""
	}
	all := []detail{
		{"property", property},
		{"with", r.setting()},
		{"model", r.Model},
		{"expected", r.expectedText()},
		{"got", r.Got},
		{"reason", r.Reason},
		{"path", likeliestPath(r.Verdict)},
		{"re-run", r.Rerun},
	}
	return slices.DeleteFunc(all, func(d detail) bool { return d.text == "" })
}

func (r *TestResult) expectedText() string {
	if r.Expected == "" || r.ExpectedLine == 0 || r.ExpectedLine == r.Line {
		return r.Expected
	}
	return r.Expected + " (line " + strconv.Itoa(r.ExpectedLine) + ")"
}

// reasonTable has the reasons of what neither passed nor failed.
func (rep *TestReport) reasonTable() *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "outcome"},
		{Name: "count", Align: table.Right},
		{Name: "engine"},
		{Name: "reason", Min: 16},
		{Name: "first", Min: 16},
	}}
	leftRows, leftResults := 0, 0
	for _, g := range rep.byReason() {
		switch {
		case g.outcome.failing():
		case len(t.Rows) >= maxReasons:
			leftRows++
			leftResults += len(g.results)
		default:
			t.Append(g.outcome.String(), len(g.results), g.engine, g.reasonText(), g.results[0].place())
		}
	}
	if leftRows > 0 {
		t.Notes = []string{fmt.Sprintf("%d more reasons, of %d results, are not shown here, see --format json", leftRows, leftResults)}
	}
	return t
}

// reasonText says what a missing reason of such an outcome means.
func (g *reasonGroup) reasonText() string {
	switch {
	case g.reason != "":
		return g.reason
	case g.outcome == TestUnchecked:
		return "there is no expectation"
	}
	return "no reason was given"
}

// folderTable has the counts by folder and engine, without outcomes that nothing had.
func (rep *TestReport) folderTable() *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}}
	for _, o := range tallyOrder() {
		t.Columns = append(t.Columns, table.Column{Name: o.String(), Align: table.Right})
	}
	t.Columns = append(t.Columns, table.Column{Name: "time", Align: table.Right})
	folders := rep.byFolder()
	for _, f := range folders {
		t.Rows = append(t.Rows, f.row(f.folder, f.engine))
	}
	if len(folders) > 1 {
		t.Rows = append(t.Rows, tallyOf(rep.Results).row("total", ""))
	}
	return t.DropEmpty()
}

// fittingFolderTable is the table of counts with fewer columns where they are too many for the width.
func (rep *TestReport) fittingFolderTable(width int) *table.Table {
	t := rep.folderTable()
	if t.Fits(width) {
		return t
	}
	short := &table.Table{Columns: []table.Column{{Name: "folder", Min: 16}, {Name: "engine"}}}
	for _, name := range []string{"bad", "pass", "other", "time"} {
		short.Columns = append(short.Columns, table.Column{Name: name, Align: table.Right})
	}
	add := func(t *tally, folder, engine string) {
		bad, pass := t.failing(), t.counts[TestPassed]
		text := func(n int) table.Cell { return table.Cell{Text: countText(int64(n))} }
		short.Append(folder, engine, table.Cell{Text: countText(int64(bad)), Tone: table.Bad}, text(pass), text(t.total-bad-pass), number.Duration(t.seconds))
	}
	for _, f := range rep.byFolder() {
		add(&f.tally, f.folder, f.engine)
	}
	if len(short.Rows) > 1 {
		add(tallyOf(rep.Results), "total", "")
	}
	return short.DropEmpty()
}

func (t *tally) row(folder, engine string) []table.Cell {
	row := []table.Cell{{Text: folder}, {Text: engine}}
	for _, o := range tallyOrder() {
		c := table.Cell{Text: countText(int64(t.counts[o]))}
		if o.failing() {
			c.Tone = table.Bad
		}
		row = append(row, c)
	}
	return append(row, table.Cell{Text: number.Duration(t.seconds)})
}
