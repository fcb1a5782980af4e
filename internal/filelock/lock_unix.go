//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take has the file for this process alone until it is closed or the process
// ends, however it ends. It does not wait: the error is ErrLocked when another
// process has it. Where the system or the file system cannot lock, nothing
// happens, and two runs with one file are the user's affair.
func Take(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrLocked
	case errors.Is(err, syscall.ENOTSUP):
		return nil
	}
	return err
}
