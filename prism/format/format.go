package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Source returns a model or properties file, whichever syntax.IsProperties says that
// it is, laid out anew. Line ends are those of the first line.
//
// The result has the same tokens and comments in the same order, and its tree is
// equal; both are checked. The error of a file that does not parse is a
// syntax.ErrorList.
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
	return ended(out, src), nil
}

// Text is a text that parses, of which more is known than its words.
type Text struct {
	File string
	Src  []byte
	Tree syntax.Node
	// Lexemes are those of the text, but those between the first and the last one of what is in Known may lack.
	Lexemes []syntax.Lexeme
	// Known are commands of the text that were laid out before, in order. The tree may lack them.
	Known []Statement
	// Keep, unless it is nil, is given each command that is laid out and is not in Known, by the offset of its beginning.
	Keep func(from int32, laid *Laid)
}

// Statement is a part of a text and how it is laid out.
type Statement struct {
	From, To int32
	Laid     *Laid
}

// Laid is the layout of a command, which the same text has wherever it stands.
type Laid struct{ lines []line }

// Again is Source for such a text. That the result has the same tokens and comments is checked for what is not in
// Known, which was so when it was laid out; the tree is that of these tokens, and is not made again.
func Again(t Text) ([]byte, error) {
	l := layout{lexemes: t.Lexemes, units: withKnown(unitsOf(t.Tree), t.Known), keep: t.Keep}
	l.file()
	out, err := l.checked(t.File)
	if err != nil {
		return nil, err
	}
	return ended(out, t.Src), nil
}

// ended is a text with the line ends of another one.
func ended(out, src []byte) []byte {
	if end := bytes.IndexByte(src, '\n'); end > 0 && src[end-1] == '\r' {
		return bytes.ReplaceAll(out, []byte{'\n'}, []byte("\r\n"))
	}
	return out
}

var errChanged = errors.New("laid out it has another meaning, which is a mistake of tilecheck")

// checked is the text of the lines, with the same tokens and comments as the lexemes.
func (l *layout) checked(file string) ([]byte, error) {
	out, unknown := l.text()
	if !sameLexemes(l.unknown(), unknown) {
		return nil, fmt.Errorf("%s: %w", file, errChanged)
	}
	return out, nil
}

// unknown are the lexemes that are in no statement whose layout was known.
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

// trim is the text of a lexeme without the blanks at the end of a comment.
func trim(l syntax.Lexeme) string { return strings.TrimRight(l.Text, " \t") }

// unit is a statement: it begins a line, and all its tokens have one layout.
type unit struct {
	node     syntax.Node // nil if the layout is known
	from, to int32
	level    int // of indentation
	laid     *Laid
}

// unitsOf lists the statements of a file in order. What is between them are the
// words that begin and end blocks.
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

// withKnown puts commands among the statements, in place of those that begin there.
func withKnown(us []unit, known []Statement) []unit {
	if len(known) == 0 {
		return us
	}
	out := make([]unit, 0, len(us)+len(known))
	for _, k := range known {
		for len(us) > 0 && us[0].from < k.From {
			out, us = append(out, us[0]), us[1:]
		}
		for len(us) > 0 && us[0].from < k.To {
			us = us[1:]
		}
		out = append(out, unit{from: k.From, to: k.To, level: 1, laid: k.Laid})
	}
	return append(out, us...)
}

func addAll[N syntax.Node](add func(int, ...syntax.Node), level int, nodes []N) {
	for _, n := range nodes {
		add(level, n)
	}
}

// layout goes through the lexemes of a file and writes lines.
type layout struct {
	lexemes []syntax.Lexeme
	next    int // the lexeme that is written next
	units   []unit
	lines   []line
	opened  bool // the last line begins a block
	keep    func(from int32, laid *Laid)
	skipped [][2]int // lexemes of what was known
}

// line is one of the result.
type line struct {
	indent        int
	text, comment string // the comment behind the text
	known         int    // how much of that was known: 1 the text, 2 also the comment
}

// file writes everything.
func (l *layout) file() {
	for l.next < len(l.lexemes) {
		switch lex := l.lexemes[l.next]; {
		case lex.Class == syntax.Comment:
			l.comment(2 * l.levelAhead())
		case len(l.units) > 0 && lex.Start.Offset >= l.units[0].from:
			u := l.units[0]
			l.units = l.units[1:]
			l.unit(u)
		default:
			l.word()
		}
	}
}

// newLine begins a line, with a blank line above if there was one.
func (l *layout) newLine(indent int) {
	if l.blankAbove() && len(l.lines) > 0 && !l.opened {
		l.lines = append(l.lines, line{})
	}
	l.lines = append(l.lines, line{indent: indent})
	l.opened = false
}

// breaks is how many line ends are in front of the next lexeme.
func (l *layout) breaks() int {
	if l.next == 0 {
		return 1
	}
	return int(l.lexemes[l.next].Start.Line - l.lexemes[l.next-1].Start.Line)
}

func (l *layout) blankAbove() bool { return l.breaks() > 1 }

// comment writes a comment: behind what is in its line, or in a line of its own.
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

// levelAhead is the level of the next token, or that of the block which it ends.
func (l *layout) levelAhead() int {
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

// word writes a token that is in no statement: it begins or ends a block, or names it.
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

// text joins the lines, with the comments behind statements in a row aligned, and then what of it was not known.
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
		if x.known == 0 {
			fresh.WriteString(x.text + " ")
		}
		if x.known < 2 {
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

// width is that of the line without its comment.
func (l line) width() int { return l.indent + len(l.text) }
