package syntax

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Dialect is a dialect of PRISM's language.
type Dialect uint8

// The dialects. PRISM is that of PRISM 4.10, which the parser reads; Storm is
// the part of it that Storm 1.12 reads with the same meaning.
const (
	PRISM Dialect = iota
	Storm
)

// String returns the tool's name.
func (d Dialect) String() string { return [...]string{"PRISM", "Storm"}[d] }

// Options control Fprint. The zero value prints PRISM's language.
type Options struct {
	Dialect Dialect
	// Guarded says that the left side of every until with a lower bound holds in some state:
	// otherwise Storm ignores the bound.
	Guarded bool
	// NotNegative reports whether a name of the model never has a value below 0,
	// as far as the caller knows; nil knows nothing.
	NotNegative func(name string) bool
}

// DialectError says that a dialect cannot express a node.
type DialectError struct {
	Pos     Pos // of the node, unknown in a built tree
	Dialect Dialect
	Feature string // what is missing, such as "the W operator"
}

// Error returns "line:col: tool cannot express feature".
func (e *DialectError) Error() string {
	msg := fmt.Sprintf("%s cannot express %s", e.Dialect, e.Feature)
	if e.Pos.IsValid() {
		return e.Pos.String() + ": " + msg
	}
	return msg
}

// Fprint writes a tree in a readable layout: declarations and commands on
// lines of their own, comments above what they belong to, parentheses as in the
// source and wherever else precedence demands them.
//
// In PRISM's dialect parsing the text gives an equal tree (see Equal), and
// printing that gives the same text. In Storm's it means the same to Storm as
// the tree does to PRISM; a *DialectError says what Storm lacks.
//
// Models, properties files and their items end with a line end, anything else
// does not. Nothing is written if there is an error.
func Fprint(w io.Writer, n Node, opt Options) error {
	p := &printer{dialect: opt.Dialect}
	if opt.Dialect == Storm {
		var err error
		if n, err = toStorm(n, opt); err != nil {
			return err
		}
	}
	p.node(n)
	if p.err != nil {
		return p.err
	}
	_, err := w.Write(p.buf)
	return err
}

// ExprString returns an expression the way PRISM echoes it: on one line, no
// blanks round infix operators, P=? [ F<=T s=N ]. PRISM itself cannot read all
// of it: s< -1 becomes s<-1. An expression PRISM could not have read, such as a
// literal that is no number, is printed as well as can be.
func ExprString(x Expr) string {
	p := &printer{echo: true}
	p.expr(x, levelUntil)
	return string(p.buf)
}

// Echo is ExprString for the text that PRISM is given, in which an operator T is an R.
func Echo(x Expr) string {
	p := &printer{echo: true, timeless: true}
	p.expr(x, levelUntil)
	return string(p.buf)
}

// String returns the property the way PRISM echoes it: its name in quotes, if
// it has one, a colon and the expression.
func (p *Property) String() string {
	if p.Name == nil {
		return ExprString(p.X)
	}
	return fmt.Sprintf("%q: %s", p.Name.Name, ExprString(p.X))
}

// lineWidth is the width in bytes that a command or a list of names should not exceed.
const lineWidth = 100

// printer appends text to buf. The first error is kept in err.
type printer struct {
	timeless bool // T is written as the R that it stands for
	buf      []byte
	echo     bool
	dialect  Dialect
	err      error
}

func (p *printer) fail(n Node, format string, args ...any) {
	if p.err != nil {
		return
	}
	p.err = fmt.Errorf(format, args...)
	if n != nil && n.Pos().IsValid() {
		p.err = fmt.Errorf("%s: %w", n.Pos(), p.err)
	}
}

// write appends text. It keeps < apart from what would make another token of it.
func (p *printer) write(text string) {
	if n := len(p.buf); n > 0 && !p.echo && p.buf[n-1] == '<' && text != "" && strings.IndexByte("-<=", text[0]) >= 0 {
		p.buf = append(p.buf, ' ')
	}
	p.buf = append(p.buf, text...)
}

// name writes an identifier.
func (p *printer) name(id *Ident) {
	if !p.echo && !p.isName(id.Name) {
		p.fail(id, "%q is no identifier", id.Name)
	}
	p.write(id.Name)
}

