package result

import (
	"context"
	"errors"

	"tilecheck/internal/ending"
)

// Ended returns the failure of work whose context has ended: a limit of time or of memory, or an interrupt. It is nil for
// other errors, and for none.
func Ended(err error) *Failure {
	var class Class
	switch _, full := errors.AsType[*ending.Memory](err); {
	case full:
		class = Memory
	case errors.Is(err, context.DeadlineExceeded):
		class = Timeout
	case errors.Is(err, context.Canceled):
		class = Interrupted
	default:
		return nil
	}
	return &Failure{Class: class, Message: ending.Reason(err)}
}
