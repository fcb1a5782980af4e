// Package stream wraps standard output and standard error. It makes text safe to
// show, keeps GitHub from reading commands in it, ends the JSON object, and can hold
// output back.
package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"tilecheck/internal/printable"
	"tilecheck/report/table"
)

// Stream is standard output or standard error.
type Stream struct {
	w    io.Writer
	name string
	text bool // for people: control characters are made visible

	mu       sync.Mutex
	err      error         // of the first write that failed; later ones are not tried
	reported bool          // the user was told of err
	guard    bool          // keep GitHub from taking lines for commands
	object   *table.Ending // the end of the JSON object; nil without one
	ended    bool          // the object is
	inLine   bool          // after the first character of a line that is not blank
	sharps   int           // the number of # just before, up to 2
	held     *bytes.Buffer // the kept output; nil if output is printed
}

// Hold keeps the output from now on, until Release or Drop.
func (s *Stream) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = new(bytes.Buffer)
}

// Drop discards the kept output, also an object that has ended.
func (s *Stream) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.object, s.ended = nil, nil, false
}

// Release prints the output that the stream has kept since Hold.
func (s *Stream) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.held.Bytes()
	s.held = nil
	if s.err != nil {
		return s.err
	}
	return s.emit(text)
}

// Write implements [io.Writer]. It makes control characters visible, and holds back the end of a JSON object.
func (s *Stream) Write(written []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	if s.ended {
		return 0, os.ErrClosed
	}
	visible := written
	if s.text {
		visible = []byte(printable.Text(string(visible)))
	}
	if s.object != nil {
		visible = s.object.Pass(visible)
	}
	if err := s.print(visible); err != nil {
		return 0, err
	}
	return len(written), nil
}

// print writes a text to the underlying writer, or keeps it after Hold.
func (s *Stream) print(text []byte) error {
	if s.guard {
		text = s.guarded(text)
	}
	if s.held != nil {
		s.held.Write(text)
		return nil
	}
	return s.emit(text)
}

// unguarded writes to a stream without the guard, for commands of GitHub.
type unguarded struct{ *Stream }

// Write implements [io.Writer]. It writes to the stream without the changes that protect from GitHub's commands.
func (u unguarded) Write(written []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held != nil {
		return u.held.Write(written)
	}
	return len(written), u.emit(written)
}

// emit writes a text to the underlying writer, and remembers an error.
func (s *Stream) emit(text []byte) error {
	if _, err := s.w.Write(text); err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err
		}
		s.err = fmt.Errorf("%s: %w", s.name, err)
	}
	return s.err
}

// End prints the end of the JSON object, with the problem if that is not nil. After it, Write returns an error.
func (s *Stream) End(opt table.Options, problem *table.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.object == nil || s.err != nil {
		return
	}
	_ = s.print(s.object.End(opt, problem)) // the method Failed returns this error
	s.object, s.ended = nil, true
}

// guarded escapes text that GitHub Actions would execute as a command: "::" at the beginning of a line, also after blanks, and "##[" anywhere. A
// character that is not ASCII counts as a blank.
//
// Source: actions/runner, src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse.
func (s *Stream) guarded(text []byte) []byte {
	escaped := make([]byte, 0, len(text))
	for _, character := range text {
		switch {
		case character == ':' && !s.inLine:
			escaped = append(escaped, "%3A"...)
		case character == '[' && s.sharps == 2:
			escaped = append(escaped, "%5B"...)
		default:
			escaped = append(escaped, character)
		}
		switch {
		case character == '\n' || character == '\r':
			s.inLine = false
		case character > ' ' && character < 0x7f:
			s.inLine = true
		}
		if character == '#' {
			s.sharps = min(s.sharps+1, 2)
		} else {
			s.sharps = 0
		}
	}
	return escaped
}

// Begin says that one JSON object is printed.
func (s *Stream) Begin() { s.object = new(table.Ending) }

// GuardGitHub makes the stream escape text that GitHub Actions would execute as a command. If the output goes to a file, it does so only with
// filesToo.
func (s *Stream) GuardGitHub(filesToo bool) {
	if file, ok := s.w.(*os.File); ok && !filesToo {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guard = true
}

// SetReported records that the user was told of an error, which may be that of the stream.
func (s *Stream) SetReported(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported = s.reported || s.err != nil && errors.Is(err, s.err)
}

// Failed returns the error of the first write that failed, and whether the user was told of it.
func (s *Stream) Failed() (reported bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reported, s.err
}

// New returns a stream for a writer, with the name that errors have.
func New(w io.Writer, name string, text bool) *Stream {
	return &Stream{w: w, name: name, text: text}
}

// Raw returns the writer behind a stream.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Stream); ok {
		return s.w
	}
	return w
}

// Unguarded returns a writer to the stream for commands of GitHub.
func (s *Stream) Unguarded() io.Writer { return unguarded{s} }
