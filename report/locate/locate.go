// Package locate lists the places of source text that an error is about, for output that programs read.
package locate

import (
	"tilecheck/game/play"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Places returns the positions in source text that an error, or an error in it, has. It returns nil if there is none.
func Places(err error) []result.Place {
	switch e := err.(type) {
	case *syntax.Error:
		return placeAt(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Msg)
	case *result.Failure:
		return placeAt(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Message)
	case *play.ReadError:
		return placeAt(e.File, e.Line, e.Col, e.Msg)
	}
	var places []result.Place
	switch e := err.(type) {
	case syntax.ErrorList:
		for _, listed := range e {
			places = append(places, Places(listed)...)
		}
	case interface{ Unwrap() []error }:
		for _, wrapped := range e.Unwrap() {
			places = append(places, Places(wrapped)...)
		}
	case interface{ Unwrap() error }:
		places = Places(e.Unwrap())
	}
	return places
}

// placeAt returns a slice with one place; nil if the line is 0, which means that it is unknown.
func placeAt(file string, line, column int, message string) []result.Place {
	if line == 0 {
		return nil
	}
	return []result.Place{{File: file, Line: line, Column: column, Message: message}}
}
