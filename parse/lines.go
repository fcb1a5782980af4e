package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// lines splits a stream of bytes into lines. It cuts a line after max bytes.
type lines struct {
	max     int
	pending []byte // the current line
	dropped bool   // its end was dropped
}

// write adds bytes of the stream and calls emit for every line that they complete. isCut says that the end of the line was dropped. The line is valid
// only during the call.
func (l *lines) write(data []byte, emit func(line []byte, isCut bool)) {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			l.add(data)
			return
		}
		l.add(data[:end])
		data = data[end+1:]
		line := bytes.TrimSuffix(l.pending, []byte{'\r'})
		emit(line, l.dropped)
		l.pending, l.dropped = l.pending[:0], false
	}
}

// add adds bytes to the current line, up to the maximal length.
func (l *lines) add(data []byte) {
	if remaining := l.max - len(l.pending); len(data) > remaining {
		data, l.dropped = data[:remaining], true
	}
	l.pending = append(l.pending, data...)
}

// clean returns bytes as valid UTF-8: U+FFFD replaces invalid bytes.
func clean(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// clip returns at most the first limit bytes of a text, with an ellipsis if it is longer.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
