package result

import (
	"context"
	"errors"

	"tilecheck/internal/ending"
)

// Ended returns the failure of work whose context has ended: a limit of time or of memory, or an interrupt. It is nil for
// other errors.
func Ended(err error) *Failure {
	f := &Failure{Message: ending.Reason(err)}
	if _, full := errors.AsType[*ending.Memory](err); full {
		f.Class = Memory
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Class = Timeout
	case errors.Is(err, context.Canceled):
		f.Class = Interrupted
	default:
		return nil
	}
	return f
}
