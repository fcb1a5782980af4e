//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreWriteSignals makes writing to a pipe without a reader, or to a file that is too large, an
// error of the write instead of a signal that ends the process. It catches the signals instead of
// ignoring them, because a tool that is started would inherit an ignored signal.
func ignoreWriteSignals() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
