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

// The dialects: the language of PRISM 4.10, and the language of Storm 1.12.
const (
	PRISM Dialect = iota
	Storm
)

// String returns the tool's name.
func (d Dialect) String() string { return [...]string{"PRISM", "Storm"}[d] }

// Options control Fprint. The zero value prints PRISM's language.
type Options struct {
	Dialect Dialect
	// Guarded says that the left side of every until with a lower bound holds in some state.
	// If it holds in no state, Storm ignores the bound.
	Guarded bool
	// NotNegative reports whether the caller knows that a variable, constant or formula never has
	// a value below 0. A nil function knows nothing.
	NotNegative func(name string) bool
	// TimeAsReward writes Storm's operator T as the R operator that it stands for. The tool that reads the text must know the reward structure.
	TimeAsReward bool
}

// DialectError says that a dialect cannot express a node.
type DialectError struct {
	Pos     Pos // of the node, unknown in a built tree
	Dialect Dialect
	Feature string // what is missing, such as "the W operator"
}

// Error returns "line:col: tool cannot express feature".
func (e *DialectError) Error() string {
	message := fmt.Sprintf("%s cannot express %s", e.Dialect, e.Feature)
	if e.Pos.IsValid() {
		return e.Pos.String() + ": " + message
	}
	return message
}

// Fprint writes a tree in a readable layout, with one declaration or command on each line. It keeps comments and parentheses, and adds the
// parentheses that precedence needs.
//
// In PRISM's dialect, the text parses to an equal tree (see Equal). In Storm's dialect, the text means to Storm what the tree means to PRISM. The
// error is a *DialectError if Storm lacks something.
//
// Models, properties files and their items end with a line end, other nodes do not. If there is an error, Fprint writes nothing.
func Fprint(w io.Writer, tree Node, options Options) error {
	printer := &printer{dialect: options.Dialect, timeAsReward: options.TimeAsReward}
	if options.Dialect == Storm {
		var err error
		if tree, err = toStorm(tree, options); err != nil {
			return err
		}
	}
	printer.writeNode(tree)
	if printer.err != nil {
		return printer.err
	}
	_, err := w.Write(printer.text)
	return err
}

// ExprString returns an expression as PRISM echoes it: on one line, without blanks around infix operators. PRISM cannot always read this text
// again: s< -1 becomes s<-1. ExprString also prints invalid expressions.
func ExprString(expr Expr) string {
	printer := &printer{isEcho: true}
	printer.writeExpr(expr, levelUntil)
	return string(printer.text)
}

// Echo returns an expression as ExprString does, but with R operators in place of Storm's operator T.
func Echo(expr Expr) string {
	printer := &printer{isEcho: true, timeAsReward: true}
	printer.writeExpr(expr, levelUntil)
	return string(printer.text)
}

// String returns the property as PRISM echoes it: its quoted name and a colon, if it has a name, and the expression.
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
	timeAsReward bool // T is written as the R that it stands for
	text         []byte
	isEcho       bool
	dialect      Dialect
	err          error
}

// recordError records the first error, with the position of the node if it is known. Later errors are ignored.
func (p *printer) recordError(node Node, format string, args ...any) {
	if p.err != nil {
		return
	}
	p.err = fmt.Errorf(format, args...)
	if node != nil && node.Pos().IsValid() {
		p.err = fmt.Errorf("%s: %w", node.Pos(), p.err)
	}
}

// write appends a text. Between "<" and a "-", "<" or "=" it adds a blank, or else PRISM would read both characters as one token.
func (p *printer) write(text string) {
	if text == "" {
		return
	}
	last := len(p.text) - 1
	isAfterLess := last >= 0 && p.text[last] == '<'
	if isAfterLess && !p.isEcho && strings.IndexByte("-<=", text[0]) >= 0 {
		p.text = append(p.text, ' ')
	}
	p.text = append(p.text, text...)
}

// writeName writes an identifier.
func (p *printer) writeName(ident *Ident) {
	if !p.isEcho && !p.isName(ident.Name) {
		p.recordError(ident, "%q is not an identifier", ident.Name)
	}
	p.write(ident.Name)
}

// isName reports whether a word can be a name in the printer's dialect.
func (p *printer) isName(word string) bool {
	return IsIdent(word) || p.dialect == Storm && isWord(word) && !stormReserves(keywordKind([]byte(word)))
}

// writeQuoted writes an identifier in quotes.
func (p *printer) writeQuoted(ident *Ident) {
	p.write(`"`)
	p.writeName(ident)
	p.write(`"`)
}

