// Package locate lists the places of source text that an error is about, for output that programs read.
package locate

import (
	"tilecheck/game/play"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Places returns the positions in source text of an error and of the errors that it wraps. It returns nil if there is none.
func Places(err error) []result.Place {
	switch problem := err.(type) {
	case *syntax.Error:
		return placeAt(problem.File, int(problem.Pos.Line), int(problem.Pos.Col), problem.Msg)
	case *result.Failure:
		return placeAt(problem.File, int(problem.Pos.Line), int(problem.Pos.Col), problem.Message)
	case *play.ReadError:
		return placeAt(problem.File, problem.Line, problem.Col, problem.Msg)
	}
	var places []result.Place
	switch problem := err.(type) {
	case syntax.ErrorList:
		for _, listed := range problem {
			places = append(places, Places(listed)...)
		}
	case interface{ Unwrap() []error }:
		for _, wrapped := range problem.Unwrap() {
			places = append(places, Places(wrapped)...)
		}
	case interface{ Unwrap() error }:
		places = Places(problem.Unwrap())
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
