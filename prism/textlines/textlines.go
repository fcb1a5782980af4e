// Package textlines reads files line by line and records errors with their positions. The readers of PRISM's and Storm's files of states use it.
package textlines

import (
	"bytes"
	"math"
	"strconv"

	"tilecheck/prism/syntax"
)

// Source is the text of a file, with its name for diagnostics.
type Source struct {
	Name         string
	Text         []byte
	Offset, Line int // number of bytes and lines before Text, if Text is a part of a file
}

const (
	// MaxErrors is the largest number of errors that are reported for a file.
	MaxErrors = 10
	// maxLine is the largest length of a line, in bytes. Split into fields, a line takes many times as much memory.
	maxLine = 1 << 20
)

// Reader reads the lines of a file and collects diagnostics.
type Reader struct {
	Source     Source
	LineText   []byte  // the current line, without its end
	Fields     []Field // the fields of the current line, after SplitFields
	Errs       syntax.ErrorList
	nextOffset int // the offset of the next line in Source.Text
	lineNumber int // the number of the current line, from 1
	lineOffset int // the offset of the current line
}

// Field is a word of a line.
type Field struct {
	Text   []byte
	Column int // offset in the line
}

// String returns the text of the field.
func (field Field) String() string { return string(field.Text) }

// NewReader returns a reader of the lines of source.
func NewReader(source Source) *Reader { return &Reader{Source: source, lineNumber: source.Line} }

// NextLine reads the next line of the file, which may be empty. It returns false at the end of the file, after too many errors, at a line that
// is too long, and for a file of 2 GB or more.
func (reader *Reader) NextLine() bool {
	isAtEnd := reader.nextOffset >= len(reader.Source.Text)
	isTooLarge := reader.Source.Offset+len(reader.Source.Text) > math.MaxInt32
	if isAtEnd || isTooLarge || len(reader.Errs) >= MaxErrors {
		return false
	}
	reader.lineNumber++
	reader.lineOffset = reader.nextOffset
	remaining := reader.Source.Text[reader.nextOffset:]
	length := bytes.IndexByte(remaining, '\n')
	if length < 0 {
		length = len(remaining)
		reader.ErrorAt(length, "the last line does not end: the file may be truncated")
	}
	if length > maxLine {
		reader.ErrorAt(0, "found a line of %d bytes, wanted at most %d", length, maxLine)
		reader.nextOffset = len(reader.Source.Text)
		return false
	}
	reader.LineText = bytes.TrimSuffix(remaining[:length], []byte("\r"))
	reader.nextOffset += length + 1
	return true
}

// SplitFields splits the current line at spaces and tabs. The next call overwrites the result.
func (reader *Reader) SplitFields() []Field { return reader.SplitFieldsFrom(0) }

// SplitFieldsFrom splits the current line, from a column on, at spaces and tabs. It returns the words between them with their columns. The
// next call overwrites the result.
func (reader *Reader) SplitFieldsFrom(column int) []Field {
	isBlank := func(char byte) bool { return char == ' ' || char == '\t' }
	reader.Fields = reader.Fields[:0]
	for position := column; position < len(reader.LineText); {
		if isBlank(reader.LineText[position]) {
			position++
			continue
		}
		start := position
		for position < len(reader.LineText) && !isBlank(reader.LineText[position]) {
			position++
		}
		reader.Fields = append(reader.Fields, Field{reader.LineText[start:position], start})
	}
	return reader.Fields
}

// Position returns the position of a column of the current line. Columns count from 0.
func (reader *Reader) Position(column int) syntax.Pos {
	return syntax.Pos{Offset: int32(reader.Source.Offset + reader.lineOffset + column), Line: int32(reader.lineNumber), Col: int32(column + 1)}
}

// ErrorAt adds an error at a column of the current line.
func (reader *Reader) ErrorAt(column int, format string, args ...any) {
	reader.ErrorAtPos(reader.Position(column), format, args...)
}

// ErrorAtPos adds an error at a position, unless there are already MaxErrors.
func (reader *Reader) ErrorAtPos(pos syntax.Pos, format string, args ...any) {
	if len(reader.Errs) < MaxErrors {
		reader.Errs.Add(reader.Source.Name, pos, format, args...)
	}
}

// ErrorAtEnd adds an error at the end of the file.
func (reader *Reader) ErrorAtEnd(format string, args ...any) {
	pos := syntax.Pos{Offset: int32(min(reader.Source.Offset+len(reader.Source.Text), math.MaxInt32)), Line: int32(reader.lineNumber + 1), Col: 1}
	reader.ErrorAtPos(pos, format, args...)
}

// ParseIndex parses a natural number below limit. For any other text it records an error, and ok is false. noun names the number in the
// error.
func (reader *Reader) ParseIndex(word Field, noun string, limit int) (index int, ok bool) {
	index, ok = reader.ParseCount(word, noun)
	if !ok {
		return 0, false
	}
	if index >= limit {
		reader.ErrorAt(word.Column, "found %s %d, wanted one below %d", noun, index, limit)
		return 0, false
	}
	return index, true
}

// ParseCount parses a natural number of at most 31 bits. For any other text it records an error, and ok is false. noun names the number in
// the error.
func (reader *Reader) ParseCount(word Field, noun string) (value int, ok bool) {
	const maxBeforeDigit = (math.MaxInt32 - 9) / 10 // a number that fits after one more digit is appended
	value, ok = 0, len(word.Text) > 0
	for _, char := range word.Text {
		isDigit := char >= '0' && char <= '9'
		if !isDigit || value > maxBeforeDigit {
			ok = false
			break
		}
		value = 10*value + int(char-'0')
	}
	if !ok {
		reader.ErrorAt(word.Column, "found %s, wanted a %s: a whole number from 0 up", Quote(word.Text), noun)
		return 0, false
	}
	return value, true
}

// Quote quotes a text for an error message. It shortens a long text.
func Quote(text []byte) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40])) + "..."
	}
	return strconv.Quote(string(text))
}
