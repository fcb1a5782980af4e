package editor

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Lines knows where the lines of a text start. Lines and columns count from 0, as in editors. A
// line ends with LF, CR LF or CR.
type Lines struct {
	text   []byte
	starts []int
}

// NewLines returns the lines of a text.
func NewLines(text []byte) *Lines {
	l := &Lines{text: text, starts: []int{0}}
	for i := 0; i < len(text); {
		n := bytes.IndexAny(text[i:], "\r\n")
		if n < 0 {
			break
		}
		i += n + 1
		if text[i-1] == '\r' && i < len(text) && text[i] == '\n' {
			i++
		}
		l.starts = append(l.starts, i)
	}
	return l
}

// Position returns the line of an offset and its column in bytes.
func (l *Lines) Position(offset int) (line, col int) {
	offset = min(max(offset, 0), len(l.text))
	line, found := slices.BinarySearch(l.starts, offset)
	if !found {
		line--
	}
	return line, offset - l.starts[line]
}

// UTF16 returns the line of an offset and its column in units of UTF-16.
func (l *Lines) UTF16(offset int) (line, col int) {
	line, n := l.Position(offset)
	return line, UTF16(l.text[l.starts[line] : l.starts[line]+n])
}

// UTF16 returns the length of a text in units of UTF-16.
func UTF16(text []byte) (n int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Offset returns the offset of a line and a column in bytes. A column after the end of the line
// means its end; a line after the end of the text means the end of the text.
func (l *Lines) Offset(line, col int) int {
	from, to := l.line(line)
	return min(from+max(col, 0), to)
}

// FromUTF16 is Offset for a column in units of UTF-16.
func (l *Lines) FromUTF16(line, col int) int {
	from, to := l.line(line)
	for from < to && col > 0 {
		r, size := utf8.DecodeRune(l.text[from:to])
		from += size
		col--
		if r > 0xffff {
			col--
		}
	}
	return from
}

// line returns the start and the end of a line, without its line break.
func (l *Lines) line(line int) (from, to int) {
	switch {
	case line < 0:
		return 0, 0
	case line >= len(l.starts):
		return len(l.text), len(l.text)
	}
	from, to = l.starts[line], len(l.text)
	if line+1 < len(l.starts) {
		to = l.starts[line+1]
	}
	for to > from && (l.text[to-1] == '\n' || l.text[to-1] == '\r') {
		to--
	}
	return from, to
}

// Count returns the number of lines.
func (l *Lines) Count() int { return len(l.starts) }
