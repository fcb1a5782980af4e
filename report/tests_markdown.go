package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"tilecheck/internal/printable"
	"tilecheck/report/table"
)

// MaxTestsMarkdown is the size in bytes that [WriteTests] keeps Markdown to. A
// comment on a pull request may have 65,536 characters, the summary of a step
// in GitHub Actions 1 MiB.
const MaxTestsMarkdown = 60_000

// maxMarkdownCell is the length in bytes after which a cell is cut.
const maxMarkdownCell = 300

// writeMarkdown prints the counts, a table of failures, and folded parts. When the budget is used up, it leaves out rows
// and says how many.
func (rep *TestReport) writeMarkdown(w io.Writer, opt table.Options) error {
	title := rep.Title
	if title == "" {
		title = "tilecheck test"
	}
	text := &budget{left: MaxTestsMarkdown - 2000} // the rest is for the lines that say what was left out
	text.append("## " + inlineText(shorten(title, maxMarkdownCell)) + "\n\n" + rep.verdictMark(opt) + "**" + inlineText(rep.conclusion()) + "**\n\n")
	failures := rep.failures()
	markdownFailures(text, failures)
	markdownReruns(text, failures)
	text.table("By folder", rep.folderTable())
	text.table("What was not judged, and why", rep.reasonTable())
	rep.markdownFindings(text)
	for _, note := range rep.Notes {
		text.appendIfFits("- " + inlineText(note) + "\n")
	}
	_, err := w.Write(text.text.Bytes())
	return err
}

// verdictMark returns the mark of success or failure in front of the conclusion.
func (rep *TestReport) verdictMark(opt table.Options) string {
	switch {
	case !opt.Unicode:
		return ""
	case tallyOf(rep.Results).good():
		return "✅ "
	}
	return "❌ "
}

// markdownFailures writes the table of failures.
func markdownFailures(text *budget, failures []failureRow) {
	if len(failures) == 0 {
		return
	}
	var rows []string
	notShown := 0
	for _, failure := range failures {
		rows = append(rows, markdownRow(
			failure.Outcome.String(), codeCell(failure.place()), codeCell(failure.title())+markdownSetting(failure.TestResult), inlineText(failure.Engine),
			codeCell(failure.Expected), codeCell(failure.Got), inlineText(shorten(failure.Reason, maxMarkdownCell)),
		))
		notShown += failure.More
	}
	head := markdownRow("", "where", "property", "engine", "expected", "got", "reason") + strings.Repeat("| :--- ", 7) + "|\n"
	text.rows(head, rows, notShown, "failures")
}

// markdownSetting returns the constants and switches of a result in a new line of its cell.
func markdownSetting(test *TestResult) string {
	if s := test.setting(); s != "" {
		return "<br>" + codeCell(s)
	}
	return ""
}

// markdownReruns prints the commands that repeat the failures, one on a line.
func markdownReruns(out *budget, failures []failureRow) {
	var lines []string
	seen := make(map[string]bool)
	for _, failure := range failures {
		if line := strings.ReplaceAll(printable.Text(failure.Rerun), "\n", " ") + "\n"; failure.Rerun != "" && !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	text, fence := strings.Join(lines, ""), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if !out.open("How to repeat the failures", len(fence)*2+20) {
		return
	}
	out.append(fence + "sh\n")
	for i, line := range lines {
		if !out.appendKeeping(line, len(fence)+100) {
			out.append(fmt.Sprintf("# %d more are left out\n", len(lines)-i))
			break
		}
	}
	out.append(fence + "\n")
	out.close()
}

// markdownFindings writes the folded table of findings.
func (rep *TestReport) markdownFindings(text *budget) {
	if len(rep.Findings) == 0 {
		return
	}
	var rows []string
	for i := range rep.Findings {
		finding := &rep.Findings[i]
		rows = append(rows, markdownRow(codeCell(finding.place()), inlineText(shorten(finding.Message, maxMarkdownCell))))
	}
	if text.open(fmt.Sprintf("%d annotations to look at", len(rows)), 200) {
		text.rows(markdownRow("where", "what")+"| :--- | :--- |\n", rows, 0, "findings")
		text.close()
	}
}

// markdownRow returns a row of a table.
func markdownRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// inlineText escapes text for a line of Markdown. It keeps "@name" from notifying the user with that name.
func inlineText(text string) string {
	return strings.ReplaceAll(table.MarkdownText(text), "@", "@<!-- -->")
}

// codeCell returns a cell with a text in code style.
func codeCell(text string) string { return table.MarkdownCode(shorten(text, maxMarkdownCell)) }

// cut shortens text to about limit bytes by leaving out its middle.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*2/3, len(text)-limit/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + " ... " + text[tail:]
}

// budget is a text with a limited number of bytes.
type budget struct {
	text bytes.Buffer
	left int
}

// must appends a small part without checking the budget.
func (b *budget) append(s string) {
	b.text.WriteString(s)
	b.left -= len(s)
}

// try appends s if it fits.
func (b *budget) appendIfFits(s string) bool { return b.appendKeeping(s, 0) }

// tryKeeping appends s if at least keep bytes are left after it.
func (b *budget) appendKeeping(s string, keep int) bool {
	if len(s)+keep > b.left {
		return false
	}
	b.append(s)
	return true
}

const (
	foldEnd   = "\n</details>\n\n"
	rowsLimit = 120 // bytes that the line about rows left out takes
)

// open begins a folded part if there is room for it and keep bytes more.
func (b *budget) open(summary string, keep int) bool {
	return b.appendKeeping("<details><summary>"+htmlText(summary)+"</summary>\n\n", keep+len(foldEnd))
}

// close ends a folded part.
func (b *budget) close() { b.append(foldEnd) }

// rows appends a table with as many rows as fit, and says how many are left out; left counts those that the caller left
// out.
func (b *budget) rows(head string, rows []string, omitted int, noun string) {
	if !b.appendKeeping(head, rowsLimit) {
		b.append(fmt.Sprintf("%d %s are left out\n\n", len(rows)+omitted, noun))
		return
	}
	for i, row := range rows {
		if !b.appendKeeping(row, rowsLimit+len(foldEnd)) {
			omitted += len(rows) - i
			break
		}
	}
	b.append("\n")
	if omitted > 0 {
		b.append(fmt.Sprintf("%d more %s are left out here; `--format json` has them\n\n", omitted, noun))
	}
}

// table appends a folded table and its notes.
func (b *budget) table(summary string, t *table.Table) {
	names := make([]string, len(t.Columns))
	rule := "|"
	for i, column := range t.Columns {
		names[i] = inlineText(column.Name)
		rule += [...]string{" :--- |", " ---: |", " :---: |"}[column.Align]
	}
	head := markdownRow(names...) + rule + "\n"
	if len(t.Rows) == 0 || !b.open(summary, len(head)+2*rowsLimit) {
		return
	}
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = inlineText(shorten(cell.Text, maxMarkdownCell))
		}
		rows[i] = markdownRow(cells...)
	}
	b.rows(head, rows, 0, "rows")
	for _, note := range t.Notes {
		b.appendIfFits(inlineText(note) + "\n")
	}
	b.close()
}

// htmlText escapes text for HTML inside Markdown.
func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(printable.Text(text))
}
