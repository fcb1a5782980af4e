// Package limited reads whole files of others, which may be larger than the
// memory, or devices that never end.
package limited

import (
	"fmt"
	"io"
	"io/fs"
)

// TooLarge is the error of a text with more bytes than that.
type TooLarge int64

func (l TooLarge) Error() string {
	if l >= 1<<20 {
		return fmt.Sprintf("larger than %d MB", l>>20)
	}
	return fmt.Sprintf("larger than %d kB", l>>10)
}

// Read reads all of r. The error is TooLarge when that is more than limit bytes,
// of which no more are read than one, or that of r.
func Read(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// ReadFile is fs.ReadFile with a limit. Its errors are of type *fs.PathError.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := Read(f, limit)
	if _, named := err.(*fs.PathError); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, err
}
