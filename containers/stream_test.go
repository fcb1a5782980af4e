package containers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func frame(stream byte, text string) []byte {
	head := [8]byte{0: stream}
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return append(head[:], text...)
}

func TestDemultiplex(t *testing.T) {
	whole := bytes.Join([][]byte{frame(1, "out1 "), frame(2, "err1 "), frame(1, ""), frame(0, "out2"), frame(2, "err2")}, nil)
	for _, c := range []struct {
		name     string
		stream   []byte
		out, err string
		want     error
	}{
		{"whole", whole, "out1 out2", "err1 err2", nil},
		{"empty", nil, "", "", nil},
		{"cut in a frame", whole[:8+3], "out", "", io.ErrUnexpectedEOF},
		{"cut behind a header", whole[:8], "", "", io.ErrUnexpectedEOF},
		{"cut in a header", whole[:8+5+2], "out1 ", "", io.ErrUnexpectedEOF},
		{"cut at a frame", whole[:8+5], "out1 ", "", nil}, // what the exit status is asked for
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.stream), iotest.OneByteReader(bytes.NewReader(c.stream)), iotest.DataErrReader(bytes.NewReader(c.stream))} {
			var out, err bytes.Buffer
			got := demultiplex(&out, &err, r)
			if !errors.Is(got, c.want) || (got == nil) != (c.want == nil) || out.String() != c.out || err.String() != c.err {
				t.Errorf("%s: %q, %q, %v; want %q, %q, %v", c.name, out.String(), err.String(), got, c.out, c.err, c.want)
			}
		}
	}
}

func TestDemultiplexErrors(t *testing.T) {
	var refusal *writeError
	if err := demultiplex(fullWriter{}, nil, bytes.NewReader(frame(1, "x"))); !errors.As(err, &refusal) || !errors.Is(err, errFull) {
		t.Errorf("of a writer: %v", err)
	}
	if err := demultiplex(nil, nil, bytes.NewReader(frame(1, "x"))); err != nil {
		t.Errorf("without writers: %v", err)
	}
	for _, stream := range [][]byte{frame(3, "the engine failed"), frame(9, "x"), []byte("HTTP/1.1 500 Internal Server Error")} {
		if err := demultiplex(io.Discard, io.Discard, bytes.NewReader(stream)); err == nil || errors.As(err, &refusal) {
			t.Errorf("of %q: %v", stream, err)
		}
	}
}

// FuzzDemultiplex: no stream makes it panic, or print more than it was given.
func FuzzDemultiplex(f *testing.F) {
	f.Add(frame(1, "out"))
	f.Add(frame(3, "message"))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'})
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out, err bytes.Buffer
		_ = demultiplex(&out, &err, bytes.NewReader(stream))
		if out.Len()+err.Len() > len(stream) {
			t.Errorf("%d bytes became %d", len(stream), out.Len()+err.Len())
		}
	})
}
