package files

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"tilecheck/prism/syntax"
)

// Source is the text of a file, with its name for diagnostics.
type Source struct {
	Name string
	Text []byte

	offset, line int // number of bytes and lines before Text, if Text is a part of a file
}

const (
	// maxErrors is the largest number of diagnostics for a file.
	maxErrors = 10
	// maxLine is the largest length of a line, in bytes. The fields of a line take many times as
	// much memory.
	maxLine = 1 << 20
)

// lines reads the lines of a file and collects diagnostics.
type lines struct {
	source     Source
	nextOffset int     // the offset of the next line in src.Text
	lineNumber int     // the number of the current line, from 1
	lineOffset int     // the offset of the current line
	lineText   []byte  // the current line, without its end
	fields     []field // the fields of the current line, after splitFields
	errs       syntax.ErrorList
}

// field is a word of a line.
type field struct {
	text   []byte
	column int // offset in the line
}

// String returns the text of the field.
func (f field) String() string { return string(f.text) }

// newLines returns a reader of the lines of source.
func newLines(source Source) *lines { return &lines{source: source, lineNumber: source.line} }

// nextLine reads the next line of the file, which may be empty. It returns false at the end of the file, after too many errors, at a line that
// is too long, and for a file of 2 GB or more.
func (lines *lines) nextLine() bool {
	isAtEnd := lines.nextOffset >= len(lines.source.Text)
	isTooLarge := lines.source.offset+len(lines.source.Text) > math.MaxInt32
	if isAtEnd || isTooLarge || len(lines.errs) >= maxErrors {
		return false
	}
	lines.lineNumber++
	lines.lineOffset = lines.nextOffset
	remaining := lines.source.Text[lines.nextOffset:]
	length := bytes.IndexByte(remaining, '\n')
	if length < 0 {
		length = len(remaining)
		lines.errorAt(length, "the last line does not end: the file may be truncated")
	}
	if length > maxLine {
		lines.errorAt(0, "found a line of %d bytes, wanted at most %d", length, maxLine)
		lines.nextOffset = len(lines.source.Text)
		return false
	}
	lines.lineText = bytes.TrimSuffix(remaining[:length], []byte("\r"))
	lines.nextOffset += length + 1
	return true
}

// splitFields splits the current line at spaces and tabs. The next call overwrites the result.
func (lines *lines) splitFields() []field { return lines.splitFieldsFrom(0) }

// splitFieldsFrom splits the current line, from a column on, at spaces and tabs. It returns the words between them with their columns. The
// next call overwrites the result.
func (lines *lines) splitFieldsFrom(column int) []field {
	isBlank := func(char byte) bool { return char == ' ' || char == '\t' }
	lines.fields = lines.fields[:0]
	for position := column; position < len(lines.lineText); {
		if isBlank(lines.lineText[position]) {
			position++
			continue
		}
		start := position
		for position < len(lines.lineText) && !isBlank(lines.lineText[position]) {
			position++
		}
		lines.fields = append(lines.fields, field{lines.lineText[start:position], start})
	}
	return lines.fields
}

// position returns the position of a column of the current line. Columns count from 0.
func (lines *lines) position(column int) syntax.Pos {
	return syntax.Pos{Offset: int32(lines.source.offset + lines.lineOffset + column), Line: int32(lines.lineNumber), Col: int32(column + 1)}
}

// errorAt adds an error at a column of the current line.
func (lines *lines) errorAt(column int, format string, args ...any) {
	lines.errorAtPos(lines.position(column), format, args...)
}

// errorAtPos adds an error at a position, unless there are already maxErrors.
func (lines *lines) errorAtPos(pos syntax.Pos, format string, args ...any) {
	if len(lines.errs) < maxErrors {
		lines.errs.Add(lines.source.Name, pos, format, args...)
	}
}

// errorAtEnd adds an error at the end of the file.
func (lines *lines) errorAtEnd(format string, args ...any) {
	pos := syntax.Pos{Offset: int32(min(lines.source.offset+len(lines.source.Text), math.MaxInt32)), Line: int32(lines.lineNumber + 1), Col: 1}
	lines.errorAtPos(pos, format, args...)
}

// parseIndex parses a natural number below limit. For any other text it records an error, and ok is false. noun names the number in the
// error.
func (lines *lines) parseIndex(word field, noun string, limit int) (index int, ok bool) {
	index, ok = lines.parseCount(word, noun)
	if !ok {
		return 0, false
	}
	if index >= limit {
		lines.errorAt(word.column, "found %s %d, wanted one below %d", noun, index, limit)
		return 0, false
	}
	return index, true
}

