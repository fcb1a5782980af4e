package editor

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Lines converts between the offsets of a text and its lines and columns, which count from 0. A line ends with LF, CR LF or CR.
type Lines struct {
	text   []byte
	starts []int // the offset of each line
}

// NewLines returns the lines of a text.
func NewLines(text []byte) *Lines {
	lines := &Lines{text: text, starts: []int{0}}
	for start := 0; start < len(text); {
		length := bytes.IndexAny(text[start:], "\r\n")
		if length < 0 {
			break
		}
		start += length + 1
		if text[start-1] == '\r' && start < len(text) && text[start] == '\n' {
			start++
		}
		lines.starts = append(lines.starts, start)
	}
	return lines
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
	line, numBytes := l.Position(offset)
	start := l.starts[line]
	return line, UTF16(l.text[start : start+numBytes])
}

// UTF16 returns the length of a text in units of UTF-16.
func UTF16(text []byte) (units int) {
	for len(text) > 0 {
		character, size := utf8.DecodeRune(text)
		text = text[size:]
		units++
		if character > 0xffff {
			units++
		}
	}
	return units
}

// Offset returns the offset of a line and a column in bytes. A column after the end of the line
// means its end; a line after the end of the text means the end of the text.
func (l *Lines) Offset(line, col int) int {
	from, to := l.line(line)
	return min(from+max(col, 0), to)
}

// FromUTF16 returns the offset of a line and a column in units of UTF-16. It treats a position outside the text as Offset does.
func (l *Lines) FromUTF16(line, col int) int {
	from, to := l.line(line)
	for from < to && col > 0 {
		character, size := utf8.DecodeRune(l.text[from:to])
		from += size
		col--
		if character > 0xffff {
			col--
		}
	}
	return from
}

// line returns the offsets of the start and the end of a line, without its line break. A line outside the text is empty.
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
