package simulate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tilecheck/prism/compile"
)

// fakeRunner draws samples whose Steps are their index.
type fakeRunner struct {
	forks, closed *atomic.Int64
	delay         func(index uint64) time.Duration
	err           error // of Fork
	hang          uint64
}

func newFake() *fakeRunner { return &fakeRunner{forks: new(atomic.Int64), closed: new(atomic.Int64)} }

func (r *fakeRunner) Name() string                       { return "fake" }
func (r *fakeRunner) Run(compile.Stream) compile.Outcome { return compile.Outcome{} }

func (r *fakeRunner) Fork() (compile.BatchRunner, error) {
	r.forks.Add(1)
	return r, r.err
}

func (r *fakeRunner) Close() error {
	r.closed.Add(1)
	return nil
}

func (r *fakeRunner) RunBatch(ctx context.Context, _, first uint64, dst []compile.Outcome) error {
	for i := range dst {
		index := first + uint64(i)
		if r.hang > 0 && index == r.hang {
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.delay != nil {
			time.Sleep(r.delay(index))
		}
		dst[i] = compile.Outcome{Steps: int64(index)}
	}
	return nil
}

// inOrder returns a take function that checks the order of samples and stops after n.
func inOrder(t *testing.T, n int64) (take func(*compile.Outcome) bool, seen *int64) {
	seen = new(int64)
	return func(o *compile.Outcome) bool {
		if o.Steps != *seen {
			t.Errorf("sample %d came as number %d", o.Steps, *seen)
		}
		*seen++
		return *seen < n
	}, seen
}

func TestSamplerOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, end := range []int64{1, 6, 100_000} {
			r := newFake()
			take, seen := inOrder(t, 1<<62)
			s := &sampler{runner: r, end: end, workers: workers, take: take}
			if err := s.run(t.Context()); err != nil || *seen != end {
				t.Errorf("%d workers: %d of %d samples, %v", workers, *seen, end, err)
			}
			if r.forks.Load() != r.closed.Load() || workers > 0 && r.forks.Load() != min(int64(workers), end) {
				t.Errorf("%d workers: %d runners, %d closed", workers, r.forks.Load(), r.closed.Load())
			}
		}
	}
}

// One sample takes longer than all the others together: the others have to
// wait for it when they are a window ahead, and nothing is lost.
func TestSamplerSlowSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFake()
		var most atomic.Uint64
		r.delay = func(i uint64) time.Duration {
			for {
				if old := most.Load(); i <= old || most.CompareAndSwap(old, i) {
					break
				}
			}
			if i == 3 {
				time.Sleep(time.Hour)
				if m := most.Load(); m >= 3+window+maxBatch {
					t.Errorf("sample %d was drawn while sample 3 was under way", m)
				}
			}
			return time.Microsecond
		}
		take, seen := inOrder(t, 1<<62)
		s := &sampler{runner: r, end: 5 * window, workers: 4, take: take}
		if err := s.run(t.Context()); err != nil || *seen != 5*window {
			t.Errorf("%d samples, %v", *seen, err)
		}
	})
}

func TestSamplerStops(t *testing.T) {
	r := newFake()
	take, seen := inOrder(t, 1234)
	ticks := 0
	s := &sampler{runner: r, end: 1 << 62, workers: 3, take: take, tick: func() { ticks++ }}
	if err := s.run(t.Context()); err != nil || *seen != 1234 || ticks == 0 {
		t.Errorf("%d samples, %d ticks, %v", *seen, ticks, err)
	}
	if r.forks.Load() != r.closed.Load() {
		t.Errorf("%d runners, %d closed", r.forks.Load(), r.closed.Load())
	}
}

func TestSamplerCancelled(t *testing.T) {
	r := newFake()
	r.hang = 5000
	ctx, cancel := context.WithCancel(t.Context())
	take, seen := inOrder(t, 1<<62)
	s := &sampler{runner: r, end: 1 << 40, workers: 4, take: func(o *compile.Outcome) bool {
		if o.Steps > 100 { // the sample that hangs is not among the first
			cancel()
		}
		return take(o)
	}}
	if err := s.run(ctx); err != nil || *seen == 0 || *seen > 5000 {
		t.Errorf("%d samples, %v", *seen, err)
	}
}

func TestSamplerForkFails(t *testing.T) {
	r := newFake()
	r.err = errors.New("no memory")
	s := &sampler{runner: r, end: 100, workers: 2, take: func(*compile.Outcome) bool { return true }}
	if err := s.run(t.Context()); !errors.Is(err, r.err) {
		t.Errorf("error %v", err)
	}
}
