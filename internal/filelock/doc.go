// Package filelock locks a file for one process. The lock is advisory: it works among runs of
// tilecheck, and does not keep other programs from using the file.
package filelock

import "errors"

// ErrLocked is the error of [Take] if another process has locked the file.
var ErrLocked = errors.New("another run is using it")
