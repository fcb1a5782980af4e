package table

import (
	"bytes"
	"errors"

	"tilecheck/result"
)

// Problem is why a command ended without all that was asked of it.
type Problem struct {
	Message  string         `json:"message"`
	ExitCode int            `json:"exit_code"`
	Places   []result.Place `json:"places,omitempty"`
}

// objectEnd is how every object of a command ends.
const objectEnd = "\n}\n"

// Ending holds the end of the one object that a command prints back, until it
// is known whether there is an error to put into it. The zero value is ready.
type Ending struct {
	begun, object bool
	held          []byte
}

// Pass takes the next part of the output, and returns the part that can be printed now. It holds back the last bytes, which may be the end of the
// object.
func (e *Ending) Pass(text []byte) []byte {
	if !e.begun && len(text) > 0 {
		e.begun, e.object = true, text[0] == '{'
	}
	combined := append(e.held, text...)
	length := max(0, len(combined)-len(objectEnd))
	e.held = bytes.Clone(combined[length:])
	return combined[:length]
}

// End returns the end of the output: the bytes that Pass holds back, with the error as an additional member of the object. A command that has printed
// nothing gets an object with only the error. An incomplete object stays incomplete.
func (e *Ending) End(opt Options, problem *Problem) []byte {
	if problem == nil {
		return e.held
	}
	var doc document
	switch {
	case !e.begun:
		_ = errors.Join(doc.open(opt, nil), doc.close(nil)) // the encoding of strings cannot fail
		doc.Truncate(doc.Len() - len(objectEnd))
	case !e.object || string(e.held) != objectEnd:
		return e.held
	}
	doc.WriteByte(',')
	_ = doc.member("error", problem) // the encoding of strings and numbers cannot fail
	doc.WriteString(objectEnd)
	return doc.Bytes()
}
