// Package tempdir creates temporary directories that are always removed: by
// their owner, when the process has to exit at once, or by
// [Sweep] after a process was killed.
package tempdir
