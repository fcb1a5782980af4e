//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package play

import "os"

// lock does nothing where files cannot be locked portably: two runs with one state file are the user's affair there.
func lock(*os.File) error { return nil }
