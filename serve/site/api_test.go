package site

import (
	"errors"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"tilecheck/serve"
)

// stuck is a connection whose client does not read: writes fail when their deadline is over.
type stuck struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *stuck) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *stuck) Write([]byte) (int, error) {
	if s.deadline.IsZero() {
		select {} // for ever
	}
	return 0, os.ErrDeadlineExceeded
}

// A line has a deadline, so that a client that stops reading does not keep the work of its question.
func TestStuckClient(t *testing.T) {
	out := &lines{w: &stuck{ResponseRecorder: httptest.NewRecorder()}}
	if err := out.send([]byte("{}\n"), serve.Answered); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("found %v, want the deadline", err)
	}
}

// The first line decides the status, and a response without deadlines is none to fail for.
func TestLines(t *testing.T) {
	w := httptest.NewRecorder()
	out := &lines{w: w}
	for _, outcome := range []serve.Outcome{serve.Busy, serve.Answered} {
		if err := out.send([]byte("{}\n"), outcome); err != nil {
			t.Fatal(err)
		}
	}
	if w.Code != 503 || w.Body.String() != "{}\n{}\n" || w.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("found %d %q %q", w.Code, w.Body, w.Header())
	}
}
