// Package stream is standard output and standard error as the program writes to
// them: text is made safe to show, what looks like a command to GitHub is not one,
// the one object of JSON gets its end, and output can be held back.
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

// Hold keeps what is printed from now on.
func (s *Stream) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = new(bytes.Buffer)
}

// Drop forgets what was kept, an object that had ended among it.
func (s *Stream) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.object, s.ended = nil, nil, false
}

// Release prints what was kept.
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

// print writes to what is behind the stream.
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

// unguarded writes commands of GitHub to a stream, which others are kept from.
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

// emit writes what is as it should be.
func (s *Stream) emit(p []byte) error {
	if _, err := s.w.Write(p); err != nil {
		if cause, ok := errors.AsType[*os.PathError](err); ok {
			err = cause.Err
		}
		s.err = fmt.Errorf("%s: %w", s.name, err)
	}
	return s.err
}

// End prints the end of the object, if one is printed, with the problem, if
// there is one. Nothing comes after it.
func (s *Stream) End(opt table.Options, p *table.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.object == nil || s.err != nil {
		return
	}
	_ = s.print(s.object.End(opt, p)) // Failed says it
	s.object, s.ended = nil, true
}

// guarded changes what the runner of GitHub Actions would take for a command: a
// line that begins with "::" behind blanks, and "##[" anywhere. Any character that
// is not ASCII passes for a blank.
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

// Begin says that one object of JSON is printed.
func (s *Stream) Begin() { s.object = new(table.Ending) }

// GuardGitHub keeps what is printed from being taken for commands of GitHub
// Actions; filesToo says whether also what goes to a file, to be shown later.
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

// Tells notes that the user knows of an error, which may be that of the stream.
func (s *Stream) Tells(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = s.told || s.err != nil && errors.Is(err, s.err)
}

// Failed is the error that kept something from being printed, and whether the user
// knows of it.
func (s *Stream) Failed() (told bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told, s.err
}

// New puts a stream in front of a writer that errors call name.
func New(w io.Writer, name string, text bool) *Stream {
	return &Stream{w: w, name: name, text: text}
}

// Raw is what a stream writes to.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*Stream); ok {
		return s.w
	}
	return w
}

// Unguarded writes commands of GitHub to the stream, which others are kept from.
func (s *Stream) Unguarded() io.Writer { return unguarded{s} }
