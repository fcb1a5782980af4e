package simulate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"tilecheck/prism/compile"
)

// fakeRunner draws samples whose Steps are their index.
type fakeRunner struct {
	forks, closed *atomic.Int64
	err           error // of Fork
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
		dst[i] = compile.Outcome{Steps: int64(first) + int64(i)}
	}
	return ctx.Err()
}

// inOrder returns a take function that checks the order of samples and stops after n.
func inOrder(t *testing.T, n int64) (take func(*compile.Outcome) bool, seen *int64) {
	seen = new(int64)
	return func(outcome *compile.Outcome) bool {
		if outcome.Steps != *seen {
			t.Errorf("sample %d came as number %d", outcome.Steps, *seen)
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
			s := &sampler{runner: r, endSample: end, workers: workers, countOutcome: take}
			if err := s.drawAll(t.Context()); err != nil || *seen != end {
				t.Errorf("%d workers: %d of %d samples, %v", workers, *seen, end, err)
			}
			if r.forks.Load() != r.closed.Load() || workers > 0 && r.forks.Load() != min(int64(workers), end) {
				t.Errorf("%d workers: %d runners, %d closed", workers, r.forks.Load(), r.closed.Load())
			}
		}
	}
}

func TestSamplerForkFails(t *testing.T) {
	r := newFake()
	r.err = errors.New("no memory")
	s := &sampler{runner: r, endSample: 100, workers: 2, countOutcome: func(*compile.Outcome) bool { return true }}
	if err := s.drawAll(t.Context()); !errors.Is(err, r.err) {
		t.Errorf("error %v", err)
	}
}
