package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"tilecheck/game/play"
	"tilecheck/internal/printable"
	"tilecheck/prism/syntax"
	"tilecheck/report/table"
	"tilecheck/result"
)

// stream is standard output or standard error.
type stream struct {
	w    io.Writer
	name string
	text bool // only for people: what would do something to a terminal is made visible

	mu     sync.Mutex
	err    error         // of the first write that failed; later ones are not tried
	told   bool          // the user knows of err
	guard  bool          // keep GitHub from taking lines for commands
	object *table.Ending // the end of the object that is printed; nil if it is none
	ended  bool          // the object is
	inLine bool          // behind the first character of a line that is not blank
	sharps int           // how many # were last, up to 2
	held   *bytes.Buffer // what is not to be printed yet; nil if everything is
}

// hold keeps what is printed from now on.
func (s *stream) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = new(bytes.Buffer)
}

// drop forgets what was kept, an object that had ended among it.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.object, s.ended = nil, nil, false
}

// release prints what was kept.
func (s *stream) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.held.Bytes()
	s.held = nil
	if s.err != nil {
		return s.err
	}
	return s.emit(text)
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.ended {
		return 0, os.ErrClosed
	}
	out := p
	if s.text {
		out = []byte(printable.Text(string(out)))
	}
	if s.object != nil {
		out = s.object.Pass(out)
	}
	if err := s.print(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// print writes to what is behind the stream.
func (s *stream) print(p []byte) error {
	if s.guard {
		p = s.guarded(p)
	}
	if s.held != nil {
		s.held.Write(p)
		return nil
	}
	return s.emit(p)
}

// unguarded writes commands of GitHub to a stream, which others are kept from.
type unguarded struct{ *stream }

// Write implements io.Writer.
func (u unguarded) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held != nil {
		return u.held.Write(p)
	}
	return len(p), u.emit(p)
}

// emit writes what is as it should be.
func (s *stream) emit(p []byte) error {
	if _, err := s.w.Write(p); err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err
		}
		s.err = fmt.Errorf("%s: %w", s.name, err)
	}
	return s.err
}

// end prints the end of the object, if one is printed, with the problem, if
// there is one. Nothing comes after it.
func (s *stream) end(opt table.Options, p *table.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.object == nil || s.err != nil {
		return
	}
	_ = s.print(s.object.End(opt, p)) // unprinted says it
	s.object, s.ended = nil, true
}

// begins says that a command prints one object of JSON.
func (e *world) begins(command string) {
	e.name = command
	go e.version() // which takes time, and there may be little in the end
	e.stdout.(*stream).object = new(table.Ending)
}

// ends ends the object, if there is one. Code is the exit code of an error.
func (e *world) ends(code int, err error) {
	var p *table.Problem
	if err != nil {
		p = &table.Problem{Message: err.Error(), Code: code, Places: placesIn(err)}
	}
	e.stdout.(*stream).end(e.reportOptions(), p)
}

// placesIn lists the places that an error is about.
func placesIn(err error) []table.Place {
	at := func(file string, line, column int, message string) []table.Place {
		if line == 0 {
			return nil
		}
		return []table.Place{{File: file, Line: line, Column: column, Message: message}}
	}
	switch e := err.(type) {
	case *syntax.Error:
		return at(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Msg)
	case *result.Failure:
		return at(e.File, int(e.Pos.Line), int(e.Pos.Col), e.Message)
	case *play.ReadError:
		return at(e.File, e.Line, e.Col, e.Msg)
	}
	var out []table.Place
	switch e := err.(type) {
	case syntax.ErrorList:
		for _, x := range e {
			out = append(out, placesIn(x)...)
		}
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			out = append(out, placesIn(x)...)
		}
	case interface{ Unwrap() error }:
		out = placesIn(e.Unwrap())
	}
	return out
}

// guarded changes what the runner of GitHub Actions would take for a command: a
// line that begins with "::" behind blanks, and "##[" anywhere. Any character that
// is not ASCII passes for a blank.
//
// Source: actions/runner, src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse.
func (s *stream) guarded(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for _, c := range p {
		switch {
		case c == ':' && !s.inLine:
			out = append(out, "%3A"...)
		case c == '[' && s.sharps == 2:
			out = append(out, "%5B"...)
		default:
			out = append(out, c)
		}
		switch {
		case c == '\n' || c == '\r':
			s.inLine = false
		case c > ' ' && c < 0x7f:
			s.inLine = true
		}
		if c == '#' {
			s.sharps = min(s.sharps+1, 2)
		} else {
			s.sharps = 0
		}
	}
	return out
}

// streams puts streams in front of what the world writes to.
func (e *world) streams() {
	e.stdout, e.stderr = &stream{w: e.stdout, name: "standard output"}, &stream{w: e.stderr, name: "standard error", text: true}
	terminal := e.terminal
	e.terminal = func(w io.Writer) (int, bool) { return terminal(raw(w)) }
	if e.getenv("GITHUB_ACTIONS") == "true" {
		e.guardGitHub(false)
	}
}

// guardGitHub keeps what is printed from being taken for commands of GitHub
// Actions; filesToo says whether also what goes to a file, to be shown later.
func (e *world) guardGitHub(filesToo bool) {
	for _, w := range []io.Writer{e.stdout, e.stderr} {
		s := w.(*stream)
		if f, ok := s.w.(*os.File); ok && !filesToo {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				continue
			}
		}
		s.mu.Lock()
		s.guard = true
		s.mu.Unlock()
	}
}

// raw is what a stream writes to, for commands of GitHub and for bars.
func raw(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.w
	}
	return w
}

// tells notes that an error is told, which may be that of standard output.
func (e *world) tells(err error) {
	s := e.stdout.(*stream)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = s.told || s.err != nil && errors.Is(err, s.err)
}

// unprinted is the error that kept something from standard output, and whether
// the user knows of it.
func (e *world) unprinted() (told bool, err error) {
	s := e.stdout.(*stream)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told, s.err
}
