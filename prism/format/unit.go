package format

import (
	"reflect"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// unit writes a statement.
func (l *layout) unit(u unit) {
	first := l.next
	end := l.endOf(u)
	l.newLine(2 * u.level)
	if u.newLaid != nil {
		l.lines = append(l.lines[:len(l.lines)-1], u.newLaid.lines...)
		l.skipped = append(l.skipped, [2]int{first, end})
		l.next = end
		return
	}
	at := len(l.lines) - 1
	l.statement(u, end)
	if _, ok := u.node.(*syntax.Command); ok && l.keep != nil {
		l.keep(u.from, newLaid(l.lines[at:]))
	}
}

// newLaid returns the layout of a command. A comment after its last line is not part of it.
func newLaid(lines []line) *Laid {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].reused = 2
	}
	lines[len(lines)-1].reused = 1
	return &Laid{lines}
}

// statement writes a statement on the current line.
func (l *layout) statement(u unit, end int) {
	first := l.next
	whole := l.lexemes[first:end]
	printed, apart := gaps(u, whole)
	if printed != nil && whole[len(whole)-1].Start.Line == whole[0].Start.Line {
		l.last().text = printed[0]
		for _, text := range printed[1:] {
			trimmed := strings.TrimLeft(text, " ")
			l.lines = append(l.lines, line{indent: 2*u.level + len(text) - len(trimmed), text: trimmed})
		}
		l.next = end
		return
	}
	l.broken(u, end, apart)
}

// endOf returns the index of the lexeme after a statement, including the semicolons of a property.
func (l *layout) endOf(u unit) int {
	stop := u.to
	end := l.next
	for end < len(l.lexemes) && l.lexemes[end].Start.Offset < stop {
		end++
	}
	if _, ok := u.node.(*syntax.Property); !ok {
		return end
	}
	for i := end; i < len(l.lexemes); i++ {
		switch lex := l.lexemes[i]; {
		case lex.Text == ";":
			end = i + 1
		case lex.Class != syntax.Comment:
			return end
		}
	}
	return end
}

// gaps returns the lines of a statement as syntax.Fprint prints it, and for each of its lexemes
// whether a blank precedes it. lines is nil if Fprint prints other tokens than the text has; then
// blanks stay where they were.
func gaps(u unit, whole []syntax.Lexeme) (lines []string, apart []bool) {
	apart = make([]bool, len(whole))
	text := printed(u.node)
	got := slices.Collect(syntax.Lexemes([]byte(text)))
	tokens := make([]int, 0, len(whole))
	for i, lex := range whole {
		if lex.Class != syntax.Comment {
			tokens = append(tokens, i)
		}
	}
	n := len(tokens)
	if _, ok := u.node.(*syntax.Property); ok {
		for n > 0 && whole[tokens[n-1]].Text == ";" {
			n--
		}
		if len(got) == n+1 && n+1 != len(tokens) {
			text = strings.TrimSuffix(text, ";") + strings.Repeat(";", len(tokens)-n)
			got = got[:n]
		}
	}
	same := len(got) >= n
	for i := 0; same && i < n; i++ {
		same = got[i].Text == whole[tokens[i]].Text
	}
	if !same || len(got) > len(tokens) || text == "" {
		for i := 1; i < len(whole); i++ {
			apart[i] = whole[i].Start.Offset > whole[i-1].Stop.Offset && whole[i].Text != ";"
		}
		return nil, apart
	}
	for i := 1; i < n; i++ {
		apart[tokens[i]] = got[i].Start.Line > got[i-1].Start.Line && got[i-1].Text != "[" && got[i].Text != "]" ||
			got[i].Start.Line == got[i-1].Start.Line && got[i].Start.Offset > got[i-1].Stop.Offset
	}
	return strings.Split(text, "\n"), apart
}

// printed returns the statement as Fprint prints it, without comments; "" after an error.
func printed(n syntax.Node) string {
	var wrap syntax.Node = Bare(n)
	c, command := wrap.(*syntax.Command)
	if command { // in a module, for the right width
		wrap = &syntax.Module{Name: &syntax.Ident{Name: "m"}, Commands: []*syntax.Command{c}}
	}
	var b strings.Builder
	if syntax.Fprint(&b, wrap, syntax.Options{}) != nil {
		return ""
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if command {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "module m\n  "), "\nendmodule")
		text = strings.ReplaceAll(text, "\n  ", "\n")
	}
	return text
}

// Bare returns a node without its comments.
func Bare(n syntax.Node) syntax.Node {
	old := reflect.ValueOf(n).Elem()
	if !old.FieldByName("Notes").IsValid() {
		return n
	}
	c := reflect.New(old.Type())
	c.Elem().Set(old)
	c.Elem().FieldByName("Notes").SetZero()
	c.Elem().FieldByName("Doc").SetZero()
	return c.Interface().(syntax.Node)
}

// broken writes a statement with line breaks or comments between its tokens.
func (l *layout) broken(u unit, end int, apart []bool) {
	first := l.next
	in := statement{unit: u}
	for ; l.next < end; l.next++ {
		lex := l.lexemes[l.next]
		if lex.Class == syntax.Comment {
			l.comment(in.indent(l.nextToken(end)))
			l.next--
			continue
		}
		commented := l.next > first && l.lexemes[l.next-1].Class == syntax.Comment
		fresh := l.next > first && (commented || l.breaks() > 0 && lex.Text != ";" && lex.Text != ",")
		switch {
		case fresh:
			l.newLine(in.indent(lex))
		case apart[l.next-first]:
			l.last().text += " "
		}
		l.last().text += lex.Text
		in.step(lex)
	}
}

// nextToken returns the next token before index end.
func (l *layout) nextToken(end int) syntax.Lexeme {
	for _, lex := range l.lexemes[l.next:end] {
		if lex.Class != syntax.Comment {
			return lex
		}
	}
	return syntax.Lexeme{}
}

// statement is the position within a statement.
type statement struct {
	unit
	depth   int  // of brackets
	updates bool // of a command, behind the arrow
}

func (s *statement) step(lex syntax.Lexeme) {
	switch lex.Text {
	case "(", "[", "{", "[[":
		s.depth++
	case ")", "]", "}", "]]":
		s.depth--
	case "->":
		_, command := s.node.(*syntax.Command)
		s.updates = command && s.depth == 0
	}
}

// indent returns the indentation of a line that starts with a token: that of Fprint for commands,
// plus two for each open bracket.
func (s *statement) indent(lex syntax.Lexeme) int {
	base, more := 2*s.level, 4
	switch s.node.(type) {
	case *syntax.RenamedModule, *syntax.Observables, *syntax.Player:
		more = 2
	case syntax.Expr, syntax.SysExpr: // in a line of its own
		more = 0
	}
	depth := s.depth
	if closes := lex.Text != "" && strings.Contains(")]}", lex.Text[:1]) || strings.HasPrefix(lex.Text, "end"); closes && lex.Class != syntax.Name {
		depth--
		if depth <= 0 {
			return base
		}
	}
	if s.updates && depth == 0 {
		switch lex.Text {
		case "+":
			return base + 2
		case "&":
			return base + 6
		}
	}
	return base + max(more+2*(depth-1), more)
}
