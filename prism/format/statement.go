package format

import (
	"reflect"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// writeStatement writes a statement on new lines. It reuses the layout of the statement if there is one.
func (l *layout) writeStatement(statement statement) {
	first := l.nextIndex
	endIndex := l.endIndex(statement)
	l.newLine(2 * statement.level)
	if statement.reusedLayout != nil {
		l.lines = append(l.lines[:len(l.lines)-1], statement.reusedLayout.lines...)
		l.reusedRanges = append(l.reusedRanges, lexemeRange{first, endIndex})
		l.nextIndex = endIndex
		return
	}
	startLine := len(l.lines) - 1
	l.writeNewStatement(statement, endIndex)
	if _, ok := statement.node.(*syntax.Command); ok && l.onNewLayout != nil {
		l.onNewLayout(statement.start, reusableLayout(l.lines[startLine:]))
	}
}

// reusableLayout returns the lines of a command as a layout that later calls can reuse.
func reusableLayout(lines []line) *CommandLayout {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].reused = textAndCommentReused
	}
	lines[len(lines)-1].reused = textReused // a comment behind the last line is not part of the command
	return &CommandLayout{lines}
}

// writeNewStatement writes a statement that has no reusable layout. It begins on the current line, and uses further lines if it is too long.
func (l *layout) writeNewStatement(statement statement, end int) {
	first := l.nextIndex
	lexemes := l.lexemes[first:end]
	printed, blankBefore := printedLines(statement, lexemes)
	isOnOneLine := lexemes[len(lexemes)-1].Start.Line == lexemes[0].Start.Line
	if printed != nil && isOnOneLine {
		l.lastLine().text = printed[0]
		for _, text := range printed[1:] {
			trimmed := strings.TrimLeft(text, " ")
			l.lines = append(l.lines, line{indent: 2*statement.level + len(text) - len(trimmed), text: trimmed})
		}
		l.nextIndex = end
		return
	}
	l.writeBroken(statement, end, blankBefore)
}

// endIndex returns the index of the first lexeme after a statement. The semicolons behind a property are part of the statement.
func (l *layout) endIndex(statement statement) int {
	endOffset := statement.to
	end := l.nextIndex
	for end < len(l.lexemes) && l.lexemes[end].Start.Offset < endOffset {
		end++
	}
	if _, ok := statement.node.(*syntax.Property); !ok {
		return end
	}
	for i := end; i < len(l.lexemes); i++ {
		switch lexeme := l.lexemes[i]; {
		case lexeme.Text == ";":
			end = i + 1
		case lexeme.Class != syntax.Comment:
			return end
		}
	}
	return end
}

// printedLines returns the lines of a statement as syntax.Fprint prints it. blankBefore[i] reports whether a blank precedes lexeme i. If Fprint
// would change tokens, lines is nil, and blankBefore describes the original text.
func printedLines(statement statement, lexemes []syntax.Lexeme) (lines []string, blankBefore []bool) {
	text := printWithoutComments(statement.node)
	printedLexemes := slices.Collect(syntax.Lexemes([]byte(text)))
	tokens := tokenIndexes(lexemes)
	numCompared := len(tokens) // the number of tokens that the text and the printed text must have in common
	if _, ok := statement.node.(*syntax.Property); ok {
		numCompared -= trailingSemicolons(lexemes, tokens)
		// Fprint ends a property with one semicolon. The text may have none or several.
		if len(printedLexemes) == numCompared+1 && len(tokens) != numCompared+1 {
			text = strings.TrimSuffix(text, ";") + strings.Repeat(";", len(tokens)-numCompared)
			printedLexemes = printedLexemes[:numCompared]
		}
	}
	if text == "" || len(printedLexemes) > len(tokens) || !startsWithTokens(printedLexemes, lexemes, tokens[:numCompared]) {
		return nil, blanksInText(lexemes)
	}
	blankBefore = make([]bool, len(lexemes))
	for i := 1; i < numCompared; i++ {
		blankBefore[tokens[i]] = isSeparated(printedLexemes[i-1], printedLexemes[i])
	}
	return strings.Split(text, "\n"), blankBefore
}

// tokenIndexes returns the indexes of the lexemes that are not comments.
func tokenIndexes(lexemes []syntax.Lexeme) []int {
	tokens := make([]int, 0, len(lexemes))
	for i, lexeme := range lexemes {
		if lexeme.Class != syntax.Comment {
			tokens = append(tokens, i)
		}
	}
	return tokens
}

// trailingSemicolons returns the number of semicolons at the end of a statement.
func trailingSemicolons(lexemes []syntax.Lexeme, tokens []int) int {
	count := 0
	for count < len(tokens) && lexemes[tokens[len(tokens)-1-count]].Text == ";" {
		count++
	}
	return count
}

// startsWithTokens reports whether the printed lexemes begin with the given tokens. tokens are indices in lexemes.
func startsWithTokens(printed, lexemes []syntax.Lexeme, tokens []int) bool {
	if len(printed) < len(tokens) {
		return false
	}
	for i, token := range tokens {
		if printed[i].Text != lexemes[token].Text {
			return false
		}
	}
	return true
}

