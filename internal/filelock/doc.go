// Package filelock keeps a file for one process. It is advice among runs of
// tilecheck, not protection from other programs, and works on open files only.
package filelock

import "errors"

// ErrLocked is the error of [Take] when another process has the file.
var ErrLocked = errors.New("another run is using it")
