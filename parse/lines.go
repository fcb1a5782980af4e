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

// write calls emit for every complete line. The line is valid only during the call.
func (l *lines) write(data []byte, emit func(line []byte, cut bool)) {
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
