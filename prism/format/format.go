package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Source formats a model or a properties file; syntax.IsProperties decides which of them it is. The line breaks have the style of the first line
// of src. It checks that the formatted text has the same tokens, comments and syntax tree. The error for a file with syntax errors is a
// syntax.ErrorList.
func Source(dialect syntax.Dialect, file string, src []byte) ([]byte, error) {
	original, err := syntax.ParseFile(dialect, file, src)
	if err != nil {
		return nil, err
	}
	lexemes := slices.AppendSeq(make([]syntax.Lexeme, 0, len(src)/2), syntax.Lexemes(src))
	layout := layout{lexemes: lexemes, statements: statementsOf(original)}
	layout.writeFile()
	formatted, err := layout.checkedText(file)
	if err != nil {
		return nil, err
	}
	reparsed, err := syntax.ParseFile(dialect, file, formatted)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: the formatted text does not parse, which is a bug of tilecheck: %w", file, err)
	case !syntax.Equal(original, reparsed):
		return nil, fmt.Errorf("%s: %w", file, errDifferentMeaning)
	}
	return withLineEnds(formatted, src), nil
}

// Text is a text to format, with results that the caller already has.
type Text struct {
	File string
	Src  []byte
	Tree syntax.Node
	// Lexemes are the lexemes of the text, except possibly those inside the statements in Known.
	Lexemes []syntax.Lexeme
	// Known are commands that were formatted before, in order. They may be missing in the tree.
	Known []KnownCommand
	// Keep is called, unless it is nil, for each newly formatted command with its start offset.
	Keep func(from int32, layout *CommandLayout)
}

// KnownCommand is a command that was formatted before, with its layout.
type KnownCommand struct {
	From, To int32
	Layout   *CommandLayout
}

// CommandLayout is the layout of a command. It does not depend on where the command is in the file.
type CommandLayout struct{ lines []line }

// Reformat formats a text as Source does, but faster: it reuses the layouts of commands that are already known. It checks the tokens and comments
// of all other statements.
func Reformat(text Text) ([]byte, error) {
	layout := layout{lexemes: text.Lexemes, statements: insertReused(statementsOf(text.Tree), text.Known), onNewLayout: text.Keep}
	layout.writeFile()
	formatted, err := layout.checkedText(text.File)
	if err != nil {
		return nil, err
	}
	return withLineEnds(formatted, text.Src), nil
}

// withLineEnds returns the formatted text with the line breaks of the first line of src.
func withLineEnds(formatted, src []byte) []byte {
	end := bytes.IndexByte(src, '\n')
	isWindowsStyle := end > 0 && src[end-1] == '\r'
	if isWindowsStyle {
		return bytes.ReplaceAll(formatted, []byte{'\n'}, []byte("\r\n"))
	}
	return formatted
}

var errDifferentMeaning = errors.New("the formatted text has another meaning, which is a bug of tilecheck")

// checkedText returns the formatted text. It returns an error if the text has other tokens or comments than the original.
func (l *layout) checkedText(file string) ([]byte, error) {
	formatted := l.joinLines()
	checked := formatted
	if len(l.reusedRanges) > 0 {
		checked = l.newText()
	}
	if !sameLexemes(l.lexemesNotReused(), checked) {
		return nil, fmt.Errorf("%s: %w", file, errDifferentMeaning)
	}
	return formatted, nil
}

// lexemesNotReused returns the lexemes outside of reused statements.
func (l *layout) lexemesNotReused() []syntax.Lexeme {
	if len(l.reusedRanges) == 0 {
		return l.lexemes
	}
	lexemes, nextIndex := make([]syntax.Lexeme, 0, len(l.lexemes)), 0
	for _, reused := range l.reusedRanges {
		lexemes = append(lexemes, l.lexemes[nextIndex:reused.first]...)
		nextIndex = reused.end
	}
	return append(lexemes, l.lexemes[nextIndex:]...)
}

// sameLexemes reports whether a text consists of exactly the given tokens and comments, in this order.
func sameLexemes(wantedLexemes []syntax.Lexeme, text []byte) bool {
	index := 0
	for lexeme := range syntax.Lexemes(text) {
		if index == len(wantedLexemes) || lexeme.Class != wantedLexemes[index].Class || trimmedText(lexeme) != trimmedText(wantedLexemes[index]) {
			return false
		}
		index++
	}
	return index == len(wantedLexemes)
}