// writeCommentLines writes a comment block with slashes before each line.
func (p *printer) writeCommentLines(block Doc, indent string) {
	if len(block) == 0 {
		return
	}
	for line := range strings.SplitSeq(strings.Join(block, "\n"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line != "" && line[0] != '/' { // a row of slashes needs no blank
			line = " " + line
		}
		p.write(indent + "//" + line + "\n")
	}
}

// writeCommentsAbove writes the comment blocks above an item.
func (p *printer) writeCommentsAbove(notes Notes, doc Doc, indent string) {
	for _, block := range notes.Detached {
		p.writeCommentLines(block, indent)
		p.writeIf(len(block) > 0, "\n")
	}
	p.writeCommentLines(doc, indent)
}

// addCommentBehind adds the comment after an item to the last line, although the item has ended this line.
func (p *printer) addCommentBehind(notes Notes) {
	if len(notes.Behind) == 0 || p.err != nil {
		return
	}
	p.text = bytes.TrimSuffix(p.text, []byte{'\n'})
	p.endLine(notes.Behind)
}

// endLine ends a line, with a comment if there is one. It joins the lines of the comment.
func (p *printer) endLine(comment Doc) {
	if len(comment) == 0 {
		p.write("\n")
		return
	}
	oneLine := strings.ReplaceAll(strings.Join(comment, " "), "\n", " ")
	p.writeCommentLines(Doc{oneLine}, " ")
}

// writeNode writes a node of any kind.
func (p *printer) writeNode(n Node) {
	switch n := n.(type) {
	case *Model:
		p.writeModel(n)
	case *Properties:
		p.writeProperties(n)
	case Item:
		p.writeDeclaration(n)
	case *Property:
		p.writeProperty(n)
	case Expr:
		p.writeExpr(n, levelUntil)
	case SysExpr:
		p.writeSystemTerm(n, sysFull)
	case *VarDecl:
		p.writeVarDecl(n, "")
	case *Command:
		p.writeCommand(n, "")
	case *Update:
		p.writeUpdate(n, " & ")
	case *Assign:
		p.writeAssign(n)
	case *RewardItem:
		p.writeRewardItem(n, "")
	default:
		p.recordError(n, "cannot print a %T on its own", n)
	}
}

// writeModel writes a model file.
func (p *printer) writeModel(file *Model) {
	for i, item := range file.Items {
		if i > 0 && needBlankLine(file.Items[i-1], item) {
			p.write("\n")
		}
		p.writeDeclaration(item)
	}
	p.writeCommentsAtEnd(file.Trailing)
}

// writeProperties writes a properties file: its properties and its declarations of constants and labels.
func (p *printer) writeProperties(file *Properties) {
	for i, node := range file.Items {
		if i > 0 && needBlankLine(file.Items[i-1], node) {
			p.write("\n")
		}
		switch node := node.(type) {
		case *Property:
			p.writeProperty(node)
		case Item:
			p.writeDeclaration(node)
		}
	}
	p.writeCommentsAtEnd(file.Trailing)
}

// needBlankLine reports whether two successive items are separated by a blank line. Declarations of one line and of the same kind are not, unless
// the second one has a comment above.
func needBlankLine(previous, item Node) bool {
	if reflect.TypeOf(previous) != reflect.TypeOf(item) {
		return true
	}
	switch item := item.(type) {
	case *ConstDecl:
		return hasCommentAbove(item.Doc, item.Notes)
	case *FormulaDecl:
		return hasCommentAbove(item.Doc, item.Notes)
	case *LabelDecl:
		return hasCommentAbove(item.Doc, item.Notes)
	case *GlobalDecl:
		return hasCommentAbove(item.Doc, item.Notes)
	case *ObservableDecl:
		return hasCommentAbove(item.Doc, item.Notes)
	case *RenamedModule:
		return hasCommentAbove(item.Doc, item.Notes)
	case *Property:
		return hasCommentAbove(item.Doc, item.Notes) || len(previous.(*Property).Behind) > 0
	}
	return true
}

// hasCommentAbove reports whether comments stand above an item.
func hasCommentAbove(doc Doc, notes Notes) bool { return len(doc)+len(notes.Detached) > 0 }

// writeCommentsAtEnd writes the comments at the end of a file, after a blank line.
func (p *printer) writeCommentsAtEnd(comments Doc) {
	if len(comments) > 0 && len(p.text) > 0 {
		p.write("\n")
	}
	p.writeCommentLines(comments, "")
}

// writeProperty writes a property with its comments and a semicolon.
func (p *printer) writeProperty(property *Property) {
	p.writeCommentsAbove(property.Notes, property.Doc, "")
	if property.Name != nil {
		p.writeQuoted(property.Name)
		p.write(": ")
	}
	p.writeExpr(property.X, levelCond)
	p.write(";\n")
	p.addCommentBehind(property.Notes)
}
