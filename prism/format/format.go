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
	out := l.text()
	after, err := syntax.ParseFile(dialect, file, out)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: laid out it does not parse, which is a mistake of tilecheck: %w", file, err)
	case !syntax.Equal(before, after) || !sameLexemes(l.lexemes, out):
		return nil, fmt.Errorf("%s: %w", file, errChanged)
	}
	if end := bytes.IndexByte(src, '\n'); end > 0 && src[end-1] == '\r' {
		out = bytes.ReplaceAll(out, []byte{'\n'}, []byte("\r\n"))
	}
	return out, nil
}

var errChanged = errors.New("laid out it has another meaning, which is a mistake of tilecheck")

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
	node  syntax.Node
	level int // of indentation
}

// unitsOf lists the statements of a file in order. What is between them are the
// words that begin and end blocks.
func unitsOf(file syntax.Node) []unit {
	var us []unit
	add := func(level int, nodes ...syntax.Node) {
		for _, n := range nodes {
			us = append(us, unit{n, level})
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
}

// line is one of the result.
type line struct {
	indent        int
	text, comment string // the comment behind the text
}

// file writes everything.
func (l *layout) file() {
	for l.next < len(l.lexemes) {
		switch lex := l.lexemes[l.next]; {
		case lex.Class == syntax.Comment:
			l.comment(2 * l.levelAhead())
		case len(l.units) > 0 && lex.Start.Offset >= l.units[0].node.Pos().Offset:
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
		case len(l.units) > 0 && lex.Start.Offset >= l.units[0].node.Pos().Offset:
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

// text joins the lines, with the comments behind statements in a row aligned.
func (l *layout) text() []byte {
	var out strings.Builder
	column, aligned := 0, 0 // of the comments in the lines before that one
	for i, x := range l.lines {
		for ; aligned <= i || aligned < len(l.lines) && x.comment != "" && l.lines[aligned].comment != "" && l.lines[aligned].indent == x.indent; aligned++ {
			if aligned == i {
				column = 0
			}
			column = max(column, l.lines[aligned].width())
		}
		if x.text != "" {
			out.WriteString(strings.Repeat(" ", x.indent) + x.text)
		}
		if x.comment != "" {
			out.WriteString(strings.Repeat(" ", column-x.width()+1) + x.comment)
		}
		out.WriteByte('\n')
	}
	return []byte(out.String())
}

// width is that of the line without its comment.
func (l line) width() int { return l.indent + len(l.text) }
