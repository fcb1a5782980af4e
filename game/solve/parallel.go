package solve

import (
	"context"
	"sync"
	"sync/atomic"
)

// forEach calls do for the parts 0 to n-1 on up to workers goroutines, in any order. It stops at the first error or when ctx ends. Concurrent
// calls of do have different values of worker, which are below workers.
func forEach(ctx context.Context, workers, parts int, job func(worker, part int) error) error {
	var next atomic.Int64
	errs := make([]error, workers)
	run := func(worker int) {
		for {
			part := int(next.Add(1)) - 1
			if part >= parts {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = job(worker, part)
			}
			if err != nil {
				errs[worker] = err
				next.Store(int64(parts))
				return
			}
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < min(workers, parts); worker++ {
		others.Go(func() { run(worker) })
	}
	run(0)
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
