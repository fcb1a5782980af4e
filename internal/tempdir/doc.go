// Package tempdir makes temporary directories that are never left behind: they go
// with their owner, with the process if it has to end at once, and with
// [Sweep] after a process that was killed.
package tempdir
