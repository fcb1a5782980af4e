package ending

import (
	"context"
	"time"
)

// patience is the time that work may continue after its context has ended. All long work polls its context, but a single step
// can take long: parsing a huge file, or multiplying two huge numbers.
const patience = 300 * time.Millisecond

// Await calls work and returns when it is done, or soon after the context has ended, with the context's error. In the latter case
// work continues in its goroutine, and the caller must not use its results.
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
