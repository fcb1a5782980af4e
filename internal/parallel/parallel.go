// Package parallel runs independent jobs on several goroutines. It does not order their results: see package inorder.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// ForEach calls job for the parts 0 to numParts-1, on up to workers goroutines and in any order. It stops at the first error or when ctx ends.
// Concurrent calls have different values of worker, from 0 to workers-1.
func ForEach(ctx context.Context, workers, numParts int, job func(worker, part int) error) error {
	var next atomic.Int64
	errs := make([]error, workers)
	run := func(worker int) {
		for {
			part := int(next.Add(1)) - 1
			if part >= numParts {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = job(worker, part)
			}
			if err != nil {
				errs[worker] = err
				next.Store(int64(numParts))
				return
			}
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < min(workers, numParts); worker++ {
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
