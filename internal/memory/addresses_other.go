//go:build !linux

package memory

import "io"

// addresses returns 0, because this package reads the address space on Linux only.
func addresses() (limit, used int64) { return 0, 0 }

// Supervised returns false, because there is no supervisor on this system.
func Supervised() bool { return false }

// Supervise does nothing on this system.
func Supervise(io.Writer) (code int, exhausted, ok bool) { return 0, false, false }
