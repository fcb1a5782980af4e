// Package processes lets several processes work together in one directory, on one machine or on several machines that share a file system. They agree on
// their task by a file, have one lock each, and wait for the files that others write.
package processes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"tilecheck/internal/filelock"
	"tilecheck/internal/shard"
)

// Suffix returns the end of the names of the files of one of several processes, such as -2of3.
func Suffix(process shard.Part) string { return fmt.Sprintf("-%dof%d", process.Index, process.Count) }

// Unfinished is the end of the names of incomplete files.
const Unfinished = ".tmp"

// Lock opens a file, and creates it if it does not exist. It locks the file for this process until the file is closed or the process ends. The error is
// filelock.ErrLocked if another process has locked it.
func Lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := filelock.Take(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Agree writes text to the file at path if the file does not exist. It returns the content of the file, which is the text of the first process that called
// Agree. The caller compares it with its own.
func Agree(path string, process shard.Part, text []byte) (found []byte, err error) {
	tempName := path + Suffix(process) + Unfinished
	// If this process was killed after the link, both names are the same file, which others read.
	if err := os.Remove(tempName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = os.WriteFile(tempName, text, 0o666)
	if err == nil {
		if err = os.Link(tempName, path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
		err = errors.Join(err, os.Remove(tempName))
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Write replaces the file at path, which other processes read only when it is complete. It does not flush the file to the device.
func Write(path string, process shard.Part, text []byte) error {
	tempName := path + Suffix(process) + Unfinished
	if err := os.WriteFile(tempName, text, 0o666); err != nil {
		return errors.Join(err, os.Remove(tempName))
	}
	return os.Rename(tempName, path)
}

const (
	minPause = time.Millisecond // shortest and longest pause of Await
	maxPause = 200 * time.Millisecond
)

// Await calls try until it returns true or an error, or the context ends. It pauses between two calls, because try reads files that other processes write.
func Await(ctx context.Context, try func() (isDone bool, err error)) error {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if isDone, err := try(); isDone || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