// blanksInText returns for each lexeme whether the text has a blank before it, except before semicolons.
func blanksInText(lexemes []syntax.Lexeme) []bool {
	blankBefore := make([]bool, len(lexemes))
	for i := 1; i < len(lexemes); i++ {
		blankBefore[i] = lexemes[i].Start.Offset > lexemes[i-1].Stop.Offset && lexemes[i].Text != ";"
	}
	return blankBefore
}

// isSeparated reports whether a blank belongs between two printed tokens. A line break counts as a blank, except within the brackets of an
// action.
func isSeparated(left, right syntax.Lexeme) bool {
	if left.Start.Line < right.Start.Line {
		return left.Text != "[" && right.Text != "]"
	}
	return left.Start.Line == right.Start.Line && left.Stop.Offset < right.Start.Offset
}

// printWithoutComments returns a statement as syntax.Fprint prints it without comments. It returns "" if Fprint fails.
func printWithoutComments(statement syntax.Node) string {
	var node syntax.Node = Bare(statement)
	command, isCommand := node.(*syntax.Command)
	if isCommand { // the indentation of a module counts for the line width
		node = &syntax.Module{Name: &syntax.Ident{Name: "m"}, Commands: []*syntax.Command{command}}
	}
	var printed strings.Builder
	if syntax.Fprint(&printed, node, syntax.Options{}) != nil {
		return ""
	}
	text := strings.TrimSuffix(printed.String(), "\n")
	if isCommand {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "module m\n  "), "\nendmodule")
		text = strings.ReplaceAll(text, "\n  ", "\n")
	}
	return text
}

// Bare returns a node without its comments.
func Bare(node syntax.Node) syntax.Node {
	original := reflect.ValueOf(node).Elem()
	if !original.FieldByName("Notes").IsValid() {
		return node
	}
	copied := reflect.New(original.Type())
	copied.Elem().Set(original)
	copied.Elem().FieldByName("Notes").SetZero()
	copied.Elem().FieldByName("Doc").SetZero()
	return copied.Interface().(syntax.Node)
}

// writeBroken writes a statement that keeps the line breaks and comments of the original text.
func (l *layout) writeBroken(statement statement, end int, blankBefore []bool) {
	first := l.nextIndex
	position := position{statement: statement}
	for l.nextIndex < end {
		lexeme := l.lexemes[l.nextIndex]
		if lexeme.Class == syntax.Comment {
			l.writeComment(position.indent(l.nextToken(end)))
			continue
		}
		switch {
		case l.nextIndex > first && l.keepsLineBreak(lexeme):
			l.newLine(position.indent(lexeme))
		case blankBefore[l.nextIndex-first]:
			l.lastLine().text += " "
		}
		l.lastLine().text += lexeme.Text
		position.moveBehind(lexeme)
		l.nextIndex++
	}
}

// keepsLineBreak reports whether the next token starts a line. A semicolon or comma moves to the end of the previous line, unless this is a
// comment.
func (l *layout) keepsLineBreak(token syntax.Lexeme) bool {
	if l.lexemes[l.nextIndex-1].Class == syntax.Comment {
		return true
	}
	return l.lineBreaks() > 0 && token.Text != ";" && token.Text != ","
}

// nextToken returns the next token before the index end.
func (l *layout) nextToken(end int) syntax.Lexeme {
	for _, lexeme := range l.lexemes[l.nextIndex:end] {
		if lexeme.Class != syntax.Comment {
			return lexeme
		}
	}
	return syntax.Lexeme{}
}

// position is a position within a statement.
type position struct {
	statement
	depth     int  // of brackets
	inUpdates bool // after the arrow of a command
}

// moveBehind updates the position after a token: the number of open brackets, and whether the updates of a command have begun.
func (p *position) moveBehind(token syntax.Lexeme) {
	switch token.Text {
	case "(", "[", "{", "[[":
		p.depth++
	case ")", "]", "}", "]]":
		p.depth--
	case "->":
		_, isCommand := p.node.(*syntax.Command)
		p.inUpdates = isCommand && p.depth == 0
	}
}

// indent returns the indentation of a line that begins with a token, in columns. Each open bracket after the first adds two columns.
func (p *position) indent(token syntax.Lexeme) int {
	statementIndent, continuationIndent := 2*p.level, 4
	switch p.node.(type) {
	case *syntax.RenamedModule, *syntax.Observables, *syntax.Player:
		continuationIndent = 2
	case syntax.Expr, syntax.SysExpr: // the only statement of an init or system block
		continuationIndent = 0
	}
	depth := p.depth
	if closesBlock(token) {
		depth--
		if depth <= 0 {
			return statementIndent
		}
	}
	// Updates of a command are indented as syntax.Fprint does.
	if p.inUpdates && depth == 0 {
		switch token.Text {
		case "+":
			return statementIndent + 2
		case "&":
			return statementIndent + 6
		}
	}
	return statementIndent + continuationIndent + 2*max(depth-1, 0)
}

// closesBlock reports whether a lexeme is a closing bracket, or a keyword that ends a block.
func closesBlock(lexeme syntax.Lexeme) bool {
	if lexeme.Text == "" || lexeme.Class == syntax.Name {
		return false
	}
	return strings.Contains(")]}", lexeme.Text[:1]) || strings.HasPrefix(lexeme.Text, "end")
}