// isName reports whether a word can be a name in the dialect.
func (p *printer) isName(word string) bool {
	return IsIdent(word) || p.dialect == Storm && isWord(word) && !stormReserves(keywordKind([]byte(word)))
}

// quoted writes an identifier in quotes.
func (p *printer) quoted(id *Ident) {
	p.write(`"`)
	p.name(id)
	p.write(`"`)
}

// doc writes a comment block, indented.
func (p *printer) doc(d Doc, indent string) {
	for _, lines := range d {
		for line := range strings.SplitSeq(lines, "\n") {
			line = strings.TrimRight(line, " \t\r")
			if line != "" && line[0] != '/' {
				line = " " + line
			}
			p.write(indent + "//" + line + "\n")
		}
	}
}

// head writes the comments above an item.
func (p *printer) head(n Notes, d Doc, indent string) {
	for _, block := range n.Detached {
		p.doc(block, indent)
		p.writeIf(len(block) > 0, "\n")
	}
	p.doc(d, indent)
}

// tail writes the comment behind an item, whose line has ended.
func (p *printer) tail(n Notes) {
	if len(n.Behind) == 0 || p.err != nil {
		return
	}
	p.buf = bytes.TrimSuffix(p.buf, []byte{'\n'})
	p.behind(n.Behind)
}

// behind ends a line, with a comment if there is one.
func (p *printer) behind(d Doc) {
	if len(d) == 0 {
		p.write("\n")
		return
	}
	p.doc(Doc{strings.ReplaceAll(strings.Join(d, " "), "\n", " ")}, " ")
}

// node writes any node.
func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Model:
		p.model(n)
	case *Properties:
		p.properties(n)
	case Item:
		p.item(n)
	case *Property:
		p.property(n)
	case Expr:
		p.expr(n, levelUntil)
	case SysExpr:
		p.sys(n, sysFull)
	case *VarDecl:
		p.varDecl(n, "")
	case *Command:
		p.command(n, "")
	case *Update:
		p.update(n, " & ")
	case *Assign:
		p.assign(n)
	case *RewardItem:
		p.rewardItem(n, "")
	default:
		p.fail(n, "cannot print a %T on its own", n)
	}
}

func (p *printer) model(m *Model) {
	for i, item := range m.Items {
		if i > 0 && apart(m.Items[i-1], item) {
			p.write("\n")
		}
		p.item(item)
	}
	p.trailing(m.Trailing)
}

func (p *printer) properties(ps *Properties) {
	for i, item := range ps.Items {
		if i > 0 && apart(ps.Items[i-1], item) {
			p.write("\n")
		}
		switch item := item.(type) {
		case *Property:
			p.property(item)
		case Item:
			p.item(item)
		}
	}
	p.trailing(ps.Trailing)
}

// apart reports whether a blank line separates two items: all but one-line
// declarations of the same kind without comments.
func apart(a, b Node) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return true
	}
	switch b := b.(type) {
	case *ConstDecl:
		return commented(b.Doc, b.Notes)
	case *FormulaDecl:
		return commented(b.Doc, b.Notes)
	case *LabelDecl:
		return commented(b.Doc, b.Notes)
	case *GlobalDecl:
		return commented(b.Doc, b.Notes)
	case *ObservableDecl:
		return commented(b.Doc, b.Notes)
	case *RenamedModule:
		return commented(b.Doc, b.Notes)
	case *Property:
		return commented(b.Doc, b.Notes) || len(a.(*Property).Behind) > 0
	}
	return true
}

// commented reports whether comments stand above an item.
func commented(d Doc, n Notes) bool { return len(d)+len(n.Detached) > 0 }

func (p *printer) trailing(d Doc) {
	if len(d) > 0 && len(p.buf) > 0 {
		p.write("\n")
	}
	p.doc(d, "")
}

func (p *printer) property(x *Property) {
	p.head(x.Notes, x.Doc, "")
	if x.Name != nil {
		p.quoted(x.Name)
		p.write(": ")
	}
	p.expr(x.X, levelCond)
	p.write(";\n")
	p.tail(x.Notes)
}
