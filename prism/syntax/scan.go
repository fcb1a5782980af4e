package syntax

import (
	"bytes"
	"unicode/utf8"
)

// scanner splits a source text into tokens. A copy of the value is a position to return to.
type scanner struct {
	src       []byte
	offset    int
	line      int32
	lineStart int // offset of the first byte of the current line
	// commentBlock is the offset of the first comment of the block directly above the
	// token returned last, or -1. A blank line ends a block.
	commentBlock int
	// propertyComments lets a comment behind the previous token, on the same
	// line, start a block, as PRISM does for properties.
	propertyComments bool
	// stormWords says that words that PRISM reserves and Storm does not are names.
	stormWords bool
}

// newScanner returns a scanner at the beginning of a text.
func newScanner(src []byte, propertyComments bool) scanner {
	return scanner{src: src, line: 1, commentBlock: -1, propertyComments: propertyComments}
}

// startOfFile is the position of the first byte of a file.
var startOfFile = Pos{Line: 1, Col: 1}

// newScannerAt returns a scanner at the beginning of a text that begins at a line and column of a file.
func newScannerAt(src []byte, start Pos) scanner {
	return scanner{src: src, line: start.Line, lineStart: 1 - int(start.Col), commentBlock: -1}
}

// byteAt returns the byte at an offset, or 0 after the end of the text.
func (s *scanner) byteAt(offset int) byte {
	if offset < len(s.src) {
		return s.src[offset]
	}
	return 0
}

// skipLineEnd steps over a line end: LF, CR or CR LF.
func (s *scanner) skipLineEnd() {
	if s.src[s.offset] == '\r' && s.byteAt(s.offset+1) == '\n' {
		s.offset++
	}
	s.offset++
	s.line++
	s.lineStart = s.offset
}

// skipBlank skips white space and comments. It sets s.commentBlock to the offset of the first comment directly above the next token, or to -1.
func (s *scanner) skipBlank() {
	s.commentBlock = -1
	isLineStart := s.offset == 0 // no token precedes on the current line
	for s.offset < len(s.src) {
		switch char := s.src[s.offset]; {
		case isBlank(char):
			s.offset++
		case isLineEnd(char):
			s.skipLineEnd()
			for s.offset < len(s.src) && isBlank(s.src[s.offset]) { // faster for long indentation
				s.offset++
			}
			s.commentBlock, isLineStart = -1, true
		case char == '/' && s.byteAt(s.offset+1) == '/':
			if s.commentBlock < 0 && (isLineStart || s.propertyComments) {
				s.commentBlock = s.offset
			}
			s.skipComment()
			isLineStart = true
		default:
			return
		}
	}
}

// isLineEnd reports whether a byte begins a line end.
func isLineEnd(char byte) bool { return char == '\n' || char == '\r' }

// skipComment skips a comment and the end of its line.
func (s *scanner) skipComment() {
	for s.offset < len(s.src) && !isLineEnd(s.src[s.offset]) {
		s.offset++
	}
	if s.offset < len(s.src) {
		s.skipLineEnd()
	}
}

// next returns the next token, the longest possible one. At the end of the text, its kind is tokEOF.
func (s *scanner) next() token {
	s.skipBlank()
	start := s.offset
	tok := token{kind: tokEOF, pos: Pos{Offset: int32(start), Line: s.line, Col: int32(start-s.lineStart) + 1}}
	if start < len(s.src) {
		switch char := s.src[start]; {
		case isLetter(char):
			tok.kind = s.scanWord()
		case isDigit(char), char == '.' && isDigit(s.byteAt(start+1)):
			tok.kind = s.scanNumber()
		default:
			tok.kind = s.scanPunctuation(char)
		}
	}
	tok.end = int32(s.offset)
	return tok
}

// scanWord scans an identifier, a keyword or an identifier with its prime, and returns its kind.
func (s *scanner) scanWord() kind {
	start := s.offset
	for isLetter(s.byteAt(s.offset)) || isDigit(s.byteAt(s.offset)) {
		s.offset++
	}
	if s.byteAt(s.offset) == '\'' {
		s.offset++
		return tokPrimedIdent
	}
	k := keywordKind(s.src[start:s.offset])
	if s.stormWords && !stormReserves(k) {
		return tokIdent
	}
	return k
}

