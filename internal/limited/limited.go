// Package limited reads whole files up to a limit. Input files may be larger than the memory, or be devices
// without an end.
package limited

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// TooLarge is the error for an input that has more bytes than this limit.
type TooLarge int64

func (l TooLarge) Error() string {
	if l >= 1<<20 {
		return fmt.Sprintf("larger than %d MB", l>>20)
	}
	return fmt.Sprintf("larger than %d kB", l>>10)
}

// Read reads r to its end. The error is TooLarge if r has more than limit bytes, or an error of r. Read reads at most limit+1 bytes, and nothing of a
// file that is larger.
func Read(r io.Reader, limit int64) ([]byte, error) {
	if size(r) > limit {
		return nil, TooLarge(limit)
	}
	text, err := readAll(io.LimitReader(r, limit+1), size(r))
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// size returns the size of r if it is a file, otherwise 0.
func size(r io.Reader) int64 {
	if file, ok := r.(fs.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// readAll does the same as io.ReadAll, but starts with a buffer for expectedSize bytes, so that it does not copy a large text while the buffer grows.
func readAll(r io.Reader, expectedSize int64) ([]byte, error) {
	text := make([]byte, 0, expectedSize+512)
	for {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, nil
		case err != nil:
			return text, err
		}
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text)/4)
		}
	}
}

// ReadFile does the same as fs.ReadFile, but returns the error TooLarge for a file with more than limit bytes. Its errors are of type *fs.PathError.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := Read(file, limit)
	if _, hasName := err.(*fs.PathError); err != nil && !hasName {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, err
}
