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

// maxMarkdownChanges is the largest size in bytes of the table of changes since the baseline.
const maxMarkdownChanges = MaxTestsMarkdown / 2

// maxMarkdownCell is the length in bytes after which a cell is cut.
const maxMarkdownCell = 300

// writeMarkdown prints the counts, a table of failures, and folded parts. It omits rows that exceed MaxTestsMarkdown bytes, and prints their number.
func (rep *TestReport) writeMarkdown(w io.Writer, opt table.Options) error {
	title := rep.Title
	if title == "" {
		title = "tilecheck test"
	}
	changes, err := rep.markdownChanges(opt)
	if err != nil {
		return err
	}
	markdown := &limitedText{remaining: MaxTestsMarkdown - 2000 - len(changes)} // the other bytes are for the lines about omitted rows
	markdown.append("## " + inlineText(shorten(title, maxMarkdownCell)) + "\n\n" + rep.verdictMark(opt) + "**" + inlineText(rep.conclusion()) + "**\n\n")
	failures := rep.failures()
	markdownFailures(markdown, failures)
	markdownReruns(markdown, failures)
	markdown.table("By folder", rep.folderTable())
	markdown.table("What was not judged, and why", rep.reasonTable())
	rep.markdownFindings(markdown)
	for _, note := range rep.Notes {
		markdown.appendIfFits("- " + inlineText(note) + "\n")
	}
	markdown.append(changes)
	_, err = w.Write(markdown.text.Bytes())
	return err
}

// markdownChanges returns the changes since the baseline, after an empty line; "" without a baseline. If they are longer than maxMarkdownChanges, it
// returns only their numbers.
func (rep *TestReport) markdownChanges(opt table.Options) (string, error) {
	if rep.Baseline == nil {
		return "", nil
	}
	text := bytes.NewBufferString("\n")
	if err := rep.Baseline.Write(text, table.Markdown, opt); err != nil {
		return "", err
	}
	if text.Len() > maxMarkdownChanges {
		return "\nChanges since the baseline: " + inlineText(rep.Baseline.countsLine()) + ". The table is too long and left out here; --format json has it.\n", nil
	}
	return text.String(), nil
}

// verdictMark returns the mark of success or failure that stands before the conclusion; "" without Unicode.
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
func markdownFailures(markdown *limitedText, failures []failureRow) {
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
	markdown.rows(head, rows, notShown, "failures")
}

// markdownSetting returns the constants and switches of a result in a new line of its cell.
func markdownSetting(test *TestResult) string {
	if s := test.setting(); s != "" {
		return "<br>" + codeCell(s)
	}
	return ""
}

// markdownReruns prints the commands that repeat the failures, one on a line.
func markdownReruns(markdown *limitedText, failures []failureRow) {
	var lines []string
	isListed := make(map[string]bool)
	for _, failure := range failures {
		if line := strings.ReplaceAll(printable.Text(failure.Rerun), "\n", " ") + "\n"; failure.Rerun != "" && !isListed[line] {
			isListed[line] = true
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
	if !markdown.open("How to repeat the failures", len(fence)*2+20) {
		return
	}
	markdown.append(fence + "sh\n")
	for i, line := range lines {
		if !markdown.appendKeeping(line, len(fence)+100) {
			markdown.append(fmt.Sprintf("# %d more are left out\n", len(lines)-i))
			break
		}
	}
	markdown.append(fence + "\n")
	markdown.close()
}

// markdownFindings writes the folded table of findings.
func (rep *TestReport) markdownFindings(markdown *limitedText) {
	if len(rep.Findings) == 0 {
		return
	}
	var rows []string
	for i := range rep.Findings {
		finding := &rep.Findings[i]
		rows = append(rows, markdownRow(codeCell(finding.place()), inlineText(shorten(finding.Message, maxMarkdownCell))))
	}
	if markdown.open(fmt.Sprintf("%d annotations to look at", len(rows)), 200) {
		markdown.rows(markdownRow("where", "what")+"| :--- | :--- |\n", rows, 0, "findings")
		markdown.close()
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

// shorten returns a text of about limit bytes. It replaces the middle of a longer text by " ... ", and does not split characters.
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

// limitedText is a text with a limited number of bytes.
type limitedText struct {
	text      bytes.Buffer
	remaining int
}

// append appends a short text without checking the limit.
func (b *limitedText) append(text string) {
	b.text.WriteString(text)
	b.remaining -= len(text)
}

// appendIfFits appends a text if it fits, and reports whether it did.
func (b *limitedText) appendIfFits(text string) bool { return b.appendKeeping(text, 0) }

// appendKeeping appends a text if at least reserve bytes remain after it, and reports whether it did.
func (b *limitedText) appendKeeping(text string, reserve int) bool {
	if len(text)+reserve > b.remaining {
		return false
	}
	b.append(text)
	return true
}

const (
	foldEnd   = "\n</details>\n\n"
	rowsLimit = 120 // bytes that the line about rows left out takes
)

// open begins a folded part if there is room for it and for reserve more bytes. It reports whether it did.
func (b *limitedText) open(summary string, reserve int) bool {
	return b.appendKeeping("<details><summary>"+htmlText(summary)+"</summary>\n\n", reserve+len(foldEnd))
}

// close ends a folded part.
func (b *limitedText) close() { b.append(foldEnd) }

// rows appends a table with as many rows as fit, and a line with the number of omitted rows. omitted is the number of rows that the caller has
// already omitted. noun names the rows in that line, in the plural.
func (b *limitedText) rows(head string, rows []string, omitted int, noun string) {
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

// table appends a folded table and its notes, if the table has rows and there is room for it.
func (b *limitedText) table(summary string, rowsTable *table.Table) {
	names := make([]string, len(rowsTable.Columns))
	rule := "|"
	for i, column := range rowsTable.Columns {
		names[i] = inlineText(column.Name)
		rule += [...]string{" :--- |", " ---: |", " :---: |"}[column.Align]
	}
	head := markdownRow(names...) + rule + "\n"
	if len(rowsTable.Rows) == 0 || !b.open(summary, len(head)+2*rowsLimit) {
		return
	}
	rows := make([]string, len(rowsTable.Rows))
	for i, row := range rowsTable.Rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = inlineText(shorten(cell.Text, maxMarkdownCell))
		}
		rows[i] = markdownRow(cells...)
	}
	b.rows(head, rows, 0, "rows")
	for _, note := range rowsTable.Notes {
		b.appendIfFits(inlineText(note) + "\n")
	}
	b.close()
}

// htmlText escapes text for HTML inside Markdown.
func htmlText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(printable.Text(text))
}
