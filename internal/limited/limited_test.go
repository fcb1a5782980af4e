package limited

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// endless counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		size, limit int64
		want        error
	}{{0, 0, nil}, {1, 0, TooLarge(0)}, {9, 9, nil}, {10, 9, TooLarge(9)}} {
		text := bytes.Repeat([]byte("x"), int(test.size))
		got, err := Read(bytes.NewReader(text), test.limit)
		if err != test.want || err == nil && !bytes.Equal(got, text) {
			t.Errorf("%d bytes of at most %d: %q, %v, want %v", test.size, test.limit, got, err, test.want)
		}
	}
	var e endless
	if _, err := Read(&e, 1<<20); err != TooLarge(1<<20) || e.read > 1<<20+1 {
		t.Errorf("of an endless text %d bytes were read: %v", e.read, err)
	}
	if _, err := Read(io.MultiReader(strings.NewReader("x"), failing{}), 9); err != io.ErrClosedPipe {
		t.Errorf("error %v, want that of the reader", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestReadFile(t *testing.T) {
	fsys := fstest.MapFS{"a/b": {Data: []byte("text")}}
	if got, err := ReadFile(fsys, "a/b", 4); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, want := range map[string]string{"a/b": "read a/b: larger than 0 kB", "a/c": "open a/c: file does not exist", "a": "read a: invalid argument"} {
		_, err := ReadFile(fsys, name, 3)
		if e, ok := errors.AsType[*fs.PathError](err); !ok || err.Error() != want || e.Path != name {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
