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
	// prefix is what the names of all directories begin with.
	prefix = "tilecheck-"
	// ownerName is the file in a directory that its owner keeps locked.
	ownerName = ".tilecheck-owner"
	// settled is the age from which on a directory without an owner has lost it:
	// younger ones may be about to get it.
	settled = 5 * time.Second
)

// Make makes a directory and returns its name, and what removes it.
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
		// Closed first: some systems do not remove open files.
		return errors.Join(owner.Close(), os.RemoveAll(dir))
	}, nil
}

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

// Sweep removes the directories whose owners were killed, and returns their names,
// also beside an error. Those of processes that live are theirs.
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

// abandoned reports whether a directory is one of ours whose owner is gone.
func abandoned(dir string) bool {
	name := filepath.Join(dir, ownerName)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < settled {
		return false
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil { // of another user
		return false
	}
	free := filelock.Take(f) == nil
	err = f.Close()
	return free && err == nil
}
