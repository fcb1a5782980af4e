//go:build unix && !linux

package local

import "syscall"

// follow does nothing: this system cannot end a process together with another one.
func follow(*syscall.SysProcAttr) {}
