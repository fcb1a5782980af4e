package result

import (
	"context"
	"errors"

	"tilecheck/internal/ending"
)

// Ended returns the failure of work that a limit of time or memory or an interrupt ended; nil for other errors.
func Ended(err error) *Failure {
	var class Class
	switch _, isMemory := errors.AsType[*ending.Memory](err); {
	case isMemory:
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