// parseCount parses a natural number of at most 31 bits. For any other text it records an error, and ok is false. noun names the number in
// the error.
func (lines *lines) parseCount(word field, noun string) (value int, ok bool) {
	const maxBeforeDigit = (math.MaxInt32 - 9) / 10 // a number that fits after one more digit is appended
	value, ok = 0, len(word.text) > 0
	for _, char := range word.text {
		isDigit := char >= '0' && char <= '9'
		if !isDigit || value > maxBeforeDigit {
			ok = false
			break
		}
		value = 10*value + int(char-'0')
	}
	if !ok {
		lines.errorAt(word.column, "found %s, wanted a %s: a whole number from 0 up", quote(word.text), noun)
		return 0, false
	}
	return value, true
}

// isWord reports whether an action can have this name. Keywords are allowed, because Storm's
// keywords differ from PRISM's.
func isWord(name string) bool { return syntax.IsIdent(name) || syntax.IsKeyword(name) }

// quote quotes a text for an error message. It shortens a long text.
func quote(text []byte) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40])) + "..."
	}
	return strconv.Quote(string(text))
}

// The errors of parseNumber describe the expected number.
var (
	errNumber = errors.New("a finite number such as 0.25, 1e-3 or 1/3")
	errLarge  = errors.New("one that is not too large for a float64")
	errSmall  = errors.New("one that is not too small for a float64")
)

// maxDigits is the largest length of a number in bytes.
const maxDigits = 4096

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// parseValue parses a finite decimal number, or a fraction of two integers. If exact is set, the result has a
// fraction. Error messages name the number with noun.
func (lines *lines) parseValue(word field, noun string, exact bool) (number, bool) {
	value, err := parseNumber(word.text, exact)
	if err != nil {
		lines.errorAt(word.column, "found %s, wanted a %s, %v", quote(word.text), noun, err)
		return value, false
	}
	return value, true
}

// parseNumber parses a finite decimal number, or a fraction such as 1/3. If exact is set, the result also has the number as a fraction. The
// error describes what a correct number is, such as "a finite number such as 0.25".
func parseNumber(text []byte, exact bool) (number, error) {
	if len(text) > maxDigits {
		return number{}, fmt.Errorf("a number of at most %d characters", maxDigits)
	}
	if numerator, denominator, hasSlash := bytes.Cut(text, []byte("/")); hasSlash {
		isNatural := len(numerator) > 0 && onlyDigits(numerator)
		if !isNatural || !onlyDigits(denominator) {
			return number{}, errNumber
		}
		return parseFraction(text, exact)
	}
	return parseDecimal(text, exact)
}

// parseDecimal parses a decimal number. Its characters must be digits or one of .eE+-, which excludes texts such as "Inf" and "0x1". If
// exact is set, the result also has the number as a fraction.
func parseDecimal(text []byte, exact bool) (number, error) {
	if len(bytes.Trim(text, "0123456789.eE+-")) > 0 {
		return number{}, errNumber
	}
	float, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && math.IsInf(float, 0):
		return number{}, errLarge
	case err != nil:
		return number{}, errNumber
	case float == 0 && hasNonzeroDigit(text):
		return number{}, errSmall
	}
	value := number{float: float}
	if exact {
		fraction, ok := new(big.Rat).SetString(string(text))
		if !ok {
			return number{}, errNumber
		}
		value.fraction = fraction
	}
	return value, nil
}

// hasNonzeroDigit reports whether the mantissa of a decimal number has a nonzero digit.
func hasNonzeroDigit(text []byte) bool {
	for _, char := range text {
		if char == 'e' || char == 'E' {
			return false
		}
		if char >= '1' && char <= '9' {
			return true
		}
	}
	return false
}

// onlyDigits reports whether all characters of a text are decimal digits.
func onlyDigits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(char rune) bool { return char < '0' || char > '9' })
}

// parseFraction parses a fraction of two natural numbers, such as 1/3. Its value must be in the range of a float64. If exact is set, the
// result also has the fraction.
func parseFraction(text []byte, exact bool) (number, error) {
	fraction, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return number{}, errNumber
	}
	value := number{}
	value.float, _ = fraction.Float64()
	switch {
	case math.IsInf(value.float, 0):
		return value, errLarge
	case value.float == 0 && fraction.Sign() != 0:
		return value, errSmall
	}
	if exact {
		value.fraction = fraction
	}
	return value, nil
}
