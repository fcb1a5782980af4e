package syntax

import (
	"iter"
	"strings"
)

// Class is the class of a lexeme, for formatting, colours and completion.
type Class uint8

// The classes. Name is a word that is no keyword; Primed has its prime; a Symbol is
// an operator, a bracket, a quotation mark; Illegal starts no token.
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

// Lexemes returns the tokens and comments of any text, in order.
func Lexemes(src []byte) iter.Seq[Lexeme] {
	return func(yield func(Lexeme) bool) {
		s, text := newScanner(src, false), string(src) // of which all lexemes have parts
		for {
			gap := s
			t := s.next()
			if !gap.comments(text, int(t.pos.Offset), yield) || t.kind == tEOF {
				return
			}
			if !yield(Lexeme{Class: t.kind.class(), Text: text[t.pos.Offset:t.end], Span: Span{t.pos, t.endPos()}}) {
				return
			}
		}
	}
}

// comments yields the comments up to an offset.
func (s *scanner) comments(all string, to int, yield func(Lexeme) bool) bool {
	for s.off < to {
		switch c := s.src[s.off]; c {
		case '\n', '\r':
			s.newline()
		case '/':
			start := Pos{Offset: int32(s.off), Line: s.line, Col: int32(s.off-s.lineOff) + 1}
			text := all[s.off:to]
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				text = text[:end]
			}
			s.off += len(text)
			stop := Pos{Offset: int32(s.off), Line: s.line, Col: int32(s.off-s.lineOff) + 1}
			if !yield(Lexeme{Class: Comment, Text: text, Span: Span{start, stop}}) {
				return false
			}
		default:
			s.off++
		}
	}
	return true
}

func (k kind) class() Class {
	switch {
	case k.isKeyword():
		return Keyword
	case k == tIdent:
		return Name
	case k == tPrimed:
		return Primed
	case k == tInt, k == tDouble:
		return Number
	case k == tIllegal:
		return Illegal
	}
	return Symbol
}
