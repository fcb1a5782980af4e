package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Source formats a model or properties file; syntax.IsProperties decides which it is. Line breaks
// have the style of the first line.
//
// The function checks that the result has the same tokens and comments in the same order, and the
// same tree. The error for a file that does not parse is a syntax.ErrorList.
func Source(dialect syntax.Dialect, file string, src []byte) ([]byte, error) {
	before, err := syntax.ParseFile(dialect, file, src)
	if err != nil {
		return nil, err
	}
	l := layout{lexemes: slices.AppendSeq(make([]syntax.Lexeme, 0, len(src)/2), syntax.Lexemes(src)), units: unitsOf(before)}
	l.file()
	out, err := l.checked(file)
	if err != nil {
		return nil, err
	}
	after, err := syntax.ParseFile(dialect, file, out)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: laid out it does not parse, which is a mistake of tilecheck: %w", file, err)
	case !syntax.Equal(before, after):
		return nil, fmt.Errorf("%s: %w", file, errChanged)
	}
	return withLineEnds(out, src), nil
}

// Text is a text that parses, with results that the caller has already.
type Text struct {
	File string
	Src  []byte
	Tree syntax.Node
	// Lexemes are the lexemes of the text. Those inside the statements in Known may be missing.
	Lexemes []syntax.Lexeme
	// Known are commands that were formatted before, in order. The tree may lack them.
	Known []Statement
	// Keep is called, unless it is nil, for each newly formatted command with its start offset.
	Keep func(from int32, newLaid *Laid)
}

// Statement is a part of a text with its layout.
type Statement struct {
	From, To int32
	Laid     *Laid
}

// Laid is the layout of a command. It does not depend on the position of the command.
type Laid struct{ lines []line }

// Again formats a Text like Source, but reuses the layouts in Known. It checks the tokens and
// comments of the rest; those in Known were checked when they were formatted.
func Again(t Text) ([]byte, error) {
	l := layout{lexemes: t.Lexemes, units: withKnown(unitsOf(t.Tree), t.Known), keep: t.Keep}
	l.file()
	out, err := l.checked(t.File)
	if err != nil {
		return nil, err
	}
	return withLineEnds(out, t.Src), nil
}

// withLineEnds returns out with the line breaks of src.
func withLineEnds(out, src []byte) []byte {
	if end := bytes.IndexByte(src, '\n'); end > 0 && src[end-1] == '\r' {
		return bytes.ReplaceAll(out, []byte{'\n'}, []byte("\r\n"))
	}
	return out
}

var errChanged = errors.New("laid out it has another meaning, which is a mistake of tilecheck")

// checked returns the formatted text after comparing its tokens and comments with the lexemes.
func (l *layout) checked(file string) ([]byte, error) {
	out, unknown := l.text()
	if !sameLexemes(l.unknown(), unknown) {
		return nil, fmt.Errorf("%s: %w", file, errChanged)
	}
	return out, nil
}

// unknown returns the lexemes outside the reused statements.
func (l *layout) unknown() []syntax.Lexeme {
	if len(l.skipped) == 0 {
		return l.lexemes
	}
	out, at := make([]syntax.Lexeme, 0, len(l.lexemes)), 0
	for _, r := range l.skipped {
		out = append(out, l.lexemes[at:r[0]]...)
		at = r[1]
	}
	return append(out, l.lexemes[at:]...)
}

// sameLexemes reports whether a text has these tokens and comments.
func sameLexemes(want []syntax.Lexeme, text []byte) bool {
	i := 0
	for got := range syntax.Lexemes(text) {
		if i == len(want) || got.Class != want[i].Class || trim(got) != trim(want[i]) {
			return false
		}
		i++
	}
	return i == len(want)
}

// trim returns the text of a lexeme without the blanks at the end of a comment.
func trim(l syntax.Lexeme) string { return strings.TrimRight(l.Text, " \t") }

// unit is a statement: it starts a line, and its tokens are formatted together.
type unit struct {
	node     syntax.Node // nil if the layout is known
	from, to int32
	level    int // of indentation
	newLaid  *Laid
}

// unitsOf returns the statements of a file in order. The text between them is the words that start
// and end blocks.
func unitsOf(file syntax.Node) []unit {
	var us []unit
	add := func(level int, nodes ...syntax.Node) {
		for _, n := range nodes {
			us = append(us, unit{node: n, from: n.Pos().Offset, to: n.End().Offset, level: level})
		}
	}
	switch file := file.(type) {
	case *syntax.Properties:
		for _, item := range file.Items {
			add(0, item)
		}
	case *syntax.Model:
		for _, item := range file.Items {
			switch item := item.(type) {
			case *syntax.Module:
				addAll(add, 1, item.Vars)
				if item.Invariant != nil {
					add(2, item.Invariant)
				}
				addAll(add, 1, item.Commands)
			case *syntax.Rewards:
				addAll(add, 1, item.Items)
			case *syntax.InitBlock:
				add(1, item.X)
			case *syntax.System:
				add(1, item.X)
			default:
				add(0, item)
			}
		}
	}
	return us
}

// withKnown inserts reused commands among the statements, replacing those that start at the same
// offset.
func withKnown(us []unit, reused []Statement) []unit {
	if len(reused) == 0 {
		return us
	}
	out := make([]unit, 0, len(us)+len(reused))
	for _, k := range reused {
		for len(us) > 0 && us[0].from < k.From {
			out, us = append(out, us[0]), us[1:]
		}
		for len(us) > 0 && us[0].from < k.To {
			us = us[1:]
		}
		out = append(out, unit{from: k.From, to: k.To, level: 1, newLaid: k.Laid})
	}
	return append(out, us...)
}

