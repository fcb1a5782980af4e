package syntax

import (
	"iter"
	"strings"
)

// Class is the class of a lexeme, for formatting, colours and completion.
type Class uint8

// The classes. Name is a word that is not a keyword, and Primed is a name with its prime. Symbol is
// an operator, a bracket or a quotation mark. Illegal is a character that starts no token.
const (
	Comment Class = iota
	Keyword
	Name
	Primed
	Number
	Symbol
	Illegal
)

// Lexeme is a token or a comment. The text of a comment has its slashes and no line end.
type Lexeme struct {
	Class Class
	Text  string
	Span
}

// Lexemes iterates over the tokens and comments of a source text in order. The text may have syntax errors.
func Lexemes(src []byte) iter.Seq[Lexeme] {
	return func(yield func(Lexeme) bool) {
		scan := newScanner(src, false)
		text := string(src) // the lexemes share its memory
		for {
			before := scan
			token := scan.next()
			if !before.yieldComments(text, int(token.pos.Offset), yield) || token.kind == tokEOF {
				return
			}
			if !yield(Lexeme{Class: token.kind.class(), Text: text[token.pos.Offset:token.end], Span: Span{token.pos, token.endPos()}}) {
				return
			}
		}
	}
}

// yieldComments skips white space and yields each comment before the offset end. It returns false if yield returns false.
func (s *scanner) yieldComments(text string, end int, yield func(Lexeme) bool) bool {
	for s.offset < end {
		switch char := s.src[s.offset]; char {
		case '\n', '\r':
			s.skipLineEnd()
		case '/':
			start := s.pos()
			comment := text[s.offset:end]
			if length := strings.IndexAny(comment, "\r\n"); length >= 0 {
				comment = comment[:length]
			}
			s.offset += len(comment)
			if !yield(Lexeme{Class: Comment, Text: comment, Span: Span{start, s.pos()}}) {
				return false
			}
		default:
			s.offset++
		}
	}
	return true
}

// pos returns the position of the next byte.
func (s *scanner) pos() Pos {
	return Pos{Offset: int32(s.offset), Line: s.line, Col: int32(s.offset-s.lineStart) + 1}
}

// class returns the class of a token kind, such as Keyword or Number.
func (k kind) class() Class {
	switch {
	case k.isKeyword():
		return Keyword
	case k == tokIdent:
		return Name
	case k == tokPrimedIdent:
		return Primed
	case k == tokInt, k == tokDouble:
		return Number
	case k == tokIllegal:
		return Illegal
	}
	return Symbol
}
