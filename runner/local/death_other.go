//go:build unix && !linux

package local

import "syscall"

// follow does nothing where a process cannot be told to end with another.
func follow(*syscall.SysProcAttr) {}
