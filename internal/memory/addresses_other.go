//go:build !linux

package memory

import "io"

// addresses is known on Linux only.
func addresses() (limit, used int64) { return 0, 0 }

// Supervised is false: nothing supervises this process.
func Supervised() bool { return false }

// Supervise does something on Linux only.
func Supervise(io.Writer) (code int, exhausted, ok bool) { return 0, false, false }
