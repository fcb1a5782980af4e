package editor

import (
	"bytes"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// comments returns the comment of a declaration, or "" if it has none: the comment on the lines directly above it, or else the comment after it on the
// same line. For a module or a reward structure, the latter is the comment after its name.
func (decl *declaration) comments() string {
	if decl.details == nil || decl.node == nil {
		return ""
	}
	doc, declRange := decl.doc, rangeOf(decl.node)
	if lines := doc.commentsAbove(declRange.From); len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	end := declRange.To
	switch decl.node.(type) {
	case *syntax.Module, *syntax.RenamedModule, *syntax.Rewards:
		end = decl.To
	}
	return doc.commentBehind(end)
}

// commentsAbove returns the lines of the comments directly above the line of an offset.
func (d *document) commentsAbove(offset int) []string {
	var lines []string
	lexemes := d.lexemes()
	for i := d.lexemeFrom(offset) - 1; i >= 0; i-- {
		current := lexemes[i]
		isAlone := i == 0 || bytes.IndexByte(d.text[lexemes[i-1].to:current.from], '\n') >= 0
		isDirectlyAbove := bytes.Count(d.text[current.to:offset], []byte("\n")) == 1
		if current.class != syntax.Comment || !isAlone || !isDirectlyAbove {
			break
		}
		lines = append(lines, d.commentText(current))
		offset = int(current.from)
	}
	slices.Reverse(lines)
	return lines
}

// commentBehind returns the comment that follows an offset on the same line. It returns "" if there is none.
func (d *document) commentBehind(offset int) string {
	lexemes := d.lexemes()
	for i := d.lexemeFrom(offset); i < len(lexemes) && bytes.IndexByte(d.text[offset:lexemes[i].from], '\n') < 0; i++ {
		if lexemes[i].class == syntax.Comment {
			return d.commentText(lexemes[i])
		}
		if !d.is(lexemes[i], ";") && !d.is(lexemes[i], `"`) {
			break
		}
	}
	return ""
}

// commentText returns a comment without its slashes.
func (d *document) commentText(l lexeme) string {
	return strings.TrimSpace(strings.TrimLeft(d.word(l), "/"))
}
