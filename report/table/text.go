package table

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"tilecheck/internal/printable"
)

// gap is the number of blanks between columns.
const gap = 2

// writeText prints the title, the table and the notes with blank lines between.
func (t *Table) writeText(w io.Writer, opt Options) error {
	var text bytes.Buffer
	t.writeTitle(&text, opt)
	t.writeBody(&text, opt)
	t.writeNotes(&text, opt)
	_, err := w.Write(text.Bytes())
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
func (t *Table) writeNotes(buffer *bytes.Buffer, opt Options) {
	for i, note := range t.Notes {
		if i == 0 {
			buffer.WriteByte('\n')
		}
		Paragraph(buffer, note, opt.Width)
	}
}

// writeBody prints the table in the first of three layouts that fits the width:
//
//   - a grid;
//   - a line for each column that has the same text in all rows, and a grid of the other columns;
//   - a block of lines for each row.
//
// With opt.Whole it breaks code only at blanks, and only if that avoids blocks.
func (t *Table) writeBody(buffer *bytes.Buffer, opt Options) {
	if opt.Whole {
		unbroken := t.whole()
		common, otherColumns := unbroken.factor()
		needsBlocks := !unbroken.Fits(opt.Width) && (!otherColumns.Fits(opt.Width) || len(common.Columns) == 0)
		narrower, fits := t.fit(opt.Width)
		if needsBlocks && fits && !t.breaksWords(narrower) {
			t.writeGrid(buffer, narrower, opt)
			return
		}
		t = unbroken
	}
	if widths, ok := t.fit(opt.Width); ok {
		t.writeGrid(buffer, widths, opt)
		return
	}
	common, otherColumns := t.factor()
	if widths, ok := otherColumns.fit(opt.Width); ok && len(otherColumns.Columns) > 0 {
		var shared bytes.Buffer
		common.writeBlocks(&shared, opt)
		if shared.Len() > 0 {
			buffer.WriteString("The same in all rows:\n" + shared.String() + "\n")
		}
		otherColumns.writeGrid(buffer, widths, opt)
		return
	}
	t.writeBlocks(buffer, opt)
}

// whole returns a copy of the table whose columns of code, and columns with a maximal width, have no limits. The other columns contain prose, which
// can be broken into lines.
func (t *Table) whole() *Table {
	unbroken := *t
	unbroken.Columns = slices.Clone(t.Columns)
	for i := range unbroken.Columns {
		if column := &unbroken.Columns[i]; column.Code || column.Max > 0 {
			column.Min, column.Max = 0, 0
		}
	}
	return &unbroken
}

// breaksWords reports whether columns of these widths break the text of a cell at a place that is not a blank.
func (t *Table) breaksWords(widths []int) bool {
	for _, row := range t.Rows {
		for i, cell := range row {
			for line := range strings.SplitSeq(printable.Text(cell.Text), "\n") {
				if strings.Join(Wrap(line, widths[i]), " ") != line {
					return true
				}
			}
		}
	}
	return false
}

// factor splits the table by columns. common has one row, with the columns whose text is the same in all rows; otherColumns has the other columns. A
// table of fewer than two rows has no common columns.
func (t *Table) factor() (common, otherColumns *Table) {
	common, otherColumns = &Table{Rows: make([][]Cell, 1)}, &Table{Rows: make([][]Cell, len(t.Rows))}
	for i, column := range t.Columns {
		differs := func(row []Cell) bool { return row[i].Text != t.Rows[0][i].Text }
		if len(t.Rows) > 1 && !column.Each && !slices.ContainsFunc(t.Rows, differs) {
			common.Columns = append(common.Columns, column)
			common.Rows[0] = append(common.Rows[0], t.Rows[0][i])
			continue
		}
		otherColumns.Columns = append(otherColumns.Columns, column)
		for j, row := range t.Rows {
			otherColumns.Rows[j] = append(otherColumns.Rows[j], row[i])
		}
	}
	return common, otherColumns
}

// Paragraph prints a text in lines of at most width columns. After a mark such as "[1] " at the beginning, the other lines are indented by its
// length.
func Paragraph(buffer *bytes.Buffer, text string, width int) {
	text = printable.Text(text)
	mark, body, hasMark := strings.Cut(text, "] ")
	if hasMark && strings.HasPrefix(mark, "[") && !strings.Contains(mark, " ") {
		mark += "] "
	} else {
		mark, body = "", text
	}
	for i, line := range Wrap(body, width-len(mark)) {
		if i > 0 {
			mark = strings.Repeat(" ", len(mark))
		}
		buffer.WriteString(strings.TrimRight(mark+line, " ") + "\n")
	}
}

// Fits reports whether the table is no wider than width, when it is squeezed.
func (t *Table) Fits(width int) bool {
	_, ok := t.fit(width)
	return ok
}

// fit returns widths of the columns with a sum of at most width. To attain this, it makes the widest column with Min narrower, again and again. ok is
// false if the table is still too wide. A width of 0 is no limit.
func (t *Table) fit(width int) (widths []int, ok bool) {
	widths = make([]int, len(t.Columns))
	total := gap * (len(widths) - 1)
	for i, column := range t.Columns {
		widths[i] = Width(column.Name)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], Width(printable.Text(row[i].Text)))
		}
		if column.Max > 0 {
			widths[i] = min(widths[i], column.Max)
		}
		total += widths[i]
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, column := range t.Columns {
			if column.Min > 0 && widths[i] > column.Min && (widest < 0 || widths[i] > widths[widest]) {
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

// writeGrid prints a header with a rule below it, and the rows. widths are the maximal widths of the columns. It returns their actual widths.
func (t *Table) writeGrid(buffer *bytes.Buffer, widths []int, opt Options) []int {
	header, rules := make([][]string, len(widths)), make([][]string, len(widths))
	wrapped := t.wrapped(widths)
	rule := "-"
	if opt.Unicode {
		rule = "─"
	}
	for i, width := range wrapped {
		header[i], rules[i] = Wrap(printable.Text(t.Columns[i].Name), 0), []string{strings.Repeat(rule, width)}
	}
	t.writeRow(buffer, wrapped, header, nil, opt)
	if len(t.Rows) > 0 {
		t.writeRow(buffer, wrapped, rules, nil, opt)
	}
	t.writeRows(buffer, widths, wrapped, opt)
	return wrapped
}

// wrapped returns the widths of the columns after the cells are broken into lines of at most widths. They can be smaller, because lines end at
// blanks.
func (t *Table) wrapped(widths []int) []int {
	wrappedWidths := make([]int, len(widths))
	for i, column := range t.Columns {
		wrappedWidths[i] = Width(printable.Text(column.Name))
		for _, row := range t.Rows {
			for _, line := range Wrap(printable.Text(row[i].Text), widths[i]) {
				wrappedWidths[i] = max(wrappedWidths[i], displayWidth(line))
			}
		}
	}
	return wrappedWidths
}

// writeRows writes the rows of a text table. widths are the maximal lengths of lines in the columns, and wrappedWidths are the widths of the columns.
func (t *Table) writeRows(buffer *bytes.Buffer, widths, wrappedWidths []int, opt Options) {
	cells := make([][]string, len(widths))
	for _, row := range t.Rows {
		for i, cell := range row {
			cells[i] = Wrap(printable.Text(cell.Text), widths[i])
		}
		t.writeRow(buffer, wrappedWidths, cells, row, opt)
	}
}

// writeRow prints a row of a text table. cells has the lines of each cell. row has the tones of the cells; it is nil for the header.
func (t *Table) writeRow(buffer *bytes.Buffer, widths []int, cells [][]string, row []Cell, opt Options) {
	height := 0
	for _, lines := range cells {
		height = max(height, len(lines))
	}
	for line := range height {
		blanks := 0 // blanks that are written only if text follows
		for i, lines := range cells {
			text := ""
			if line < len(lines) {
				text = strings.TrimRight(lines[line], " ")
			}
			left, right := t.Columns[i].Align.pad(widths[i] - displayWidth(text))
			if text != "" {
				buffer.WriteString(strings.Repeat(" ", blanks+left))
				if row != nil {
					text = Paint(text, row[i].Tone, opt)
				}
				buffer.WriteString(text)
				blanks, left = 0, 0
			}
			blanks += left + right + gap
		}
		buffer.WriteByte('\n')
	}
}

// pad returns the numbers of blanks before and after a text, given the sum of both. A negative sum counts as 0.
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

// writeBlocks prints each row as a block of lines "column  text", for a terminal that is too narrow for the grid. It omits empty cells. A blank line
// separates the rows.
func (t *Table) writeBlocks(buffer *bytes.Buffer, opt Options) {
	nameWidth := 0
	for _, column := range t.Columns {
		nameWidth = max(nameWidth, Width(column.Name))
	}
	indent := strings.Repeat(" ", nameWidth+gap)
	for i, row := range t.Rows {
		if i > 0 {
			buffer.WriteByte('\n')
		}
		for j, cell := range row {
			if cell.Text == "" {
				continue
			}
			name, width := t.Columns[j].Name, max(opt.Width-len(indent), MinColumn)
			if opt.Whole {
				width = 0
			}
			buffer.WriteString(name + strings.Repeat(" ", len(indent)-Width(name)))
			for index, line := range Wrap(printable.Text(cell.Text), width) {
				if index > 0 {
					buffer.WriteString(indent)
				}
				buffer.WriteString(Paint(line, cell.Tone, opt) + "\n")
			}
		}
	}
}

// Paint returns a line in the colour of a tone: green for good, red for bad. It adds nothing without opt.Color.
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

// Wrap breaks a text into lines of at most width columns. It prefers to break at a blank, then before an operator or after a comma of a formula, then
// anywhere. A width of at most 0 is no limit.
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

// wider reports whether a line has more columns than width. For speed, it first measures only beginnings of a long line. The slack allows for a
// character that is cut in two there.
func wider(line string, width int) bool {
	const slack = 16
	for length := 4 * (width + slack); length < len(line); length *= 4 {
		if displayWidth(strings.ToValidUTF8(line[:length], "")) > width+slack {
			return true
		}
	}
	return displayWidth(line) > width
}

// breakAt returns where the first line of a text ends and where the next line starts, after the
// blank between them. The line ends at the last blank within width. If there is none, it ends
// before the last term of a formula within width, or else after as many characters as fit, at
// least one.
func breakAt(text string, width int) (end, next int) {
	lastFitting, lastTerm := 0, 0
	for i, character := range text {
		if i > 0 && displayWidth(text[:i]) > width {
			break
		}
		if character == ' ' && i > 0 {
			end, next = i, i+1
		}
		if i > 0 && termBegins(text[i-1], character) {
			lastTerm = i
		}
		lastFitting = i
	}
	switch {
	case end > 0:
		return end, next
	case lastTerm > 0:
		return lastTerm, lastTerm
	}
	if lastFitting == 0 {
		_, lastFitting = utf8.DecodeRuneInString(text)
	}
	return lastFitting, lastFitting
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
	return displaywidth.String(line)
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