// trimmedText returns the text of a lexeme without trailing blanks, which only comments can have.
func trimmedText(lexeme syntax.Lexeme) string { return strings.TrimRight(lexeme.Text, " \t") }

// statement is a statement, which starts on a new line, and whose tokens are formatted together.
type statement struct {
	node         syntax.Node // nil if the layout is reused
	start, to    int32       // offsets in the text
	level        int         // of indentation
	reusedLayout *CommandLayout
}

// statementsOf returns the statements of a file in the order of the text. The words that begin or end a block are not part of a statement.
func statementsOf(file syntax.Node) []statement {
	var statements []statement
	add := func(level int, nodes ...syntax.Node) {
		for _, node := range nodes {
			statements = append(statements, statement{node: node, start: node.Pos().Offset, to: node.End().Offset, level: level})
		}
	}
	switch file := file.(type) {
	case *syntax.Properties:
		for _, item := range file.Items {
			add(0, item)
		}
	case *syntax.Model:
		for _, item := range file.Items {
			addItem(add, item)
		}
	}
	return statements
}

// addItem calls add for each statement of an item of a model, with the level of its indentation.
func addItem(add func(level int, nodes ...syntax.Node), item syntax.Item) {
	switch item := item.(type) {
	case *syntax.Module:
		addNodes(add, 1, item.Vars)
		if item.Invariant != nil {
			add(2, item.Invariant)
		}
		addNodes(add, 1, item.Commands)
	case *syntax.Rewards:
		addNodes(add, 1, item.Items)
	case *syntax.InitBlock:
		add(1, item.X)
	case *syntax.System:
		add(1, item.X)
	default:
		add(0, item)
	}
}

// insertReused inserts reused commands into the list of statements, in the order of the text. It removes statements that overlap a reused
// command.
func insertReused(statements []statement, reused []KnownCommand) []statement {
	if len(reused) == 0 {
		return statements
	}
	merged := make([]statement, 0, len(statements)+len(reused))
	for _, command := range reused {
		for len(statements) > 0 && statements[0].start < command.From {
			merged = append(merged, statements[0])
			statements = statements[1:]
		}
		for len(statements) > 0 && statements[0].start < command.To {
			statements = statements[1:]
		}
		merged = append(merged, statement{start: command.From, to: command.To, level: 1, reusedLayout: command.Layout})
	}
	return append(merged, statements...)
}

// addNodes calls add for each node of a list.
func addNodes[N syntax.Node](add func(int, ...syntax.Node), level int, nodes []N) {
	for _, node := range nodes {
		add(level, node)
	}
}

// layout converts the lexemes of a file to the lines of the formatted text.
type layout struct {
	lexemes      []syntax.Lexeme
	nextIndex    int // index of the next lexeme
	statements   []statement
	lines        []line
	blockOpened  bool // the last line starts a block
	onNewLayout  func(from int32, layout *CommandLayout)
	reusedRanges []lexemeRange // the lexemes of the reused statements
}

// lexemeRange is a range of lexemes, from the index first up to, but not including, the index end.
type lexemeRange struct{ first, end int }

// line is a line of the result.
type line struct {
	indent        int
	text, comment string // the comment behind the text
	reused        reuse
}

// reuse says which parts of a line are from a reused layout.
type reuse int

const (
	notReused reuse = iota
	textReused
	textAndCommentReused
)

// writeFile writes the lines of the whole file.
func (l *layout) writeFile() {
	for l.nextIndex < len(l.lexemes) {
		switch lexeme := l.lexemes[l.nextIndex]; {
		case lexeme.Class == syntax.Comment:
			l.writeComment(2 * l.nextLevel())
		case len(l.statements) > 0 && lexeme.Start.Offset >= l.statements[0].start:
			next := l.statements[0]
			l.statements = l.statements[1:]
			l.writeStatement(next)
		default:
			l.writeBlockWord()
		}
	}
}

// newLine starts a line. It keeps a blank line above it, except at the start of a block.
func (l *layout) newLine(indent int) {
	if l.blankAbove() && len(l.lines) > 0 && !l.blockOpened {
		l.lines = append(l.lines, line{})
	}
	l.lines = append(l.lines, line{indent: indent})
	l.blockOpened = false
}

// lineBreaks returns the number of line breaks before the next lexeme in the text.
func (l *layout) lineBreaks() int {
	if l.nextIndex == 0 {
		return 1
	}
	return int(l.lexemes[l.nextIndex].Start.Line - l.lexemes[l.nextIndex-1].Start.Line)
}

