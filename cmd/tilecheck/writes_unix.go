//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreWriteSignals makes a pipe without a reader, and a file that may not grow, errors
// of the write instead of the end of the process. Nobody reads the signals: a
// tool that is started has them as they were.
func ignoreWriteSignals() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
