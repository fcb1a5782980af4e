package editor

import (
	"bytes"
	"strings"

	"tilecheck/prism/syntax"
)

// comments returns the comments of a declaration: the block directly above it, and what stands behind it in the same line; for a module or
// reward structure, behind its name. It returns "" if there are none.
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
		inFront := d.text[:0]
		if i > 0 {
			inFront = d.text[all[i-1].to:l.from]
		}
		ownLine := i == 0 || bytes.IndexByte(inFront, '\n') >= 0
		if l.class != syntax.Comment || !ownLine || bytes.Count(d.text[l.to:offset], []byte("\n")) != 1 {
			break
		}
		lines = append([]string{d.commentText(l)}, lines...)
		offset = int(l.from)
	}
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
