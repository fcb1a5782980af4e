//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take locks an open file for this process until the file is closed or the process ends. It does not wait: the error is ErrLocked if
// another process has locked it. On a system or file system without locks it does nothing, and the user must not
// run two processes with one file.
func Take(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrLocked
	case errors.Is(err, syscall.ENOTSUP):
		return nil
	}
	return err
}
