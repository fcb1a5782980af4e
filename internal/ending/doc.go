// Package ending defines the reasons why work ends early: a signal, a
// time limit or a memory limit. Its contexts return the reason as their Err, so that a caller that returns
// ctx.Err() gives the user an understandable message instead of
// "context canceled".
//
// It also records cleanup for a process that has to exit at
// once: ending the processes that it started, and removing temporary files and
// directories. cmd/tilecheck handles the signals and exits.
package ending
