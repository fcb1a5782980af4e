package tempdir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/internal/filelock"
)

const (
	// prefix is the prefix of the names of all directories.
	prefix = "tilecheck-"
	// ownerName is a file in each directory that its owner keeps locked.
	ownerName = ".tilecheck-owner"
	// minAge is the least age of a directory that Sweep removes: the owner of a
	// younger one may not have locked it yet.
	minAge = 5 * time.Second
)

// Make creates a directory. It returns its name and the function that removes it.
func Make(ctx context.Context) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", prefix)
	if err != nil {
		return "", nil, err
	}
	forget := ending.OnExit(ctx, func() { _ = os.RemoveAll(dir) })
	owner, err := own(dir)
	if err != nil {
		forget()
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error {
		defer forget()
		// Close the file first, because some systems cannot remove open files.
		return errors.Join(owner.Close(), os.RemoveAll(dir))
	}, nil
}

// own creates and locks the owner file of a directory.
func own(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Take(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Sweep removes the directories whose owners were killed, and returns their names, also with an error. It keeps the directories of
// running processes.
func Sweep() (removed []string, err error) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, dir := range found {
		if !abandoned(dir) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}

// abandoned reports whether a directory was made by this package and its owner has ended.
func abandoned(dir string) bool {
	name := filepath.Join(dir, ownerName)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < minAge {
		return false
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil { // it belongs to another user
		return false
	}
	free := filelock.Take(f) == nil
	err = f.Close()
	return free && err == nil
}
