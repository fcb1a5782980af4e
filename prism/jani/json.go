package jani

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"tilecheck/prism/syntax"
)

// maxDepth is the largest nesting depth of values. It limits the stack of recursive functions.
const maxDepth = 20_000

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is a JSON value with its position. A number keeps its digits: 0.1 is 1/10.
type value struct {
	syntax.Span
	kind    kind
	text    string // of a string, without escapes, or of a number, as written
	yes     bool
	elems   []*value
	members []member
}

// member is one `"key": value` of an object.
type member struct {
	key   string
	at    syntax.Pos
	value *value
}

// get returns the value of a key, nil where there is none.
func (v *value) get(key string) *value {
	for i := range v.members {
		if v.members[i].key == key {
			return v.members[i].value
		}
	}
	return nil
}

// isText reports whether a value is the string s.
func (v *value) isText(s string) bool { return v != nil && v.kind == text && v.text == s }

// describe describes a value for an error message.
func (v *value) describe() string {
	switch v.kind {
	case boolean:
		return strconv.FormatBool(v.yes)
	case number:
		return "the number " + short(v.text)
	case text:
		return strconv.Quote(short(v.text))
	}
	return v.kind.String()
}

// short shortens a text.
func short(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// parser parses JSON (RFC 8259). It stops at the first error.
type parser struct {
	file  string
	src   []byte
	off   int
	line  int32
	start int // offset of the line
	depth int
}

// parseJSON parses a text with one value.
func parseJSON(file string, src []byte) (v *value, err error) {
	p := &parser{file: file, src: src, line: 1}
	defer func() {
		if e, ok := recover().(*syntax.Error); ok {
			v, err = nil, syntax.ErrorList{e}
		}
	}()
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		p.off, p.start = len(byteOrderMark), len(byteOrderMark)
	}
	p.space()
	v = p.value()
	if p.space(); p.off < len(p.src) {
		p.fail("found %s behind the end of the value, want nothing", p.found())
	}
	return v, nil
}

const byteOrderMark = "\ufeff"

func (p *parser) pos() syntax.Pos {
	return syntax.Pos{Offset: int32(p.off), Line: p.line, Col: int32(p.off-p.start) + 1}
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.pos(), format, args...) }

func (p *parser) failAt(at syntax.Pos, format string, args ...any) {
	panic(&syntax.Error{File: p.file, Pos: at, Msg: fmt.Sprintf(format, args...)})
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.off < len(p.src) {
		return p.src[p.off]
	}
	return 0
}

func (p *parser) found() string {
	if p.off >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.src[p.off:])
	return strconv.QuoteRune(r)
}

func (p *parser) space() {
	for p.off < len(p.src) {
		switch p.src[p.off] {
		case '\n':
			p.line++
			p.start = p.off + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		p.off++
	}
}

// want reads one byte of punctuation.
func (p *parser) want(c byte) {
	if p.peek() != c {
		p.fail("found %s, want %q", p.found(), c)
	}
	p.off++
}

func (p *parser) value() *value {
	v := &value{Span: syntax.Span{Start: p.pos()}}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if p.depth++; p.depth > maxDepth {
			p.fail("values are nested more than %d deep, want fewer", maxDepth)
		}
		if c == '{' {
			p.object(v)
		} else {
			p.array(v)
		}
		p.depth--
	case c == '"':
		v.kind, v.text = text, p.text()
	case c == '-' || '0' <= c && c <= '9':
		v.kind, v.text = number, p.number()
	default:
		p.word(v)
	}
	v.Stop = p.pos()
	return v
}

func (p *parser) object(v *value) {
	v.kind = object
	p.off++
	p.space()
	if p.peek() == '}' {
		p.off++
		return
	}
	var seen map[string]bool // of objects with many members
	for {
		m := member{at: p.pos()}
		if p.peek() != '"' {
			p.fail("found %s, want a key in quotes", p.found())
		}
		m.key = p.text()
		if repeats(v, &seen, m.key) {
			p.failAt(m.at, "the key %q is there twice, want it once", short(m.key))
		}
		p.space()
		p.want(':')
		p.space()
		m.value = p.value()
		v.members = append(v.members, m)
		if p.next('}') {
			return
		}
	}
}

