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

// Release prints the kept output.
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

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
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

// print keeps the text, or writes it to the writer behind the stream.
func (s *Stream) print(p []byte) error {
	if s.guard {
		p = s.guarded(p)
	}
	if s.held != nil {
		s.held.Write(p)
		return nil
	}
	return s.emit(p)
}

// unguarded writes to a stream without the guard, for commands of GitHub.
type unguarded struct{ *Stream }

// Write implements io.Writer.
func (u unguarded) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held != nil {
		return u.held.Write(p)
	}
	return len(p), u.emit(p)
}

// emit writes to the writer behind the stream.
func (s *Stream) emit(p []byte) error {
	if _, err := s.w.Write(p); err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err
		}
		s.err = fmt.Errorf("%s: %w", s.name, err)
	}
	return s.err
}

// End prints the end of the object, with the problem if there is one. Nothing can be printed after it.
func (s *Stream) End(opt table.Options, p *table.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.object == nil || s.err != nil {
		return
	}
	_ = s.print(s.object.End(opt, p)) // Failed says it
	s.object, s.ended = nil, true
}

// guarded changes text that the runner of GitHub Actions would read as a command: a line that begins with "::" after
// blanks, and "##[" anywhere. Any character that is not ASCII counts as a blank.
//
// Source: actions/runner, src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse.
func (s *Stream) guarded(p []byte) []byte {
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

// Begin says that one JSON object is printed.
func (s *Stream) Begin() { s.object = new(table.Ending) }

// GuardGitHub changes output that GitHub Actions would read as commands. filesToo says that this holds for output to a
// file too, which may be shown later.
func (s *Stream) GuardGitHub(filesToo bool) {
	if f, ok := s.w.(*os.File); ok && !filesToo {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
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
