package table

import (
	"bytes"
	"io"
	"strings"

	"tilecheck/internal/printable"
)

// writeMarkdown prints the table as a GitHub pipe table. A line break in a cell becomes <br>.
func (t *Table) writeMarkdown(w io.Writer) error {
	var b bytes.Buffer
	if t.Title != "" {
		b.WriteString("## " + MarkdownText(t.Title) + "\n\n")
	}
	rules := make([]string, len(t.Columns))
	header := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		header[i] = MarkdownText(c.Name)
		rules[i] = [...]string{":---", "---:", ":---:"}[c.Align]
	}
	writePipes(&b, header)
	writePipes(&b, rules)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = MarkdownText(c.Text)
			if t.Columns[i].Code {
				cells[i] = MarkdownCode(c.Text)
			}
		}
		writePipes(&b, cells)
	}
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + MarkdownText(note) + "\n")
	}
	_, err := w.Write(b.Bytes())
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

// MarkdownCode returns a code span. Pipes are escaped there too, because a
// table is cut into cells before anything else is read.
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
