package containers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// refused is an error of a writer that output was copied to.
type refused struct{ err error }

func (r *refused) Error() string { return "write output: " + r.err.Error() }
func (r *refused) Unwrap() error { return r.err }

// demultiplex copies Docker's stream of frames to its two outputs until the
// stream ends. It holds no frame in memory and passes on what there is of a
// frame that is cut, which is io.ErrUnexpectedEOF; stdcopy.StdCopy drops it and
// returns nil.
//
// Source: Docker Engine API, ContainerAttach, "Stream format".
func demultiplex(stdout, stderr io.Writer, stream io.Reader) error {
	var head [8]byte
	for {
		if _, err := io.ReadFull(stream, head[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		size := int64(binary.BigEndian.Uint32(head[4:]))
		var to io.Writer
		switch head[0] {
		case 0, 1:
			to = stdout
		case 2:
			to = stderr
		case 3: // the engine's own message
			text, err := io.ReadAll(io.LimitReader(stream, min(size, 64<<10)))
			return errors.Join(fmt.Errorf("message in the output: %q", text), err)
		default:
			return fmt.Errorf("unknown stream %d in the output", head[0])
		}
		if err := copyFrame(to, stream, size); err != nil {
			return err
		}
	}
}

func copyFrame(to io.Writer, from io.Reader, size int64) error {
	w := &checkedWriter{to: to}
	n, err := io.CopyN(w, from, size)
	switch {
	case w.err != nil:
		return &refused{w.err}
	case errors.Is(err, io.EOF) && n < size:
		return io.ErrUnexpectedEOF
	}
	return err
}

// checkedWriter remembers the error of a writer, to tell it from one of the
// reader. A nil writer discards.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	if w.to == nil {
		return len(p), nil
	}
	n, err := w.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
	return n, err
}
