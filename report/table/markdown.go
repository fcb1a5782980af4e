package table

import (
	"bytes"
	"io"
	"strings"

	"tilecheck/internal/printable"
)

// writeMarkdown writes the table to w as a GitHub pipe table, with the title as a heading and the notes as a list. A newline in a cell becomes <br>.
func (t *Table) writeMarkdown(w io.Writer) error {
	var text bytes.Buffer
	if t.Title != "" {
		text.WriteString("## " + MarkdownText(t.Title) + "\n\n")
	}
	rules := make([]string, len(t.Columns))
	header := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		header[i] = MarkdownText(column.Name)
		rules[i] = [...]string{":---", "---:", ":---:"}[column.Align]
	}
	writePipes(&text, header)
	writePipes(&text, rules)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = MarkdownText(cell.Text)
			if t.Columns[i].Code {
				cells[i] = MarkdownCode(cell.Text)
			}
		}
		writePipes(&text, cells)
	}
	for i, note := range t.Notes {
		if i == 0 {
			text.WriteByte('\n')
		}
		text.WriteString("- " + MarkdownText(note) + "\n")
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writePipes writes a row of a Markdown table.
func writePipes(b *bytes.Buffer, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		b.WriteString(" " + c + " |")
	}
	b.WriteByte('\n')
}

// MarkdownText escapes what Markdown could take for markup inside a line.
func MarkdownText(text string) string { return markdownEscapes.Replace(printable.Text(text)) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`,
	"<", `\<`, "&", `\&`, "#", `\#`, "\n", "<br>",
)

// MarkdownCode returns a text as a code span for a cell of a pipe table. It also escapes pipes, because GitHub splits the cells before it reads code
// spans.
func MarkdownCode(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(strings.ReplaceAll(printable.Text(text), "\n", " "), "|", `\|`)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}
