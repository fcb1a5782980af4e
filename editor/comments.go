package editor

import (
	"bytes"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// comments returns the comment of a declaration, or "" if it has none. This is the comment on the lines directly above it, or else the comment behind it on
// the same line. For a module or a reward structure, the latter is the comment behind its name.
func (decl *declaration) comments() string {
	if decl.details == nil || decl.node == nil {
		return ""
	}
	d, whole := decl.doc, rangeOf(decl.node)
	if lines := d.commentsAbove(whole.From); len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	end := whole.To
	switch decl.node.(type) {
	case *syntax.Module, *syntax.RenamedModule, *syntax.Rewards:
		end = decl.To
	}
	return d.commentBehind(end)
}

// commentsAbove returns the lines of the comments directly above the line of an offset.
func (d *document) commentsAbove(offset int) []string {
	var lines []string
	all := d.lexemes()
	for i := d.lexemeFrom(offset) - 1; i >= 0; i-- {
		l := all[i]
		isAlone := i == 0 || bytes.IndexByte(d.text[all[i-1].to:l.from], '\n') >= 0
		isDirectlyAbove := bytes.Count(d.text[l.to:offset], []byte("\n")) == 1
		if l.class != syntax.Comment || !isAlone || !isDirectlyAbove {
			break
		}
		lines = append(lines, d.commentText(l))
		offset = int(l.from)
	}
	slices.Reverse(lines)
	return lines
}

// commentBehind returns the comment that follows an offset on the same line. It returns "" if there is none.
func (d *document) commentBehind(offset int) string {
	all := d.lexemes()
	for i := d.lexemeFrom(offset); i < len(all) && bytes.IndexByte(d.text[offset:all[i].from], '\n') < 0; i++ {
		if all[i].class == syntax.Comment {
			return d.commentText(all[i])
		}
		if !d.is(all[i], ";") && !d.is(all[i], `"`) {
			break
		}
	}
	return ""
}

// commentText returns a comment without its slashes.
func (d *document) commentText(l lexeme) string {
	return strings.TrimSpace(strings.TrimLeft(d.word(l), "/"))
}
