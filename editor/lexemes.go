package editor

import (
	"bytes"
	"iter"
	"slices"

	"tilecheck/prism/syntax"
)

// lexeme is a token or comment of a text.
type lexeme struct {
	from, to int32
	class    syntax.Class
}

// is reports whether a lexeme has the given text.
func (d *document) is(l lexeme, text string) bool { return string(d.text[l.from:l.to]) == text }

// word returns the text of a lexeme.
func (d *document) word(l lexeme) string { return string(d.text[l.from:l.to]) }

// lexemes returns the tokens and comments of the text. No lexeme extends over a line break, so the
// lexemes of unchanged lines are reused.
func (d *document) lexemes() []lexeme {
	d.scanning.Do(func() {
		text := d.limitedText()
		if old := d.before.lexemes; old != nil {
			d.scanned = rescan(old, text)
		} else {
			d.scanned = scan(make([]lexeme, 0, len(text)/2+1), text, 0)
		}
		d.now.lexemes.Store(&found[lexeme]{text, d.scanned})
	})
	return d.scanned
}

// scan appends the lexemes of a text that begins at an offset.
func scan(out []lexeme, text []byte, at int) []lexeme {
	for l := range syntax.Lexemes(text) {
		out = append(out, lexeme{int32(at) + l.Start.Offset, int32(at) + l.Stop.Offset, l.Class})
	}
	return out
}

// rescan returns the lexemes of a text in which only some lines have changed.
func rescan(old *found[lexeme], text []byte) []lexeme {
	front, back := Common(old.text, text)
	from := bytes.LastIndexByte(text[:front], '\n') + 1
	to := len(text)
	if end := bytes.IndexByte(text[len(text)-back:], '\n'); end >= 0 {
		to = len(text) - back + end
	}
	shift := len(text) - len(old.text)
	first, _ := slices.BinarySearchFunc(old.list, from, func(l lexeme, at int) int { return int(l.from) - at })
	last, _ := slices.BinarySearchFunc(old.list, to-shift, func(l lexeme, at int) int { return int(l.from) - at })
	out := append(make([]lexeme, 0, len(old.list)+16), old.list[:first]...)
	out = scan(out, text[from:to], from)
	n := len(out)
	out = append(out, old.list[last:]...)
	for i := range out[n:] {
		out[n+i].from += int32(shift)
		out[n+i].to += int32(shift)
	}
	return out
}

// Common returns the lengths of the longest common prefix and, after it, common suffix of two
// texts.
func Common(a, b []byte) (front, back int) {
	n := min(len(a), len(b))
	for front < n && a[front] == b[front] {
		front++
	}
	for back < n-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front, back
}

// words returns the names and comments for package lint.
func (d *document) words() iter.Seq2[syntax.Class, []byte] {
	return func(yield func(syntax.Class, []byte) bool) {
		for _, l := range d.lexemes() {
			if (l.class == syntax.Name || l.class == syntax.Comment) && !yield(l.class, d.text[l.from:l.to]) {
				return
			}
		}
	}
}

// lexemeFrom returns the index of the first lexeme that ends after an offset.
func (d *document) lexemeFrom(offset int) int {
	i, _ := slices.BinarySearchFunc(d.lexemes(), offset, func(l lexeme, offset int) int {
		if int(l.to) <= offset {
			return -1
		}
		return 1
	})
	return i
}
