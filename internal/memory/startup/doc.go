// Package startup ends a program with exit code 4 and one line if the limit of its address space (ulimit -v) is too low for
// the Go runtime. Otherwise the runtime would end the program itself, with a stack trace and exit code 2, before it
// initialises the first package. So the check is a C function that runs before the runtime starts.
//
// If standard output is closed, the package makes writing to it fail. Otherwise the Go runtime would open /dev/null in its place, and results would be lost
// without an error.
//
// A program imports the package for these effects only. The package does nothing without cgo, and on systems other than Linux.
package startup
