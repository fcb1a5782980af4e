package inorder

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"time"
)

const (
	// window is the greatest number of jobs that are running or wait for an earlier one.
	window = 1 << 14
	// maxBatch is the greatest number of jobs in a batch.
	maxBatch = 1 << 10
	// A worker doubles the size of its next batch if a batch took less than
	// quickBatch, and halves it if a batch took longer than slowBatch.
	quickBatch = 2 * time.Millisecond
	slowBatch  = 20 * time.Millisecond
)

// Jobs describes the jobs 0 to End-1 and how they run.
type Jobs[T any] struct {
	End     int64
	Workers int // 0 means one per processor
	// Start creates a worker. It is called once in each goroutine, with a context
	// that ends when no more results are wanted.
	Start func(ctx context.Context) (Worker[T], error)
	// Take is called with the result of every job, in order and exactly once,
	// until it returns false. Calls are never concurrent.
	Take func(job int64, result *T) (more bool)
	// Tick, if not nil, is called from time to time between calls of Take.
	Tick func()
}

// Worker does jobs in one goroutine.
type Worker[T any] interface {
	// Do runs the jobs first to first+n-1. With an error it also returns the results
	// of the jobs that it finished, beginning with the first. The error of ctx means
	// that it was stopped; any other error ends the run.
	Do(ctx context.Context, first, n int64) ([]T, error)
	// Close is called when the worker is no longer needed.
	Close() error
}

// Run runs the jobs until Take returns false, all are done, or the context ends. If the context ends it returns nil, and Take has
// received all results before the first job that was not finished. The error is the first error of a worker.
func Run[T any](ctx context.Context, jobs Jobs[T]) error {
	if ctx.Err() != nil { // with AfterFunc alone, some jobs could start
		return nil
	}
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run[T]{Jobs: jobs, workers: int64(jobs.Workers)}
	r.hasSpace.L = &r.mutex
	if jobs.Workers <= 0 {
		r.workers = int64(runtime.GOMAXPROCS(0))
	}
	r.workers = max(1, min(r.workers, jobs.End))
	r.batches = make(chan batch[T], r.workers)
	r.cancel = cancel
	defer context.AfterFunc(ctx, func() { r.close(nil) })()

	var workerGroup sync.WaitGroup
	for range r.workers {
		workerGroup.Go(func() { r.work(ctx) })
	}
	go func() {
		workerGroup.Wait()
		close(r.batches)
	}()
	r.merge(outer)
	return r.failure()
}

// batch is the results of consecutive jobs: fewer than claimed if the worker was stopped.
type batch[T any] struct {
	first   int64
	results []T
}

// run is the state that the goroutines share.
type run[T any] struct {
	Jobs[T]
	workers int64
	batches chan batch[T]
	cancel  context.CancelFunc

	mutex    sync.Mutex
	hasSpace sync.Cond // signalled when numTaken grows or the run is closed
	next     int64     // the next job that a worker can claim
	numTaken int64     // Take has received the results of the jobs 0 to numTaken-1
	closed   bool      // workers can claim no more jobs
	err      error     // the first error of a worker
}

// claim returns the first and the number of the next jobs for a worker: at most maxSize jobs, and fewer near the end, so that all workers finish at
// about the same time. It waits if too many results wait for the result of an earlier job. ok is false if there are no more jobs.
func (r *run[T]) claim(maxSize int64) (firstJob, numJobs int64, ok bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for !r.closed && r.next < r.End && r.next >= r.numTaken+window {
		r.hasSpace.Wait()
	}
	if r.closed || r.next >= r.End {
		return 0, 0, false
	}
	numFree, fairShare := r.numTaken+window-r.next, (r.End-r.next)/(2*r.workers)
	numJobs = min(maxSize, numFree, max(1, fairShare))
	firstJob = r.next
	r.next += numJobs
	return firstJob, numJobs, true
}

// close ends the run: later claims fail, and the contexts of the workers end. It keeps the first error; err may be nil.
func (r *run[T]) close(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.closed = true
	if r.err == nil {
		r.err = err
	}
	r.cancel()
	r.hasSpace.Broadcast()
}

// failure returns the first error of a worker.
func (r *run[T]) failure() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.err
}

// advance records that Take has received the results of the first numTaken jobs.
func (r *run[T]) advance(numTaken int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.numTaken = numTaken
	r.hasSpace.Broadcast()
}

// work starts a worker and runs batches of jobs until there are no more jobs, or an error.
func (r *run[T]) work(ctx context.Context) {
	worker, err := r.Start(ctx)
	if err != nil {
		r.close(err)
		return
	}
	defer func() {
		if err := worker.Close(); err != nil {
			r.close(err)
		}
	}()
	for size := int64(1); ; {
		first, n, ok := r.claim(size)
		if !ok {
			return
		}
		start := time.Now()
		results, err := worker.Do(ctx, first, n)
		r.batches <- batch[T]{first, results}
		if err != nil {
			if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
				r.close(err)
			}
			return
		}
		switch duration := time.Since(start); {
		case duration < quickBatch:
			size = min(2*size, maxBatch)
		case duration > slowBatch:
			size = max(1, size/2)
		}
	}
}

// stopTimeout is the time that workers have to stop after the context has ended. A running job cannot always be interrupted: the
// search for a single move can take minutes.
const stopTimeout = 300 * time.Millisecond

// finishedBatches yields the batches until all workers have ended. After the context has ended, it waits for at most stopTimeout, and leaves the
// workers that need longer running.
func (r *run[T]) finishedBatches(ctx context.Context) iter.Seq[batch[T]] {
	return func(yield func(batch[T]) bool) {
		ended := ctx.Done()
		var timeout <-chan time.Time
		for {
			select {
			case b, open := <-r.batches:
				if !open || !yield(b) {
					return
				}
			case <-ended:
				ended, timeout = nil, time.After(stopTimeout)
			case <-timeout:
				return
			}
		}
	}
}

// merge passes the results of the batches to Take in the order of the jobs. It returns when finishedBatches ends.
func (r *run[T]) merge(ctx context.Context) {
	waiting := make(map[int64]batch[T]) // by first job
	nextJob, wantsMore := int64(0), true
	for b := range r.finishedBatches(ctx) {
		if !wantsMore {
			continue
		}
		waiting[b.first] = b
		for b, ok := waiting[nextJob]; ok && wantsMore; b, ok = waiting[nextJob] {
			delete(waiting, nextJob)
			for i := range b.results {
				if wantsMore = r.Take(b.first+int64(i), &b.results[i]); !wantsMore {
					r.close(nil)
					break
				}
			}
			nextJob += int64(len(b.results))
		}
		r.advance(nextJob)
		if r.Tick != nil {
			r.Tick()
		}
	}
}
