package simulate

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"tilecheck/prism/compile"
)

const (
	// window is how many samples may be under way or wait for an earlier one.
	window = 1 << 14
	// maxBatch is the number of samples that a worker takes at most at a time.
	maxBatch = 1 << 10
	// A worker takes twice as many samples next time if a batch took less than
	// quickBatch, and half as many if it took longer than slowBatch. How samples
	// are divided into batches has no influence on any result.
	quickBatch = 2 * time.Millisecond
	slowBatch  = 20 * time.Millisecond
)

// batch is the outcomes of consecutive samples.
type batch struct {
	first    int64
	outcomes []compile.Outcome
}

// feed hands out sample indices to workers.
type feed struct {
	mu      sync.Mutex
	room    sync.Cond // signalled when taken grows or stopped is set
	next    int64     // the next index to hand out
	end     int64     // no index from here on is handed out
	taken   int64     // every sample below has been consumed
	stopped bool
	workers int64
	err     error // the first error of a worker
}

// claim returns the next samples for a worker: at most size of them, and fewer
// towards the end, so that all workers finish at about the same time.
func (f *feed) claim(size int64) (first, n int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.stopped && f.next < f.end && f.next >= f.taken+window {
		f.room.Wait()
	}
	if f.stopped || f.next >= f.end {
		return 0, 0, false
	}
	n = min(size, f.taken+window-f.next, max(1, (f.end-f.next)/(2*f.workers)))
	first = f.next
	f.next += n
	return first, n, true
}

// stop makes every further claim fail; err may be nil.
func (f *feed) stop(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	if err != nil && f.err == nil {
		f.err = err
	}
	f.room.Broadcast()
}

func (f *feed) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *feed) consumed(taken int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = taken
	f.room.Broadcast()
}

// sampler draws the samples 0 to end-1 of one runner.
type sampler struct {
	runner  compile.BatchRunner
	seed    uint64
	end     int64
	workers int // 0 means one per processor
	// take is given every outcome in the order of the samples, each exactly
	// once, until it returns false.
	take func(*compile.Outcome) (more bool)
	// tick, when not nil, is called now and then between calls of take.
	tick func()
}

// run draws samples until take returns false, all are drawn or the context is
// cancelled. In the last case take has been given all samples that were
// finished up to the first one that was not. The error is that of a runner.
func (s *sampler) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &feed{end: s.end, workers: int64(s.workers)}
	f.room.L = &f.mu
	if s.workers <= 0 {
		f.workers = int64(runtime.GOMAXPROCS(0))
	}
	f.workers = max(1, min(f.workers, s.end))
	defer context.AfterFunc(ctx, func() { f.stop(nil) })()

	batches := make(chan batch, f.workers)
	var wg sync.WaitGroup
	for range f.workers {
		wg.Go(func() { s.work(ctx, f, batches) })
	}
	go func() {
		wg.Wait()
		close(batches)
	}()
	s.merge(f, batches, cancel)
	return f.failure()
}

// work draws batches until there is nothing to claim.
func (s *sampler) work(ctx context.Context, f *feed, batches chan<- batch) {
	r, err := s.runner.Fork()
	if err != nil {
		f.stop(err)
		return
	}
	defer func() {
		if err := r.Close(); err != nil {
			f.stop(err)
		}
	}()
	for size := int64(1); ; {
		first, n, ok := f.claim(size)
		if !ok {
			return
		}
		out := make([]compile.Outcome, n)
		start := time.Now()
		if err := r.RunBatch(ctx, s.seed, uint64(first), out); err != nil {
			if !errors.Is(err, ctx.Err()) {
				f.stop(err)
			}
			return
		}
		batches <- batch{first, out}
		switch d := time.Since(start); {
		case d < quickBatch:
			size = min(2*size, maxBatch)
		case d > slowBatch:
			size = max(1, size/2)
		}
	}
}

// merge puts the batches into order. It returns when all workers have ended.
func (s *sampler) merge(f *feed, batches <-chan batch, cancel context.CancelFunc) {
	early := make(map[int64]batch) // by first sample
	next, more := int64(0), true
	for b := range batches {
		if !more {
			continue
		}
		early[b.first] = b
		for b, ok := early[next]; ok && more; b, ok = early[next] {
			delete(early, next)
			for i := range b.outcomes {
				if more = s.take(&b.outcomes[i]); !more {
					cancel()
					break
				}
			}
			next += int64(len(b.outcomes))
		}
		f.consumed(next)
		if s.tick != nil {
			s.tick()
		}
	}
}
