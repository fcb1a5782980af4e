package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// lines splits a stream of bytes into lines. Of a line longer than max bytes it drops the rest, and reports the line as cut.
type lines struct {
	max     int
	pending []byte // the current line
	dropped bool   // its end was dropped
}

// write calls emit for every line that ends in b. The line is only valid during the call.
func (l *lines) write(b []byte, emit func(line []byte, cut bool)) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.add(b)
			return
		}
		l.add(b[:i])
		b = b[i+1:]
		line := bytes.TrimSuffix(l.pending, []byte{'\r'})
		emit(line, l.dropped)
		l.pending, l.dropped = l.pending[:0], false
	}
}

func (l *lines) add(b []byte) {
	if room := l.max - len(l.pending); len(b) > room {
		b, l.dropped = b[:room], true
	}
	l.pending = append(l.pending, b...)
}

// clean returns the bytes as a valid string.
func clean(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// clip returns at most n bytes of s, with an ellipsis if it was shortened.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