// blankAbove reports whether the text has a blank line before the next lexeme.
func (l *layout) blankAbove() bool { return l.lineBreaks() > 1 }

// writeComment writes the next lexeme, which is a comment. If it follows a token in its line, it stays at the end of this line. Otherwise it gets
// a line with the given indent.
func (l *layout) writeComment(indent int) {
	text := trimmedText(l.lexemes[l.nextIndex])
	if l.lineBreaks() == 0 {
		l.lastLine().comment = text
		l.nextIndex++
		return
	}
	l.newLine(indent)
	l.lastLine().text = text
	l.nextIndex++
}

func (l *layout) lastLine() *line { return &l.lines[len(l.lines)-1] }

// nextLevel returns the indentation level of the next lexeme, which is a comment. It is the level of the statement after the comment. Before the
// end of a block it is the level of the block's statements.
func (l *layout) nextLevel() int {
	for _, lexeme := range l.lexemes[l.nextIndex:] {
		if lexeme.Class == syntax.Comment {
			continue
		}
		if len(l.statements) > 0 && lexeme.Start.Offset >= l.statements[0].start {
			return l.statements[0].level
		}
		switch lexeme.Text {
		case "endmodule", "endrewards", "invariant", "endinit", "endsystem":
			return 1
		case "endinvariant":
			return 2
		}
		return 0
	}
	return 0
}

// writeBlockWord writes a token that begins, ends or names a block, such as module, endmodule or the name of a module.
func (l *layout) writeBlockWord() {
	lexeme := l.lexemes[l.nextIndex]
	previous := syntax.Lexeme{}
	if l.nextIndex > 0 {
		previous = l.lexemes[l.nextIndex-1]
	}
	endsBlock := lexeme.Class == syntax.Keyword && strings.HasPrefix(lexeme.Text, "end")
	switch {
	case lexeme.Class == syntax.Keyword || previous.Class == syntax.Comment:
		l.blockOpened = l.blockOpened || endsBlock
		l.newLine(wordIndent(lexeme))
	case !isInQuotes(previous, lexeme):
		l.lastLine().text += " "
	}
	l.lastLine().text += lexeme.Text
	l.blockOpened = !endsBlock
	l.nextIndex++
}

// isInQuotes reports whether two tokens are a quotation mark and the quoted name, without a blank between them.
func isInQuotes(previous, next syntax.Lexeme) bool {
	return previous.Text == `"` || next.Text == `"` && previous.Class == syntax.Name
}

// wordIndent returns the indentation of a line that starts with a word of a block.
func wordIndent(token syntax.Lexeme) int {
	if token.Class != syntax.Keyword || token.Text == "invariant" || token.Text == "endinvariant" {
		return 2
	}
	return 0
}

// joinLines joins the lines to the formatted text. Comments on consecutive lines begin in the same column.
func (l *layout) joinLines() []byte {
	var text bytes.Buffer
	size := 0
	for _, line := range l.lines {
		size += line.width() + len(line.comment) + 2
	}
	text.Grow(size)
	commentColumn, groupEnd := 0, 0
	for i, line := range l.lines {
		if i == groupEnd {
			commentColumn, groupEnd = l.commentGroup(i)
		}
		if line.text != "" {
			writeBlanks(&text, line.indent)
			text.WriteString(line.text)
		}
		if line.comment != "" {
			writeBlanks(&text, commentColumn-line.width()+1)
			text.WriteString(line.comment)
		}
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// newText returns the tokens and comments of the lines that are not reused.
func (l *layout) newText() []byte {
	var text bytes.Buffer
	for _, line := range l.lines {
		if line.reused == notReused {
			text.WriteString(line.text + " ")
		}
		if line.reused != textAndCommentReused {
			text.WriteString(line.comment + "\n")
		}
	}
	return text.Bytes()
}

// commentGroup finds the group of consecutive lines, beginning with the line start, whose comments begin in the same column. It returns this
// column and the index after the last line.
func (l *layout) commentGroup(start int) (column, end int) {
	firstLine := l.lines[start]
	column, end = firstLine.width(), start+1
	for end < len(l.lines) && firstLine.comment != "" && l.lines[end].comment != "" && l.lines[end].indent == firstLine.indent {
		column = max(column, l.lines[end].width())
		end++
	}
	return column, end
}

func writeBlanks(out *bytes.Buffer, n int) {
	for ; n > 0; n-- {
		out.WriteByte(' ')
	}
}

// width returns the width of the line without its comment.
func (l line) width() int { return l.indent + len(l.text) }
