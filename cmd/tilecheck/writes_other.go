//go:build !unix

package main

// ignoreWriteSignals does nothing: on this system a failed write returns an error and sends no signal.
func ignoreWriteSignals() {}
