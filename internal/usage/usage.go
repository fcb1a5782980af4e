// Package usage has the error of what is wrong with a command line, for whoever
// finds that out.
package usage

import "fmt"

// Error says what is wrong with a command line.
type Error struct{ err error }

// Errorf formats an [Error] as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }
