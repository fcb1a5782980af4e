package inorder

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake makes workers whose results are the numbers of the jobs.
type fake struct {
	started, closed atomic.Int64
	delay           func(job int64) time.Duration
	hang            int64 // the job that waits for the context to end
	broken          int64 // the job that fails
	start, close    error
}

func (f *fake) new(context.Context) (Worker[int64], error) {
	f.started.Add(1)
	return f, f.start
}

func (f *fake) Close() error {
	f.closed.Add(1)
	return f.close
}

var errBroken = errors.New("broken")

func (f *fake) Do(ctx context.Context, first, n int64) ([]int64, error) {
	var out []int64
	for job := first; job < first+n; job++ {
		switch {
		case f.hang > 0 && job == f.hang:
			<-ctx.Done()
		case f.broken > 0 && job == f.broken:
			return out, fmt.Errorf("job %d: %w", job, errBroken)
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if f.delay != nil {
			time.Sleep(f.delay(job))
		}
		out = append(out, job)
	}
	return out, nil
}

// taker returns a Take that checks the order and stops after n results.
func taker(t *testing.T, n int64) (take func(int64, *int64) bool, seen *int64) {
	seen = new(int64)
	return func(job int64, x *int64) bool {
		if *x != *seen || job != *seen {
			t.Errorf("result %d of job %d came as number %d", *x, job, *seen)
		}
		*seen++
		return *seen < n
	}, seen
}

func TestOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, end := range []int64{0, 1, 6, 100_000} {
			f := &fake{}
			take, seen := taker(t, 1<<62)
			err := Run(t.Context(), Jobs[int64]{End: end, Workers: workers, Start: f.new, Take: take})
			if err != nil || *seen != end {
				t.Errorf("%d workers: %d of %d results, %v", workers, *seen, end, err)
			}
			started := f.started.Load()
			if started != f.closed.Load() || workers > 0 && started != max(1, min(int64(workers), end)) {
				t.Errorf("%d workers, %d jobs: %d started, %d closed", workers, end, started, f.closed.Load())
			}
		}
	}
}

// One job takes longer than all the others together: the others have to wait
// for it when they are a window ahead, and nothing is lost.
func TestSlowJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int64
		f := &fake{delay: func(job int64) time.Duration {
			for {
				if old := most.Load(); job <= old || most.CompareAndSwap(old, job) {
					break
				}
			}
			if job == 3 {
				time.Sleep(time.Hour)
				if m := most.Load(); m >= 3+window+maxBatch {
					t.Errorf("job %d was done while job 3 was under way", m)
				}
			}
			return time.Microsecond
		}}
		take, seen := taker(t, 1<<62)
		err := Run(t.Context(), Jobs[int64]{End: 5 * window, Workers: 4, Start: f.new, Take: take})
		if err != nil || *seen != 5*window {
			t.Errorf("%d results, %v", *seen, err)
		}
	})
}

func TestTakeEndsRun(t *testing.T) {
	f := &fake{}
	take, seen := taker(t, 1234)
	ticks := 0
	err := Run(t.Context(), Jobs[int64]{End: 1 << 62, Workers: 3, Start: f.new, Take: take, Tick: func() { ticks++ }})
	if err != nil || *seen != 1234 || ticks == 0 {
		t.Errorf("%d results, %d ticks, %v", *seen, ticks, err)
	}
	if f.started.Load() != f.closed.Load() {
		t.Errorf("%d workers, %d closed", f.started.Load(), f.closed.Load())
	}
}

func TestContextEnds(t *testing.T) {
	f := &fake{hang: 5000}
	ctx, cancel := context.WithCancel(t.Context())
	take, seen := taker(t, 1<<62)
	err := Run(ctx, Jobs[int64]{End: 1 << 40, Workers: 4, Start: f.new, Take: func(job int64, x *int64) bool {
		if job > 100 { // the job that hangs is not among the first
			cancel()
		}
		return take(job, x)
	}})
	if err != nil || *seen == 0 || *seen > 5000 {
		t.Errorf("%d results, %v", *seen, err)
	}

	*seen = 0
	if err := Run(ctx, Jobs[int64]{End: 10, Start: f.new, Take: take}); err != nil || *seen != 0 {
		t.Errorf("after the end: %d results, %v", *seen, err)
	}
}

// Without the end of the context in between, exactly the jobs before the one
// that failed are taken by a single worker.
func TestJobFails(t *testing.T) {
	for _, workers := range []int{1, 4} {
		f := &fake{broken: 777}
		take, seen := taker(t, 1<<62)
		err := Run(t.Context(), Jobs[int64]{End: 1 << 40, Workers: workers, Start: f.new, Take: take})
		if !errors.Is(err, errBroken) || *seen > 777 || workers == 1 && *seen != 777 {
			t.Errorf("%d workers: %d results, %v", workers, *seen, err)
		}
	}
}

func TestStartAndCloseFail(t *testing.T) {
	take := func(int64, *int64) bool { return true }
	for _, f := range []*fake{{start: errBroken}, {close: errBroken}} {
		if err := Run(t.Context(), Jobs[int64]{End: 100, Workers: 2, Start: f.new, Take: take}); !errors.Is(err, errBroken) {
			t.Errorf("error %v", err)
		}
	}
}

// BenchmarkRun is what a job costs beside the job itself.
func BenchmarkRun(b *testing.B) {
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			f := &fake{}
			take := func(int64, *int64) bool { return true }
			if err := Run(b.Context(), Jobs[int64]{End: int64(b.N), Workers: workers, Start: f.new, Take: take}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// stuck does its second job for ever.
type stuck struct{ release chan struct{} }

func (s stuck) Do(_ context.Context, first, n int64) ([]int64, error) {
	if first > 0 {
		<-s.release
	}
	return []int64{first}, nil
}

func (stuck) Close() error { return nil }

// A worker that does not look at its context is not waited for.
func TestStuckWorkerIsLeft(t *testing.T) {
	s := stuck{make(chan struct{})}
	defer close(s.release)
	ctx, cancel := context.WithCancel(t.Context())
	var taken []int64
	err := Run(ctx, Jobs[int64]{
		End: 10, Workers: 2,
		Start: func(context.Context) (Worker[int64], error) { return s, nil },
		Take: func(job int64, _ *int64) bool {
			taken = append(taken, job)
			cancel()
			return true
		},
	})
	if err != nil || len(taken) != 1 || taken[0] != 0 {
		t.Errorf("took %v, error %v, want the first job", taken, err)
	}
}
