// Package locate lists the places of source text that an error is about, for output that programs read.
package locate

import (
	"tilecheck/game/play"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Places returns the places that an error names, none if it names none.
func Places(err error) []result.Place {
	at := func(file string, line, column int, message string) []result.Place {
		if line == 0 {
			return nil
		}
		return []result.Place{{File: file, Line: line, Column: column, Message: message}}
	}
	switch e := err.(type) {
	case *syntax.Error:
		return at(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Msg)
	case *result.Failure:
		return at(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Message)
	case *play.ReadError:
		return at(e.File, e.Line, e.Col, e.Msg)
	}
	var out []result.Place
	switch e := err.(type) {
	case syntax.ErrorList:
		for _, x := range e {
			out = append(out, Places(x)...)
		}
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			out = append(out, Places(x)...)
		}
	case interface{ Unwrap() error }:
		out = Places(e.Unwrap())
	}
	return out
}
