// Package local is the back end of package cluster for this machine. Every shard is a process, and a
// fixed number of them runs at a time. The processes end with the driver.
package local

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"tilecheck/cluster"
)

// Local implements cluster.Backend.
type Local struct {
	tool  cluster.Tool
	slots chan struct{}
	all   sync.WaitGroup
	ctx   context.Context
	end   context.CancelFunc

	mu   sync.Mutex
	live map[cluster.TaskID]bool // true for a running task, false for a waiting one
}

var _ cluster.Backend = (*Local)(nil)

// New returns a back end that runs that many processes at a time. Close ends them.
func New(ctx context.Context, tool cluster.Tool, processes int) *Local {
	l := &Local{tool: tool, slots: make(chan struct{}, processes), live: make(map[cluster.TaskID]bool)}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

// Close kills all processes and waits for their end.
func (l *Local) Close() {
	l.end()
	l.all.Wait()
}

// Name implements cluster.Backend.
func (*Local) Name() string { return "local" }

// Detached implements cluster.Backend.
func (*Local) Detached() bool { return false }

// Lag implements cluster.Backend.
func (*Local) Lag() time.Duration { return 0 }

// Pace implements cluster.Backend.
func (*Local) Pace(elapsed time.Duration) time.Duration {
	return min(max(elapsed/20, 20*time.Millisecond), 250*time.Millisecond)
}

// Limits implements cluster.Backend: there is no limit, because a waiting task costs nothing.
func (*Local) Limits(context.Context) (int, error) { return int(^uint(0) >> 1), nil }

// Find implements cluster.Backend: processes of an earlier driver have ended with it.
func (*Local) Find(context.Context, *cluster.Round) (string, error) { return "", nil }

// Submit implements cluster.Backend.
func (l *Local) Submit(_ context.Context, r *cluster.Round) (string, error) {
	// The processes share the processors.
	threads := max(1, runtime.GOMAXPROCS(0)/cap(l.slots))
	tool, err := l.tool(r.Dir.Program(r.Job), r.Dir.Work(r.Job), "GOMAXPROCS="+strconv.Itoa(threads))
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	for i := range r.Tasks {
		id := cluster.TaskID{Round: r.Number, Task: i + 1}
		l.set(id, false)
		l.all.Go(func() {
			defer l.forget(id)
			select {
			case l.slots <- struct{}{}:
				defer func() { <-l.slots }()
			case <-l.ctx.Done():
				return
			}
			l.set(id, true)
			for _, shard := range r.Tasks[id.Task-1] {
				if l.ctx.Err() != nil {
					return
				}
				_, _ = r.Do(l.ctx, tool, id.Task, shard, cluster.Place{Host: "local"}, nil) // without a record, the task is gone
			}
		})
	}
	return strconv.Itoa(os.Getpid()), nil
}

func (l *Local) set(id cluster.TaskID, runs bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[id] = runs
}

func (l *Local) forget(id cluster.TaskID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, id)
}

// Live implements cluster.Backend.
func (l *Local) Live(_ context.Context, rounds []*cluster.Round) (cluster.Live, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	live := cluster.Live{Tasks: make(map[cluster.TaskID]bool)}
	for _, r := range rounds {
		for i := range r.Tasks {
			id := cluster.TaskID{Round: r.Number, Task: i + 1}
			if runs, ok := l.live[id]; ok {
				live.Tasks[id] = runs
			}
		}
	}
	return live, nil
}

// Cancel implements cluster.Backend. It ends all processes, because the driver has all rounds.
func (l *Local) Cancel(context.Context, []*cluster.Round) error {
	l.Close()
	return nil
}
