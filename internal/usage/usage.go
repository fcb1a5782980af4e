// Package usage has the error for an invalid command line, for whoever
// finds that out.
package usage

import "fmt"

// Error describes a mistake in a command line.
type Error struct{ err error }

// Errorf formats an [Error] as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }
