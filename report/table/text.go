package table

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"tilecheck/internal/printable"
)

// gap is the number of blanks between columns.
const gap = 2

// writeText prints the title, the table and the notes with blank lines between.
func (t *Table) writeText(w io.Writer, opt Options) error {
	var b bytes.Buffer
	t.writeTitle(&b, opt)
	t.writeBody(&b, opt)
	t.writeNotes(&b, opt)
	_, err := w.Write(b.Bytes())
	return err
}

// writeTitle writes the title above a text table.
func (t *Table) writeTitle(b *bytes.Buffer, opt Options) {
	if t.Title != "" {
		Paragraph(b, t.Title, opt.Width)
		b.WriteByte('\n')
	}
}

// writeNotes writes the notes below a text table.
func (t *Table) writeNotes(b *bytes.Buffer, opt Options) {
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		Paragraph(b, note, opt.Width)
	}
}

// writeBody prints the table as a grid. If that is too wide, it prints above
// the grid, once, what all rows have in common, and if that does not help, every
// row as a block of lines.
func (t *Table) writeBody(b *bytes.Buffer, opt Options) {
	if opt.Whole {
		whole := t.whole()
		common, rest := whole.factor()
		squeezed, ok := t.fit(opt.Width)
		if t = whole; ok && !whole.Fits(opt.Width) && (!rest.Fits(opt.Width) || len(common.Columns) == 0) && !t.breaksWords(squeezed) {
			t.writeGrid(b, squeezed, opt)
			return
		}
	}
	if widths, ok := t.fit(opt.Width); ok {
		t.writeGrid(b, widths, opt)
		return
	}
	common, rest := t.factor()
	if widths, ok := rest.fit(opt.Width); ok && len(rest.Columns) > 0 {
		before := b.Len()
		if common.writeBlocks(b, opt); b.Len() > before {
			b.WriteByte('\n')
		}
		rest.writeGrid(b, widths, opt)
		return
	}
	t.writeBlocks(b, opt)
}

// whole returns the table without limits for columns of code, and for those with a greatest width. Other columns are prose.
func (t *Table) whole() *Table {
	whole := *t
	whole.Columns = slices.Clone(t.Columns)
	for i := range whole.Columns {
		if c := &whole.Columns[i]; c.Code || c.Max > 0 {
			c.Min, c.Max = 0, 0
		}
	}
	return &whole
}

// breaksWords reports whether a cell is broken elsewhere than at a blank if the columns have these widths.
func (t *Table) breaksWords(widths []int) bool {
	for _, row := range t.Rows {
		for i, c := range row {
			for line := range strings.SplitSeq(printable.Text(c.Text), "\n") {
				if strings.Join(Wrap(line, widths[i]), " ") != line {
					return true
				}
			}
		}
	}
	return false
}

// factor splits the columns of a table of several rows into those with the same
// text in every row, as one row, and the rest.
func (t *Table) factor() (common, rest *Table) {
	common, rest = &Table{Rows: make([][]Cell, 1)}, &Table{Rows: make([][]Cell, len(t.Rows))}
	for i, c := range t.Columns {
		differs := func(row []Cell) bool { return row[i].Text != t.Rows[0][i].Text }
		if len(t.Rows) > 1 && !c.Each && !slices.ContainsFunc(t.Rows, differs) {
			common.Columns = append(common.Columns, c)
			common.Rows[0] = append(common.Rows[0], t.Rows[0][i])
			continue
		}
		rest.Columns = append(rest.Columns, c)
		for j, row := range t.Rows {
			rest.Rows[j] = append(rest.Rows[j], row[i])
		}
	}
	return common, rest
}

// Paragraph prints text wrapped to width, with the lines after a leading
// "[1] " indented to follow it.
func Paragraph(b *bytes.Buffer, text string, width int) {
	text = printable.Text(text)
	mark, body, ok := strings.Cut(text, "] ")
	if ok && strings.HasPrefix(mark, "[") && !strings.Contains(mark, " ") {
		mark += "] "
	} else {
		mark, body = "", text
	}
	for i, line := range Wrap(body, width-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		b.WriteString(strings.TrimRight(mark+line, " ") + "\n")
	}
}

// Fits reports whether the table is no wider than width, when it is squeezed.
func (t *Table) Fits(width int) bool {
	_, ok := t.fit(width)
	return ok
}

// fit chooses the widths of the columns; ok is false if they need more than
// width even when squeezed.
func (t *Table) fit(width int) (widths []int, ok bool) {
	widths = make([]int, len(t.Columns))
	total := gap * (len(widths) - 1)
	for i, c := range t.Columns {
		widths[i] = Width(c.Name)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], Width(printable.Text(row[i].Text)))
		}
		if c.Max > 0 {
			widths[i] = min(widths[i], c.Max)
		}
		total += widths[i]
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Min > 0 && widths[i] > c.Min && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// writeGrid prints the columns side by side under a ruled header, and returns the
// widths that they have.
func (t *Table) writeGrid(b *bytes.Buffer, widths []int, opt Options) []int {
	header, rules := make([][]string, len(widths)), make([][]string, len(widths))
	wrapped := t.wrapped(widths)
	rule := "-"
	if opt.Unicode {
		rule = "─"
	}
	for i, n := range wrapped {
		header[i], rules[i] = Wrap(printable.Text(t.Columns[i].Name), 0), []string{strings.Repeat(rule, n)}
	}
	t.writeRow(b, wrapped, header, nil, opt)
	if len(t.Rows) > 0 {
		t.writeRow(b, wrapped, rules, nil, opt)
	}
	t.writeRows(b, widths, wrapped, opt)
	return wrapped
}

// wrapped returns the widths of the columns with their cells wrapped: breaking at
// blanks leaves some width over.
func (t *Table) wrapped(widths []int) []int {
	wrapped := make([]int, len(widths))
	for i, c := range t.Columns {
		wrapped[i] = Width(printable.Text(c.Name))
		for _, row := range t.Rows {
			for _, line := range Wrap(printable.Text(row[i].Text), widths[i]) {
				wrapped[i] = max(wrapped[i], displayWidth(line))
			}
		}
	}
	return wrapped
}

// writeRows writes the rows of a text table, wrapped to the widths of the columns.
func (t *Table) writeRows(b *bytes.Buffer, widths, wrapped []int, opt Options) {
	cells := make([][]string, len(widths))
	for _, row := range t.Rows {
		for i, c := range row {
			cells[i] = Wrap(printable.Text(c.Text), widths[i])
		}
		t.writeRow(b, wrapped, cells, row, opt)
	}
}

// writeRow prints cells of one or more lines, in the tones of a row if it is one.
func (t *Table) writeRow(b *bytes.Buffer, widths []int, cells [][]string, row []Cell, opt Options) {
	height := 0
	for _, lines := range cells {
		height = max(height, len(lines))
	}
	for k := range height {
		blanks := 0 // not written yet: there are none at the end of a line
		for i, lines := range cells {
			text := ""
			if k < len(lines) {
				text = strings.TrimRight(lines[k], " ")
			}
			left, right := t.Columns[i].Align.pad(widths[i] - displayWidth(text))
			if text != "" {
				b.WriteString(strings.Repeat(" ", blanks+left))
				if row != nil {
					text = Paint(text, row[i].Tone, opt)
				}
				b.WriteString(text)
				blanks, left = 0, 0
			}
			blanks += left + right + gap
		}
		b.WriteByte('\n')
	}
}

// pad splits the blanks of a cell into those before and after its text.
func (a Align) pad(blanks int) (left, right int) {
	switch blanks = max(blanks, 0); a {
	case Right:
		return blanks, 0
	case Center:
		return blanks / 2, blanks - blanks/2
	}
	return 0, blanks
}

// MinColumn is the narrowest a column of a block becomes, whatever the terminal.
const MinColumn = 12

// writeBlocks prints every row as lines "column  text", rows apart by a blank
// line, without the empty cells: the form for a terminal too narrow for the grid.
func (t *Table) writeBlocks(b *bytes.Buffer, opt Options) {
	names := 0
	for _, c := range t.Columns {
		names = max(names, Width(c.Name))
	}
	indent := strings.Repeat(" ", names+gap)
	for i, row := range t.Rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, c := range row {
			if c.Text == "" {
				continue
			}
			name, width := t.Columns[j].Name, max(opt.Width-len(indent), MinColumn)
			if opt.Whole {
				width = 0
			}
			b.WriteString(name + strings.Repeat(" ", len(indent)-Width(name)))
			for k, line := range Wrap(printable.Text(c.Text), width) {
				if k > 0 {
					b.WriteString(indent)
				}
				b.WriteString(Paint(line, c.Tone, opt) + "\n")
			}
		}
	}
}

// Paint colours one line.
func Paint(line string, tone Tone, opt Options) string {
	if !opt.Color || tone == Plain || line == "" {
		return line
	}
	code := "32" // green
	if tone == Bad {
		code = "31" // red
	}
	return "\x1b[" + code + "m" + line + "\x1b[0m"
}

// Wrap breaks text into lines of at most width columns: at blanks where it can, otherwise before an operator or after a
// comma of a formula, otherwise anywhere. A width that is not positive is no limit.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return strings.Split(text, "\n")
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for wider(line, width) {
			end, next := breakAt(line, width)
			lines = append(lines, line[:end])
			line = line[next:]
		}
		lines = append(lines, line)
	}
	return lines
}

// wider reports whether a line has more columns than width. Of a long line it looks at the
// beginning, where that is so much wider that it does not matter where a character was cut.
func wider(line string, width int) bool {
	const cut = 16
	for n := 4 * (width + cut); n < len(line); n *= 4 {
		if displayWidth(strings.ToValidUTF8(line[:n], "")) > width+cut {
			return true
		}
	}
	return displayWidth(line) > width
}

// breakAt breaks a text after its first line. It returns the end of that line and the start of
// the next one; a blank between them is dropped. It breaks at the last blank that keeps the line
// within width. If there is none, it breaks before the last term of a formula that fits, and
// otherwise after as many runes as fit, at least one.
func breakAt(text string, width int) (end, next int) {
	fits, term := 0, 0
	for i, r := range text {
		if i > 0 && displayWidth(text[:i]) > width {
			break
		}
		if r == ' ' && i > 0 {
			end, next = i, i+1
		}
		if i > 0 && termBegins(text[i-1], r) {
			term = i
		}
		fits = i
	}
	switch {
	case end > 0:
		return end, next
	case term > 0:
		return term, term
	}
	if fits == 0 {
		_, fits = utf8.DecodeRuneInString(text)
	}
	return fits, fits
}

// termBegins reports whether a formula may be broken between two characters: after a comma, and before an operator that
// is neither a sign nor part of a number such as 1e-05.
func termBegins(before byte, r rune) bool {
	return before == ',' || before == ';' || strings.ContainsRune("+-&|", r) && !strings.ContainsRune("^(*/=<>[,eE+-&|", rune(before))
}

// Width is the width of the widest line.
func Width(text string) int {
	width := 0
	for line := range strings.SplitSeq(text, "\n") {
		width = max(width, displayWidth(line))
	}
	return width
}

// displayWidth counts terminal columns the same way in every locale.
func displayWidth(line string) int {
	if ascii(line) {
		return len(line)
	}
	return twwidth.WidthWithOptions(line, twwidth.Options{})
}

// ascii reports whether a line has printable ASCII characters only, one column each.
func ascii(line string) bool {
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return false
		}
	}
	return true
}
