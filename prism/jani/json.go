package jani

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"tilecheck/prism/syntax"
)

// maxDepth is the largest nesting depth of values. It limits the stack of recursive functions.
const maxDepth = 20_000

type jsonKind uint8

const (
	null jsonKind = iota
	boolean
	number
	text
	array
	object
)

// String describes the kind for an error message.
func (k jsonKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// jsonValue is a JSON value with its position. A number keeps its digits, so that 0.1 is exactly 1/10.
type jsonValue struct {
	syntax.Span
	kind     jsonKind
	text     string // of a string, without escapes, or of a number, as written
	isTrue   bool
	elements []*jsonValue
	members  []member
}

// member is one `"key": value` of an object.
type member struct {
	key   string
	pos   syntax.Pos
	value *jsonValue
}

// get returns the value of a key of an object, or nil if the key is missing.
func (v *jsonValue) get(key string) *jsonValue {
	for i := range v.members {
		if v.members[i].key == key {
			return v.members[i].value
		}
	}
	return nil
}

// isText reports whether a value is this string. It is false for nil.
func (v *jsonValue) isText(want string) bool { return v != nil && v.kind == text && v.text == want }

// describe describes a value in the words of an error message.
func (v *jsonValue) describe() string {
	switch v.kind {
	case boolean:
		return strconv.FormatBool(v.isTrue)
	case number:
		return "the number " + shortened(v.text)
	case text:
		return strconv.Quote(shortened(v.text))
	}
	return v.kind.String()
}

// shortened returns a text for an error message. A text of more than 40 bytes is cut, and ends with an ellipsis.
func shortened(text string) string {
	const maxBytes = 40
	if len(text) <= maxBytes {
		return text
	}
	length := maxBytes
	for !utf8.RuneStart(text[length]) {
		length--
	}
	return text[:length] + "…"
}

// parser parses JSON (RFC 8259). It stops at the first error, with a panic that parseJSON catches.
type parser struct {
	file      string
	src       []byte
	offset    int
	line      int32
	lineStart int // offset of the line
	depth     int
}

// parseJSON parses a text that consists of one JSON value. An error is a syntax.ErrorList with one entry.
func parseJSON(file string, src []byte) (value *jsonValue, err error) {
	jsonParser := &parser{file: file, src: src, line: 1}
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case *syntax.Error:
			value, err = nil, syntax.ErrorList{problem}
		default: // a mistake of this program
			panic(problem)
		}
	}()
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		jsonParser.offset, jsonParser.lineStart = len(byteOrderMark), len(byteOrderMark)
	}
	jsonParser.skipSpace()
	value = jsonParser.parseValue()
	jsonParser.skipSpace()
	if jsonParser.offset < len(jsonParser.src) {
		jsonParser.abort("found %s after the JSON value, want the end of the file", jsonParser.describeNext())
	}
	return value, nil
}

const byteOrderMark = "\ufeff"

// pos returns the position of the next byte.
func (p *parser) pos() syntax.Pos {
	return syntax.Pos{Offset: int32(p.offset), Line: p.line, Col: int32(p.offset-p.lineStart) + 1}
}

// abort ends the parsing with an error at the next byte.
func (p *parser) abort(format string, args ...any) { p.abortAt(p.pos(), format, args...) }

