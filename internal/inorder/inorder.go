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
	// window is how many jobs may be under way or wait for an earlier one.
	window = 1 << 14
	// maxBatch is the number of jobs that a worker takes at most at a time.
	maxBatch = 1 << 10
	// A worker takes twice as many jobs next time if a batch took less than
	// quickBatch, and half as many if it took longer than slowBatch.
	quickBatch = 2 * time.Millisecond
	slowBatch  = 20 * time.Millisecond
)

// Jobs are the jobs 0 to End-1, and what is done with their results.
type Jobs[T any] struct {
	End     int64
	Workers int // 0 means one per processor
	// Start makes a worker. It is called once in each goroutine, with a context
	// that ends when no more results are wanted.
	Start func(ctx context.Context) (Worker[T], error)
	// Take is given the result of every job in their order, each exactly once,
	// until it returns false. It is not called by several goroutines at a time.
	Take func(job int64, result *T) (more bool)
	// Tick, when not nil, is called now and then between calls of Take.
	Tick func()
}

// Worker does jobs in one goroutine.
type Worker[T any] interface {
	// Do does the jobs first to first+n-1. With an error it returns the results
	// of as many jobs as it finished, from the first on. The error of ctx says
	// that it was told to stop, any other one ends the run.
	Do(ctx context.Context, first, n int64) ([]T, error)
	// Close is called when the worker is not needed any more.
	Close() error
}

// Run does the jobs until Take returns false, all are done or the context ends.
// In the last case it returns nil, and Take has been given all results up to
// the first one that was not finished. The error is the first of a worker.
func Run[T any](ctx context.Context, jobs Jobs[T]) error {
	if ctx.Err() != nil { // AfterFunc would let some jobs begin
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

// batch is the results of consecutive jobs; fewer than were claimed when a
// worker was stopped.
type batch[T any] struct {
	first   int64
	results []T
}

// run is what goroutines share.
type run[T any] struct {
	Jobs[T]
	workers int64
	batches chan batch[T]
	cancel  context.CancelFunc

	mu     sync.Mutex
	room   sync.Cond // signalled when taken grows or the run is closed
	next   int64     // the next job to hand out
	taken  int64     // every job below has been taken
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

// close makes every further claim fail and tells the workers; err may be nil.
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

// work does batches until there is nothing to claim.
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

// patience is how long workers may take to end after the context has. A job that
// is under way is not always one that can be told: the search for one move may
// take minutes.
const patience = 300 * time.Millisecond

// each yields the batches until all workers have ended, or some have not although
// the context has. Those are left to themselves.
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

// merge puts the batches into order. It returns when all workers have ended, or
// are late.
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