// scanNumber scans a number and returns tokInt or tokDouble. As in PRISM, an int has no leading zeros: 007 is a double.
func (s *scanner) scanNumber() kind {
	start := s.offset
	end := s.digitsEnd(start)
	intEnd := end
	if s.src[start] == '0' {
		intEnd = start + 1
	}
	if s.byteAt(end) == '.' && isDigit(s.byteAt(end+1)) {
		end = s.digitsEnd(end + 1)
	}
	s.offset = s.exponentEnd(end)
	if s.offset == intEnd {
		return tokInt
	}
	return tokDouble
}

// exponentEnd returns the offset behind an exponent such as e-3 that starts at the given offset. If no exponent starts there, it returns the given offset.
func (s *scanner) exponentEnd(offset int) int {
	if char := s.byteAt(offset); char != 'e' && char != 'E' {
		return offset
	}
	digits := offset + 1
	if char := s.byteAt(digits); char == '+' || char == '-' {
		digits++
	}
	if !isDigit(s.byteAt(digits)) {
		return offset
	}
	return s.digitsEnd(digits)
}

// digitsEnd returns the end of the digits at an offset. Without digits, it returns the offset itself.
func (s *scanner) digitsEnd(offset int) int {
	for isDigit(s.byteAt(offset)) {
		offset++
	}
	return offset
}

// scanPunctuation scans an operator or a bracket that starts with char, and returns its kind. Any other character is an illegal token.
func (s *scanner) scanPunctuation(char byte) kind {
	next := s.byteAt(s.offset + 1)
	if char == '<' && next == '=' && s.byteAt(s.offset+2) == '>' {
		s.offset += 3
		return tokIff
	}
	if k := pairKind(char, next); k != tokIllegal {
		s.offset += 2
		return k
	}
	_, size := utf8.DecodeRune(s.src[s.offset:])
	s.offset += size
	return singleKind(char)
}

// pairKind returns the token that two characters form, or tokIllegal.
func pairKind(first, second byte) kind {
	switch [2]byte{first, second} {
	case [2]byte{'!', '='}:
		return tokNotEqual
	case [2]byte{'=', '>'}:
		return tokImplies
	case [2]byte{'<', '='}:
		return tokLessEqual
	case [2]byte{'<', '<'}:
		return tokDoubleLess
	case [2]byte{'<', '-'}:
		return tokRenameArrow
	case [2]byte{'>', '='}:
		return tokGreaterEqual
	case [2]byte{'>', '>'}:
		return tokDoubleGreater
	case [2]byte{'-', '>'}:
		return tokArrow
	case [2]byte{'.', '.'}:
		return tokDotDot
	case [2]byte{'[', '['}:
		return tokDoubleLeftBracket
	case [2]byte{']', ']'}:
		return tokDoubleRightBracket
	}
	return tokIllegal
}

// singleKind returns the token that one character forms, or tokIllegal.
func singleKind(char byte) kind {
	switch char {
	case '!':
		return tokNot
	case '&':
		return tokAnd
	case '|':
		return tokOr
	case '=':
		return tokEqual
	case '<':
		return tokLess
	case '>':
		return tokGreater
	case '-':
		return tokMinus
	case ':':
		return tokColon
	case ';':
		return tokSemicolon
	case ',':
		return tokComma
	case '(':
		return tokLeftParen
	case ')':
		return tokRightParen
	case '[':
		return tokLeftBracket
	case ']':
		return tokRightBracket
	case '{':
		return tokLeftBrace
	case '}':
		return tokRightBrace
	case '+':
		return tokPlus
	case '*':
		return tokTimes
	case '/':
		return tokDivide
	case '^':
		return tokPower
	case '\'':
		return tokPrime
	case '?':
		return tokQuestion
	case '"':
		return tokQuote
	}
	return tokIllegal
}

// comments returns the comments in src[begin:end], one element for each line. This part of the text must have only comments and white space.
func comments(src []byte, begin, end int) Doc {
	var doc Doc
	for text := src[begin:end]; ; {
		_, behind, isFound := bytes.Cut(text, []byte("//"))
		if !isFound {
			return doc
		}
		var comment []byte
		comment, text = cutLine(behind)
		doc = append(doc, commentText(comment))
	}
}

// commentText returns the text of a comment without its first blank and without blanks at the end.
func commentText(comment []byte) string {
	comment = bytes.TrimPrefix(comment, []byte(" "))
	for len(comment) > 0 && isBlank(comment[len(comment)-1]) {
		comment = comment[:len(comment)-1]
	}
	return string(comment)
}

// isBlank reports whether a byte is a space or a tab.
func isBlank(char byte) bool { return char == ' ' || char == '\t' }
