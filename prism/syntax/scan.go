package syntax

import "unicode/utf8"

// scanner splits a source text into tokens. It is a plain value: a copy is a
// place to come back to.
type scanner struct {
	src     []byte
	off     int
	line    int32
	lineOff int // offset of the first byte of the current line
	// block is the offset of the first comment of the block directly above the
	// token returned last, or -1. A blank line ends a block.
	block int
	// shared lets a comment behind the previous token, on the same line, start
	// a block, as PRISM does for properties.
	propertyComments bool
	// storm leaves the words to names that PRISM reserves and Storm does not.
	stormWords bool
}

func newScanner(src []byte, shared bool) scanner {
	return scanner{src: src, line: 1, block: -1, propertyComments: shared}
}

// byteAt returns the byte at an offset, 0 behind the end of the text.
func (s *scanner) byteAt(i int) byte {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

// newline steps over a line end: LF, CR or CR LF.
func (s *scanner) newline() {
	if s.src[s.off] == '\r' && s.byteAt(s.off+1) == '\n' {
		s.off++
	}
	s.off++
	s.line++
	s.lineOff = s.off
}

// skipBlank skips white space and comments, and sets block to the start of the comment block
// directly above the next token.
func (s *scanner) skipBlank() {
	s.block = -1
	ownLine := s.off == 0
	for s.off < len(s.src) {
		switch char := s.src[s.off]; {
		case char == ' ' || char == '\t':
			s.off++
		case char == '\n' || char == '\r':
			s.newline()
			s.block, ownLine = -1, true
		case char == '/' && s.byteAt(s.off+1) == '/':
			if s.block < 0 && (ownLine || s.propertyComments) {
				s.block = s.off
			}
			s.skipComment()
			ownLine = true
		default:
			return
		}
	}
}

// skipComment skips a comment and the end of its line.
func (s *scanner) skipComment() {
	for s.off < len(s.src) {
		if char := s.src[s.off]; char == '\n' || char == '\r' {
			s.newline()
			return
		}
		s.off++
	}
}

// next returns the next token, the longest possible one as in PRISM.
func (s *scanner) next() token {
	s.skipBlank()
	start := s.off
	tok := token{kind: tokEOF, pos: Pos{Offset: int32(start), Line: s.line, Col: int32(start-s.lineOff) + 1}}
	if start < len(s.src) {
		switch char := s.src[start]; {
		case isLetter(char):
			tok.kind = s.word()
		case isDigit(char), char == '.' && isDigit(s.byteAt(start+1)):
			tok.kind = s.number()
		default:
			tok.kind = s.punctuation(char)
		}
	}
	tok.end = int32(s.off)
	return tok
}

// word scans an identifier, a keyword, or an identifier with its prime (one token).
func (s *scanner) word() kind {
	start := s.off
	for isLetter(s.byteAt(s.off)) || isDigit(s.byteAt(s.off)) {
		s.off++
	}
	if s.byteAt(s.off) == '\'' {
		s.off++
		return tokPrimedIdent
	}
	k := keywordKind(s.src[start:s.off])
	if s.stormWords && !stormReserves(k) {
		return tokIdent
	}
	return k
}

// number scans a number. An int is 0, or digits that start with another one, so 007 is a double.
// A decimal point must have a digit behind it.
func (s *scanner) number() kind {
	start := s.off
	end := s.digits(start)
	intEnd := end
	if s.src[start] == '0' {
		intEnd = start + 1
	}
	if s.byteAt(end) == '.' && isDigit(s.byteAt(end+1)) {
		end = s.digits(end + 1)
	}
	s.off = s.exponentEnd(end)
	if s.off == intEnd {
		return tokInt
	}
	return tokDouble
}

// exponentEnd returns the end of the exponent at an offset; the offset itself if there is none.
func (s *scanner) exponentEnd(off int) int {
	if char := s.byteAt(off); char != 'e' && char != 'E' {
		return off
	}
	digits := off + 1
	if char := s.byteAt(digits); char == '+' || char == '-' {
		digits++
	}
	if !isDigit(s.byteAt(digits)) {
		return off
	}
	return s.digits(digits)
}

func (s *scanner) digits(i int) int {
	for isDigit(s.byteAt(i)) {
		i++
	}
	return i
}

// punctuation scans an operator or bracket. Any other character is one illegal token.
func (s *scanner) punctuation(char byte) kind {
	next := s.byteAt(s.off + 1)
	if char == '<' && next == '=' && s.byteAt(s.off+2) == '>' {
		s.off += 3
		return tokIff
	}
	if k := pairKind(char, next); k != tokIllegal {
		s.off += 2
		return k
	}
	_, size := utf8.DecodeRune(s.src[s.off:])
	s.off += size
	return singleKind(char)
}

// pairKind returns the token that two characters form, tIllegal if they form none.
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

// singleKind returns the token that one character forms, tIllegal if it forms none.
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

// comments returns the comments in src[from:to], one element per line. That range must contain
// comments and white space only.
func comments(src []byte, from, to int) Doc {
	var doc Doc
	for i := from; i < to; i++ {
		if src[i] != '/' {
			continue
		}
		i += 2
		start := i
		for i < to && src[i] != '\n' && src[i] != '\r' {
			i++
		}
		doc = append(doc, commentText(src[start:i]))
	}
	return doc
}

// commentText returns the text of a comment without its first blank and without white space at the end.
func commentText(b []byte) string {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return string(b)
}