// repeats reports whether an object has a key already.
func repeats(v *value, seen *map[string]bool, key string) bool {
	const few = 16
	if len(v.members) < few {
		return v.get(key) != nil
	}
	if *seen == nil {
		*seen = make(map[string]bool)
		for _, m := range v.members {
			(*seen)[m.key] = true
		}
	}
	was := (*seen)[key]
	(*seen)[key] = true
	return was
}

// next reads a comma, or the end of an object or array.
func (p *parser) next(end byte) (done bool) {
	p.space()
	switch p.peek() {
	case ',':
		p.off++
		p.space()
		return false
	case end:
		p.off++
		return true
	}
	p.fail("found %s, want ',' or %q", p.found(), end)
	return true
}

func (p *parser) array(v *value) {
	v.kind = array
	p.off++
	p.space()
	if p.peek() == ']' {
		p.off++
		return
	}
	for {
		v.elems = append(v.elems, p.value())
		if p.next(']') {
			return
		}
	}
}

func (p *parser) word(v *value) {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p.src[p.off:], []byte(w)) {
			p.off += len(w)
			if w != "null" {
				v.kind, v.yes = boolean, w == "true"
			}
			return
		}
	}
	p.fail("found %s, want a value", p.found())
}

func (p *parser) number() string {
	start := p.off
	if p.peek() == '-' {
		p.off++
	}
	if p.peek() == '0' {
		p.off++
	} else {
		p.digits()
	}
	if p.peek() == '.' {
		p.off++
		p.digits()
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.off++
		if c := p.peek(); c == '+' || c == '-' {
			p.off++
		}
		p.digits()
	}
	if c := p.peek(); '0' <= c && c <= '9' {
		p.fail("a number starts with 0, want no digit behind it")
	}
	return string(p.src[start:p.off])
}

func (p *parser) digits() {
	start := p.off
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.off++
	}
	if p.off == start {
		p.fail("found %s, want a digit", p.found())
	}
}

// text reads a string.
func (p *parser) text() string {
	p.off++
	start := p.off
	var out []byte // nil until the first escape sequence
	for {
		switch c := p.peek(); {
		case p.off >= len(p.src) || c < ' ':
			p.fail("found %s in a string, want '\"'", p.found())
		case c == '"':
			s := p.src[start:p.off]
			p.off++
			return string(append(out, s...))
		case c == '\\':
			out = p.escape(append(out, p.src[start:p.off]...))
			start = p.off
		case c < utf8.RuneSelf:
			p.off++
		default:
			r, n := utf8.DecodeRune(p.src[p.off:])
			if r == utf8.RuneError && n == 1 {
				p.fail("a string is not UTF-8")
			}
			p.off += n
		}
	}
}

func (p *parser) escape(out []byte) []byte {
	p.off++
	c := p.peek()
	p.off++
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		r := p.hex()
		if utf16.IsSurrogate(r) && bytes.HasPrefix(p.src[p.off:], []byte(`\u`)) {
			p.off += 2
			r = utf16.DecodeRune(r, p.hex())
		}
		if utf16.IsSurrogate(r) || r == utf8.RuneError {
			p.fail("half a character in a string, want a pair of surrogates")
		}
		return utf8.AppendRune(out, r)
	}
	p.off--
	p.fail("found %s behind '\\' in a string, want one of \" \\ / b f n r t u", p.found())
	return nil
}

func (p *parser) hex() rune {
	if len(p.src)-p.off >= 4 {
		if n, err := strconv.ParseUint(string(p.src[p.off:p.off+4]), 16, 16); err == nil {
			p.off += 4
			return rune(n)
		}
	}
	p.fail("want four hexadecimal digits")
	return 0
}
