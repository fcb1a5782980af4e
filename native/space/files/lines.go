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

	offset, line int // bytes and lines before Text, if it is a part of a file
}

const (
	// maxErrors is the largest number of diagnostics for a file.
	maxErrors = 10
	// maxLine is the largest length of a line, in bytes: its fields take many times as much memory.
	maxLine = 1 << 20
)

// lines reads the lines of a file and collects diagnostics.
type lines struct {
	src    Source
	offset int // of the next line
	number int // of the current line
	start  int // its offset
	text   []byte
	fields []field
	errs   syntax.ErrorList
}

// field is a word of a line.
type field struct {
	text []byte
	at   int // offset in the line
}

func (f field) String() string { return string(f.text) }

func newLines(src Source) *lines { return &lines{src: src, number: src.line} }

// next reads the next line, empty or not. It returns false at the end of the file and after too
// many errors.
func (l *lines) next() bool {
	if l.offset >= len(l.src.Text) || len(l.errs) >= maxErrors || l.src.offset+len(l.src.Text) > math.MaxInt32 {
		return false
	}
	l.number++
	l.start = l.offset
	rest := l.src.Text[l.offset:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 {
		n = len(rest)
		l.fail(n, "the last line does not end: the file may be truncated")
	}
	if n > maxLine {
		l.fail(0, "found a line of %d bytes, wanted at most %d", n, maxLine)
		l.offset = len(l.src.Text)
		return false
	}
	l.text = bytes.TrimSuffix(rest[:n], []byte("\r"))
	l.offset += n + 1
	return true
}

// split splits the line into fields.
func (l *lines) split() []field {
	l.fields = l.fields[:0]
	begin := -1
	for i, c := range l.text {
		blank := c == ' ' || c == '\t'
		switch {
		case blank && begin >= 0:
			l.fields = append(l.fields, field{l.text[begin:i], begin})
			begin = -1
		case !blank && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		l.fields = append(l.fields, field{l.text[begin:], begin})
	}
	return l.fields
}

// pos returns the position of a column of the current line.
func (l *lines) pos(at int) syntax.Pos {
	return syntax.Pos{Offset: int32(l.src.offset + l.start + at), Line: int32(l.number), Col: int32(at + 1)}
}

// fail adds a diagnostic at a column of the current line.
func (l *lines) fail(at int, format string, args ...any) {
	l.failAt(l.pos(at), format, args...)
}

func (l *lines) failAt(pos syntax.Pos, format string, args ...any) {
	if len(l.errs) < maxErrors {
		l.errs.Add(l.src.Name, pos, format, args...)
	}
}

// failEnd adds a diagnostic about the end of the file.
func (l *lines) failEnd(format string, args ...any) {
	pos := syntax.Pos{Offset: int32(min(l.src.offset+len(l.src.Text), math.MaxInt32)), Line: int32(l.number + 1), Col: 1}
	l.failAt(pos, format, args...)
}

// index reads a number below limit; what names it in the diagnostic.
func (l *lines) index(f field, what string, limit int) (int, bool) {
	i, ok := l.count(f, what)
	if ok && i >= limit {
		l.fail(f.at, "found %s %d, wanted one below %d", what, i, limit)
		return 0, false
	}
	return i, ok
}

// count reads a natural number that fits 31 bits.
func (l *lines) count(f field, what string) (int, bool) {
	n, ok := 0, len(f.text) > 0
	for _, c := range f.text {
		ok = ok && c >= '0' && c <= '9' && n <= (math.MaxInt32-9)/10
		n = 10*n + int(c-'0')
	}
	if !ok {
		l.fail(f.at, "found %s, wanted a %s: a whole number from 0 up", quote(f.text), what)
		return 0, false
	}
	return n, true
}

// isWord reports whether an action can have this name: an identifier or a keyword, since Storm's
// keywords differ from PRISM's.
func isWord(name string) bool { return syntax.IsIdent(name) || syntax.IsKeyword(name) }

// quote quotes a text for a diagnostic and shortens it.
func quote(text []byte) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40])) + "..."
	}
	return strconv.Quote(string(text))
}

// The errors of parseNumber say what is expected.
var (
	errNumber = errors.New("a finite number such as 0.25, 1e-3 or 1/3")
	errLarge  = errors.New("one that is not too large for a double")
	errSmall  = errors.New("one that is not too small for a double")
)

// maxDigits is the largest length of a number in bytes.
const maxDigits = 4096

// value reads a finite decimal number, or a fraction of two integers. The result has a fraction
// only if exact is set.
func (l *lines) value(f field, what string, exact bool) (number, bool) {
	x, err := parseNumber(f.text, exact)
	if err != nil {
		l.fail(f.at, "found %s, wanted a %s, %v", quote(f.text), what, err)
		return x, false
	}
	return x, true
}

func parseNumber(text []byte, exact bool) (number, error) {
	if len(text) > maxDigits {
		return number{}, fmt.Errorf("a number of at most %d characters", maxDigits)
	}
	digits, slash := 0, -1
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '/' && slash < 0 && digits == i && digits > 0:
			slash = i
		case slash < 0 && (c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'):
		default:
			return number{}, errNumber
		}
	}
	if slash >= 0 {
		return parseFraction(text, exact)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return number{}, errLarge
	case err != nil:
		return number{}, errNumber
	case f == 0 && hasDigit(text):
		return number{}, errSmall
	}
	x := number{f: f}
	if exact {
		r, ok := new(big.Rat).SetString(string(text))
		if !ok {
			return number{}, errNumber
		}
		x.r = r
	}
	return x, nil
}

// hasDigit reports whether the mantissa of a decimal number has a nonzero digit.
func hasDigit(text []byte) bool {
	for _, c := range text {
		if c == 'e' || c == 'E' {
			return false
		}
		if c >= '1' && c <= '9' {
			return true
		}
	}
	return false
}

func parseFraction(text []byte, exact bool) (number, error) {
	r, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return number{}, errNumber
	}
	x := number{}
	x.f, _ = r.Float64()
	switch {
	case math.IsInf(x.f, 0):
		return x, errLarge
	case x.f == 0 && r.Sign() != 0:
		return x, errSmall
	}
	if exact {
		x.r = r
	}
	return x, nil
}
