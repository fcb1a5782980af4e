package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// abandoned is the age from which on a temporary file belongs to no process: a process that still writes changes it.
const abandoned = time.Minute

// Sweep removes the temporary files that killed processes left in a directory, and returns their names, also with an error. It keeps files that
// were changed within the last minute.
func Sweep(dir string) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, entry := range entries {
		info, err := entry.Info()
		if !IsPart(entry.Name()) || err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < abandoned {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		switch err := os.Remove(name); {
		case err == nil:
			removed = append(removed, name)
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

// IsPart reports whether a name is one of a temporary file of this package.
func IsPart(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, partEnd)
}
