//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package filelock

import "os"

// Take does nothing where files cannot be locked: two runs with one file are
// the user's affair there.
func Take(*os.File) error { return nil }
