package containers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// writeError is an error of the writer that output was copied to.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write output: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// demultiplex copies Docker's stream of frames to two outputs until the stream
// ends. It does not buffer frames. For a truncated frame it writes the bytes that
// arrived and returns io.ErrUnexpectedEOF; stdcopy.StdCopy would drop the bytes and
// return nil.
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
		var writer io.Writer
		switch head[0] { // the number of the stream
		case 0, 1:
			writer = stdout
		case 2:
			writer = stderr
		case 3: // the engine's own message
			const maxMessage = 64 << 10
			text, err := io.ReadAll(io.LimitReader(stream, min(size, maxMessage)))
			return errors.Join(fmt.Errorf("message in the output: %q", text), err)
		default:
			return fmt.Errorf("unknown stream %d in the output", head[0])
		}
		if err := copyFrame(writer, stream, size); err != nil {
			return err
		}
	}
}

// copyFrame copies a frame of size bytes to the writer. An error of the writer is returned as a *writeError.
func copyFrame(writer io.Writer, reader io.Reader, size int64) error {
	checked := &checkedWriter{to: writer}
	copied, err := io.CopyN(checked, reader, size)
	switch {
	case checked.err != nil:
		return &writeError{checked.err}
	case errors.Is(err, io.EOF) && copied < size:
		return io.ErrUnexpectedEOF
	}
	return err
}

// checkedWriter keeps the error of a writer, to distinguish it from an error of the
// reader. It discards everything if the writer is nil.
type checkedWriter struct {
	to  io.Writer
	err error
}

func (w *checkedWriter) Write(data []byte) (int, error) {
	if w.to == nil {
		return len(data), nil
	}
	written, err := w.to.Write(data)
	if err == nil && written < len(data) {
		err = io.ErrShortWrite
	}
	w.err = err
	return written, err
}
