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

// Jobs are the jobs 0 to End-1, and the functions that process them and their results.
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
	r.room.L = &r.mu
	if jobs.Workers <= 0 {
		r.workers = int64(runtime.GOMAXPROCS(0))
	}
	r.workers = max(1, min(r.workers, jobs.End))
	r.batches = make(chan batch[T], r.workers)
	r.cancel = cancel
	defer context.AfterFunc(ctx, func() { r.close(nil) })()

	var wg sync.WaitGroup
	for range r.workers {
		wg.Go(func() { r.work(ctx) })
	}
	go func() {
		wg.Wait()
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

	mu     sync.Mutex
	room   sync.Cond // signalled when taken grows or the run is closed
	next   int64     // the next job to hand out
	taken  int64     // all jobs below it were delivered to Take
	closed bool
	err    error // the first error of a worker
}

// claim returns the next jobs for a worker: at most size of them, and fewer
// towards the end, so that all workers finish at about the same time.
func (r *run[T]) claim(size int64) (first, n int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.closed && r.next < r.End && r.next >= r.taken+window {
		r.room.Wait()
	}
	if r.closed || r.next >= r.End {
		return 0, 0, false
	}
	n = min(size, r.taken+window-r.next, max(1, (r.End-r.next)/(2*r.workers)))
	first = r.next
	r.next += n
	return first, n, true
}

// close makes all further claims fail and cancels the workers; err may be nil.
func (r *run[T]) close(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.err == nil {
		r.err = err
	}
	r.cancel()
	r.room.Broadcast()
}

func (r *run[T]) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *run[T]) advance(taken int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = taken
	r.room.Broadcast()
}

// work runs batches until there is nothing left to claim.
func (r *run[T]) work(ctx context.Context) {
	w, err := r.Start(ctx)
	if err != nil {
		r.close(err)
		return
	}
	defer func() {
		if err := w.Close(); err != nil {
			r.close(err)
		}
	}()
	for size := int64(1); ; {
		first, n, ok := r.claim(size)
		if !ok {
			return
		}
		start := time.Now()
		results, err := w.Do(ctx, first, n)
		r.batches <- batch[T]{first, results}
		if err != nil {
			if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
				r.close(err)
			}
			return
		}
		switch d := time.Since(start); {
		case d < quickBatch:
			size = min(2*size, maxBatch)
		case d > slowBatch:
			size = max(1, size/2)
		}
	}
}

// patience is the time that workers have to stop after the context has ended. A running job cannot always be interrupted: the
// search for a single move can take minutes.
const patience = 300 * time.Millisecond

// each yields the batches until all workers have ended. After the context has ended it waits only for patience, and leaves late
// workers running.
func (r *run[T]) each(ctx context.Context) iter.Seq[batch[T]] {
	return func(yield func(batch[T]) bool) {
		ended := ctx.Done()
		var late <-chan time.Time
		for {
			select {
			case b, open := <-r.batches:
				if !open || !yield(b) {
					return
				}
			case <-ended:
				ended, late = nil, time.After(patience)
			case <-late:
				return
			}
		}
	}
}

// merge delivers the batches in order. It returns when all workers have ended or are late.
func (r *run[T]) merge(ctx context.Context) {
	early := make(map[int64]batch[T]) // by first job
	next, more := int64(0), true
	for b := range r.each(ctx) {
		if !more {
			continue
		}
		early[b.first] = b
		for b, ok := early[next]; ok && more; b, ok = early[next] {
			delete(early, next)
			for i := range b.results {
				if more = r.Take(b.first+int64(i), &b.results[i]); !more {
					r.close(nil)
					break
				}
			}
			next += int64(len(b.results))
		}
		r.advance(next)
		if r.Tick != nil {
			r.Tick()
		}
	}
}
