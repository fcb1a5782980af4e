package editor

import (
	"bytes"
	"iter"
	"slices"

	"tilecheck/prism/syntax"
)

// lexeme is a token or comment of a text.
type lexeme struct {
	from, to int32 // offsets
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
		if previous := d.before.lexemes; previous != nil {
			d.scanned = rescan(previous, text)
		} else {
			d.scanned = scan(make([]lexeme, 0, len(text)/2+1), text, 0)
		}
		d.now.lexemes.Store(&cached[lexeme]{text, d.scanned})
	})
	return d.scanned
}

// scan appends the lexemes of a part of a text to a list. offset is the offset of the part in the whole text.
func scan(list []lexeme, part []byte, offset int) []lexeme {
	for l := range syntax.Lexemes(part) {
		list = append(list, lexeme{int32(offset) + l.Start.Offset, int32(offset) + l.Stop.Offset, l.Class})
	}
	return list
}

// rescan returns the lexemes of a text that was changed. It scans only the lines from the first to the last difference; the other lexemes are
// those of the old text, with new offsets.
func rescan(old *cached[lexeme], text []byte) []lexeme {
	prefix, suffix := Common(old.text, text)
	from := bytes.LastIndexByte(text[:prefix], '\n') + 1
	to := len(text)
	if end := bytes.IndexByte(text[len(text)-suffix:], '\n'); end >= 0 {
		to = len(text) - suffix + end
	}
	shift := len(text) - len(old.text)
	numBefore, firstAfter := indexOfLexeme(old.parts, from), indexOfLexeme(old.parts, to-shift)
	list := append(make([]lexeme, 0, len(old.parts)+16), old.parts[:numBefore]...)
	list = scan(list, text[from:to], from)
	firstShifted := len(list)
	list = append(list, old.parts[firstAfter:]...)
	for i := range list[firstShifted:] {
		list[firstShifted+i].from += int32(shift)
		list[firstShifted+i].to += int32(shift)
	}
	return list
}

// indexOfLexeme returns the index of the first lexeme that begins at or after an offset.
func indexOfLexeme(list []lexeme, offset int) int {
	i, _ := slices.BinarySearchFunc(list, offset, func(l lexeme, offset int) int { return int(l.from) - offset })
	return i
}

// Common returns the lengths of the longest common prefix of two texts and of the longest common suffix of what follows it.
func Common(first, second []byte) (prefix, suffix int) {
	const block = 256 // bytes.Equal compares many bytes at once
	shorter := min(len(first), len(second))
	for prefix+block <= shorter && bytes.Equal(first[prefix:prefix+block], second[prefix:prefix+block]) {
		prefix += block
	}
	for prefix < shorter && first[prefix] == second[prefix] {
		prefix++
	}
	firstEnd, secondEnd := len(first), len(second)
	for suffix+block <= shorter-prefix && bytes.Equal(first[firstEnd-suffix-block:firstEnd-suffix], second[secondEnd-suffix-block:secondEnd-suffix]) {
		suffix += block
	}
	for suffix < shorter-prefix && first[firstEnd-1-suffix] == second[secondEnd-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// words yields the names and comments of the text, with their classes, for package lint.
func (d *document) words() iter.Seq2[syntax.Class, []byte] {
	return func(yield func(syntax.Class, []byte) bool) {
		for _, current := range d.lexemes() {
			if (current.class == syntax.Name || current.class == syntax.Comment) && !yield(current.class, d.text[current.from:current.to]) {
				return
			}
		}
	}
}

// lexemeFrom returns the index of the first lexeme that ends after an offset.
func (d *document) lexemeFrom(offset int) int {
	i, _ := slices.BinarySearchFunc(d.lexemes(), offset, func(current lexeme, offset int) int {
		if int(current.to) <= offset {
			return -1
		}
		return 1
	})
	return i
}
