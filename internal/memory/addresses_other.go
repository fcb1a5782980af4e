//go:build !linux

package memory

// addresses is known on Linux only.
func addresses() (limit, used int64) { return 0, 0 }

// SpareAddresses does something on Linux only.
func SpareAddresses() {}
