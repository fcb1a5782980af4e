// Package atomicfile writes a file completely or not at all: [Write] fills a
// temporary file beside the target and renames it into place; [Check] says
// before long work whether that is going to succeed. It is not a
// general file package: no appending, no locking, no backups.
package atomicfile
