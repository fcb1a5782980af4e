package editor

import (
	"bytes"
	"iter"
	"slices"

	"tilecheck/prism/syntax"
)

// lexeme is a token or a comment of a text.
type lexeme struct {
	from, to int32
	class    syntax.Class
}

// is reports whether a lexeme is that word or symbol.
func (d *document) is(l lexeme, text string) bool { return string(d.text[l.from:l.to]) == text }

// word is the text of a lexeme.
func (d *document) word(l lexeme) string { return string(d.text[l.from:l.to]) }

// lexemes are the tokens and comments of the text. None goes on in the next line, so that
// those of lines which were there before are known.
func (d *document) lexemes() []lexeme {
	d.scanning.Do(func() {
		text := d.looked()
		if old := d.before.lexemes; old != nil {
			d.scanned = rescanned(old, text)
		} else {
			d.scanned = scan(make([]lexeme, 0, len(text)/2+1), text, 0)
		}
		d.now.lexemes.Store(&found[lexeme]{text, d.scanned})
	})
	return d.scanned
}

// scan appends the lexemes of a text that stands at an offset.
func scan(out []lexeme, text []byte, at int) []lexeme {
	for l := range syntax.Lexemes(text) {
		out = append(out, lexeme{int32(at) + l.Start.Offset, int32(at) + l.Stop.Offset, l.Class})
	}
	return out
}

// rescanned are the lexemes of a text of which only some lines are new.
func rescanned(old *found[lexeme], text []byte) []lexeme {
	same, behind := Common(old.text, text)
	from := bytes.LastIndexByte(text[:same], '\n') + 1
	to := len(text)
	if end := bytes.IndexByte(text[len(text)-behind:], '\n'); end >= 0 {
		to = len(text) - behind + end
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

// Common is how many bytes two texts have in common at the beginning, and then at the end.
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

// words are the lexemes as package lint wants them.
func (d *document) words() iter.Seq2[syntax.Class, []byte] {
	return func(yield func(syntax.Class, []byte) bool) {
		for _, l := range d.lexemes() {
			if (l.class == syntax.Name || l.class == syntax.Comment) && !yield(l.class, d.text[l.from:l.to]) {
				return
			}
		}
	}
}

// lexemeFrom is the index of the first lexeme that ends behind an offset.
func (d *document) lexemeFrom(offset int) int {
	i, _ := slices.BinarySearchFunc(d.lexemes(), offset, func(l lexeme, offset int) int {
		if int(l.to) <= offset {
			return -1
		}
		return 1
	})
	return i
}
