package ending

import (
	"context"
	"time"
)

// patience is how long work may go on after its context has ended. All long
// work looks at its context, but some steps can be long themselves: to parse a
// huge file, or to multiply two huge numbers.
const patience = 300 * time.Millisecond

// Await does work and returns when it is done, or soon after the context has
// ended, with the reason. What is under way then is left to itself: what it still
// writes is no longer its caller's.
func Await(ctx context.Context, work func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		return ctx.Err()
	}
}