func addAll[N syntax.Node](add func(int, ...syntax.Node), level int, nodes []N) {
	for _, n := range nodes {
		add(level, n)
	}
}

// layout converts the lexemes of a file to lines.
type layout struct {
	lexemes []syntax.Lexeme
	next    int // index of the next lexeme
	units   []unit
	lines   []line
	opened  bool // the last line starts a block
	keep    func(from int32, newLaid *Laid)
	skipped [][2]int // ranges of lexemes in reused statements
}

// line is a line of the result.
type line struct {
	indent        int
	text, comment string // the comment behind the text
	reused        int    // 1 if the text is from a reused layout, 2 if the comment is too
}

// file writes all lines.
func (l *layout) file() {
	for l.next < len(l.lexemes) {
		switch lex := l.lexemes[l.next]; {
		case lex.Class == syntax.Comment:
			l.comment(2 * l.nextLevel())
		case len(l.units) > 0 && lex.Start.Offset >= l.units[0].from:
			u := l.units[0]
			l.units = l.units[1:]
			l.unit(u)
		default:
			l.word()
		}
	}
}

// newLine starts a line, after a blank line if the text has one there.
func (l *layout) newLine(indent int) {
	if l.blankAbove() && len(l.lines) > 0 && !l.opened {
		l.lines = append(l.lines, line{})
	}
	l.lines = append(l.lines, line{indent: indent})
	l.opened = false
}

// breaks returns the number of line breaks before the next lexeme.
func (l *layout) breaks() int {
	if l.next == 0 {
		return 1
	}
	return int(l.lexemes[l.next].Start.Line - l.lexemes[l.next-1].Start.Line)
}

func (l *layout) blankAbove() bool { return l.breaks() > 1 }

// comment writes a comment: at the end of the current line, or on its own line.
func (l *layout) comment(indent int) {
	text := trim(l.lexemes[l.next])
	if l.breaks() == 0 {
		l.last().comment = text
		l.next++
		return
	}
	l.newLine(indent)
	l.last().text = text
	l.next++
}

func (l *layout) last() *line { return &l.lines[len(l.lines)-1] }

// nextLevel returns the indentation level of the next token, or of the block that it ends.
func (l *layout) nextLevel() int {
	for _, lex := range l.lexemes[l.next:] {
		switch {
		case lex.Class == syntax.Comment:
			continue
		case len(l.units) > 0 && lex.Start.Offset >= l.units[0].from:
			return l.units[0].level
		case lex.Text == "endmodule" || lex.Text == "endrewards" || lex.Text == "invariant" || lex.Text == "endinit" || lex.Text == "endsystem":
			return 1
		case lex.Text == "endinvariant":
			return 2
		}
		break
	}
	return 0
}

// word writes a token outside statements: it starts, ends or names a block.
func (l *layout) word() {
	lex := l.lexemes[l.next]
	after := syntax.Lexeme{}
	if l.next > 0 {
		after = l.lexemes[l.next-1]
	}
	ends := lex.Class == syntax.Keyword && strings.HasPrefix(lex.Text, "end")
	switch {
	case lex.Class == syntax.Keyword || after.Class == syntax.Comment:
		l.opened = l.opened || ends
		l.newLine(wordIndent(lex))
	case after.Text == `"` || lex.Text == `"` && after.Class == syntax.Name:
	default:
		l.last().text += " "
	}
	l.last().text += lex.Text
	l.opened = !ends
	l.next++
}

func wordIndent(lex syntax.Lexeme) int {
	if lex.Class != syntax.Keyword || lex.Text == "invariant" || lex.Text == "endinvariant" {
		return 2
	}
	return 0
}

// text joins the lines and aligns comments on consecutive lines. unknown is the part that was not
// reused.
func (l *layout) text() (all, unknown []byte) {
	var out, fresh bytes.Buffer
	size := 0
	for _, x := range l.lines {
		size += x.width() + len(x.comment) + 2
	}
	out.Grow(size)
	column, aligned := 0, 0 // of the comments in the lines before that one
	for i, x := range l.lines {
		for ; aligned <= i || aligned < len(l.lines) && x.comment != "" && l.lines[aligned].comment != "" && l.lines[aligned].indent == x.indent; aligned++ {
			if aligned == i {
				column = 0
			}
			column = max(column, l.lines[aligned].width())
		}
		if x.text != "" {
			blanks(&out, x.indent)
			out.WriteString(x.text)
		}
		if x.comment != "" {
			blanks(&out, column-x.width()+1)
			out.WriteString(x.comment)
		}
		out.WriteByte('\n')
		if len(l.skipped) == 0 {
			continue
		}
		if x.reused == 0 {
			fresh.WriteString(x.text + " ")
		}
		if x.reused < 2 {
			fresh.WriteString(x.comment + "\n")
		}
	}
	if len(l.skipped) == 0 {
		return out.Bytes(), out.Bytes()
	}
	return out.Bytes(), fresh.Bytes()
}

func blanks(out *bytes.Buffer, n int) {
	for ; n > 0; n-- {
		out.WriteByte(' ')
	}
}

// width returns the width of the line without its comment.
func (l line) width() int { return l.indent + len(l.text) }
