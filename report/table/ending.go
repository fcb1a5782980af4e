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

// Pass takes what is printed and returns what may go out.
func (e *Ending) Pass(text []byte) []byte {
	if !e.begun && len(text) > 0 {
		e.begun, e.object = true, text[0] == '{'
	}
	all := append(e.held, text...)
	n := max(0, len(all)-len(objectEnd))
	e.held = bytes.Clone(all[n:])
	return all[:n]
}

// End returns what is still to be printed: the end with the error, if there is
// one, or the whole object of a command that printed nothing. An object that
// was cut stays cut.
func (e *Ending) End(opt Options, p *Problem) []byte {
	if p == nil {
		return e.held
	}
	var d document
	switch {
	case !e.begun:
		_ = errors.Join(d.open(opt, nil), d.close(nil)) // of strings
		d.Truncate(d.Len() - len(objectEnd))
	case !e.object || string(e.held) != objectEnd:
		return e.held
	}
	d.WriteByte(',')
	_ = d.member("error", p) // of strings and numbers
	d.WriteString(objectEnd)
	return d.Bytes()
}
