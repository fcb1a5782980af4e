package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Set writes files that belong together: all of them, or none. Add writes each file to a temporary one beside it,
// and Commit renames these when all are complete. The zero value is an empty set.
type Set struct {
	// OnExit is that of WriteWithExitHook; nil if the process does not end early.
	OnExit func(remove func()) (done func())
	// Stale lists files of an older set that the new one does not have. Commit removes them.
	Stale []string

	parts []completePart
	paths []string // of the parts, as the caller names them
}

// Add calls write with a buffered writer and keeps what it wrote for Commit. Files that Write does not replace, such
// as devices, are written at once. It returns the same errors as Write.
func (s *Set) Add(path string, write func(io.Writer) error) error {
	target, err := targetOf(path)
	if err == nil && target.method != byRename {
		return WriteWithExitHook(path, s.OnExit, write)
	}
	var added completePart
	if err == nil {
		added, err = target.part(s.OnExit, write)
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	s.parts, s.paths = append(s.parts, added), append(s.paths, path)
	return nil
}

// Discard removes what was written since the last Commit. After a Commit it does nothing.
func (s *Set) Discard() error {
	var errs []error
	for _, written := range s.parts {
		errs = append(errs, cause(os.Remove(written.name)))
		written.removeHook()
	}
	s.parts, s.paths = nil, nil
	return errors.Join(errs...)
}

// Commit renames the temporary files to their final names. If the process is killed between two renames, some files are of the old set and some
// of the new set. For this case, each of the names has a marker file while Commit runs. Torn finds the marker, and the next Commit
// for the name removes it.
func (s *Set) Commit(names ...string) error {
	for _, name := range names {
		if err := os.WriteFile(markerOf(name), []byte(markerText), 0o666); err != nil {
			return errors.Join(fmt.Errorf("write %q: %w", name, cause(err)), s.Discard())
		}
	}
	for len(s.parts) > 0 {
		first, path := s.parts[0], s.paths[0]
		if err := first.rename(); err != nil {
			return errors.Join(fmt.Errorf("write %q: %w", path, err), s.Discard())
		}
		first.removeHook()
		s.parts, s.paths = s.parts[1:], s.paths[1:]
	}
	var errs []error
	for _, path := range s.Stale {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, name := range names {
		errs = append(errs, os.Remove(markerOf(name)))
	}
	return errors.Join(errs...)
}

// markerText is what a marker says to people.
const markerText = "A command was killed when it had replaced some of the files of this name, and not all of them: write them again.\n"

// markerOf returns the name of the marker of a set of files.
func markerOf(name string) string {
	dir, base := filepath.Split(name)
	return dir + "." + base + ".tilecheck-torn"
}

// Torn returns an error if a process was killed when Commit had replaced some files of a set but not all. name is one of the names that Commit got.
func Torn(name string) error {
	marker := markerOf(name)
	if _, err := os.Lstat(marker); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s: some of these files are of another model: a command was killed when it replaced them; write them again, or remove %s", name, marker)
}
