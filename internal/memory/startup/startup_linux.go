//go:build cgo

package startup

import "C" // startup_linux.c