// abortAt ends the parsing with an error at a position.
func (p *parser) abortAt(pos syntax.Pos, format string, args ...any) {
	panic(&syntax.Error{File: p.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.offset < len(p.src) {
		return p.src[p.offset]
	}
	return 0
}

// describeNext returns the next character for an error message.
func (p *parser) describeNext() string {
	if p.offset >= len(p.src) {
		return "the end of the file"
	}
	char, _ := utf8.DecodeRune(p.src[p.offset:])
	return strconv.QuoteRune(char)
}

// skipSpace skips white space and counts lines.
func (p *parser) skipSpace() {
	for p.offset < len(p.src) {
		switch p.src[p.offset] {
		case '\n':
			p.line++
			p.lineStart = p.offset + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		p.offset++
	}
}

// expect reads the given character, or fails.
func (p *parser) expect(char byte) {
	if p.peek() != char {
		p.abort("found %s, want %q", p.describeNext(), char)
	}
	p.offset++
}

// parseValue parses a value of any kind.
func (p *parser) parseValue() *jsonValue {
	parsedValue := &jsonValue{Span: syntax.Span{Start: p.pos()}}
	switch char := p.peek(); {
	case char == '{':
		p.parseNested(p.parseObject, parsedValue)
	case char == '[':
		p.parseNested(p.parseArray, parsedValue)
	case char == '"':
		parsedValue.kind, parsedValue.text = text, p.parseStringLiteral()
	case char == '-' || isDigit(char):
		parsedValue.kind, parsedValue.text = number, p.parseNumber()
	default:
		p.parseLiteral(parsedValue)
	}
	parsedValue.Stop = p.pos()
	return parsedValue
}

// parseNested calls parse for an object or array. It aborts if values are nested more than maxDepth deep.
func (p *parser) parseNested(parse func(*jsonValue), value *jsonValue) {
	p.depth++
	if p.depth > maxDepth {
		p.abort("values are nested more than %d deep, want fewer", maxDepth)
	}
	parse(value)
	p.depth--
}

// parseObject parses an object into value. A repeated key is an error.
func (p *parser) parseObject(value *jsonValue) {
	value.kind = object
	p.offset++
	p.skipSpace()
	if p.peek() == '}' {
		p.offset++
		return
	}
	var knownKeys map[string]bool
	for {
		member := member{pos: p.pos()}
		if p.peek() != '"' {
			p.abort("found %s, want a key in quotes", p.describeNext())
		}
		member.key = p.parseStringLiteral()
		if addKey(value, &knownKeys, member.key) {
			p.abortAt(member.pos, "the key %q occurs twice, want it once", shortened(member.key))
		}
		p.skipSpace()
		p.expect(':')
		p.skipSpace()
		member.value = p.parseValue()
		value.members = append(value.members, member)
		if p.readEndOrComma('}') {
			return
		}
	}
}

// addKey reports whether an object already has a key. Few members are searched. For many members, the keys so far are in the set *knownKeys, which
// addKey creates and extends.
func addKey(value *jsonValue, knownKeys *map[string]bool, key string) (isKnown bool) {
	const maxSearched = 16 // with more members, a set is faster than a search
	if len(value.members) < maxSearched {
		return value.get(key) != nil
	}
	if *knownKeys == nil {
		*knownKeys = make(map[string]bool)
		for _, member := range value.members {
			(*knownKeys)[member.key] = true
		}
	}
	isKnown = (*knownKeys)[key]
	(*knownKeys)[key] = true
	return isKnown
}

// readEndOrComma reads the character behind an element of an array or object. isEnd is true if it is end, and false if it is a comma. It aborts
// at any other character.
func (p *parser) readEndOrComma(end byte) (isEnd bool) {
	p.skipSpace()
	switch p.peek() {
	case ',':
		p.offset++
		p.skipSpace()
		return false
	case end:
		p.offset++
		return true
	}
	p.abort("found %s, want ',' or %q", p.describeNext(), end)
	return true
}

// parseArray parses an array into value.
func (p *parser) parseArray(value *jsonValue) {
	value.kind = array
	p.offset++
	p.skipSpace()
	if p.peek() == ']' {
		p.offset++
		return
	}
	for {
		value.elements = append(value.elements, p.parseValue())
		if p.readEndOrComma(']') {
			return
		}
	}
}

// parseLiteral parses true, false or null into value.
func (p *parser) parseLiteral(value *jsonValue) {
	switch {
	case p.skipWord("true"):
		value.kind, value.isTrue = boolean, true
	case p.skipWord("false"):
		value.kind = boolean
	case p.skipWord("null"):
		value.kind = null
	default:
		p.abort("found %s, want a value", p.describeNext())
	}
}

// skipWord skips a word if it comes next. It returns false if it does not.
func (p *parser) skipWord(word string) bool {
	if !bytes.HasPrefix(p.src[p.offset:], []byte(word)) {
		return false
	}
	p.offset += len(word)
	return true
}

// parseNumber parses a JSON number and returns its text.
func (p *parser) parseNumber() string {
	start := p.offset
	p.skipByte("-")
	if !p.skipByte("0") {
		p.parseDigits()
	}
	if p.skipByte(".") {
		p.parseDigits()
	}
	if p.skipByte("eE") {
		p.skipByte("+-")
		p.parseDigits()
	}
	if isDigit(p.peek()) {
		p.abort("found a digit behind a 0 at the start of a number, want none")
	}
	return string(p.src[start:p.offset])
}

// skipByte skips the next byte if chars contains it. It returns false if chars does not.
func (p *parser) skipByte(chars string) bool {
	if p.offset >= len(p.src) || strings.IndexByte(chars, p.src[p.offset]) < 0 {
		return false
	}
	p.offset++
	return true
}

// parseDigits parses one or more digits.
func (p *parser) parseDigits() {
	if !isDigit(p.peek()) {
		p.abort("found %s, want a digit", p.describeNext())
	}
	for isDigit(p.peek()) {
		p.offset++
	}
}

func isDigit(char byte) bool { return '0' <= char && char <= '9' }

// parseStringLiteral parses a string and returns its decoded text.
func (p *parser) parseStringLiteral() string {
	p.offset++
	rawStart := p.offset // the start of the text that is not in decoded yet
	var decoded []byte
	for {
		switch char := p.peek(); {
		case p.offset >= len(p.src) || char < ' ':
			p.abort("found %s in a string, want '\"'", p.describeNext())
		case char == '"':
			decoded = append(decoded, p.src[rawStart:p.offset]...)
			p.offset++
			return string(decoded)
		case char == '\\':
			decoded = p.parseEscape(append(decoded, p.src[rawStart:p.offset]...))
			rawStart = p.offset
		case char < utf8.RuneSelf:
			p.offset++
		default:
			char, size := utf8.DecodeRune(p.src[p.offset:])
			isInvalid := char == utf8.RuneError && size == 1
			if isInvalid {
				p.abort("a string is not UTF-8")
			}
			p.offset += size
		}
	}
}

// parseEscape parses an escape sequence such as \n, and appends the character that it stands for to decoded.
func (p *parser) parseEscape(decoded []byte) []byte {
	p.offset++
	char := p.peek()
	p.offset++
	switch char {
	case '"', '\\', '/':
		return append(decoded, char)
	case 'b':
		return append(decoded, '\b')
	case 'f':
		return append(decoded, '\f')
	case 'n':
		return append(decoded, '\n')
	case 'r':
		return append(decoded, '\r')
	case 't':
		return append(decoded, '\t')
	case 'u':
		return utf8.AppendRune(decoded, p.parseUnicodeEscape())
	}
	p.offset--
	p.abort("found %s behind '\\' in a string, want one of \" \\ / b f n r t u", p.describeNext())
	return nil
}

// parseUnicodeEscape parses the digits of a Unicode escape and returns its character. If the escape is the first half of a surrogate pair, it
// also parses the second half.
func (p *parser) parseUnicodeEscape() rune {
	char := p.parseHex()
	if utf16.IsSurrogate(char) && p.skipWord(`\u`) {
		char = utf16.DecodeRune(char, p.parseHex())
	}
	if utf16.IsSurrogate(char) || char == utf8.RuneError {
		p.abort("found half of a surrogate pair in a string, want both halves")
	}
	return char
}

// parseHex parses the four hexadecimal digits of a Unicode escape.
func (p *parser) parseHex() rune {
	if len(p.src)-p.offset >= 4 {
		if value, err := strconv.ParseUint(string(p.src[p.offset:p.offset+4]), 16, 16); err == nil {
			p.offset += 4
			return rune(value)
		}
	}
	p.abort("found %s, want four hexadecimal digits", p.describeNext())
	return 0
}
