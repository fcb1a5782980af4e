//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package play

import (
	"errors"
	"os"
	"syscall"
)

// lock has the file for this process alone until it is closed or the process ends, however it ends.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another run is using it")
	} else if err != nil && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
