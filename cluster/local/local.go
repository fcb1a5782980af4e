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
	"tilecheck/runner"
)

// Local implements cluster.Backend.
type Local struct {
	tool  cluster.Tool
	slots chan struct{}  // a running task holds one element
	tasks sync.WaitGroup // the goroutines of the tasks
	ctx   context.Context
	end   context.CancelFunc

	mu   sync.Mutex
	live map[cluster.TaskID]bool // true for a running task, false for a waiting one
}

var _ cluster.Backend = (*Local)(nil)

// New returns a back end that runs at most numProcesses processes at a time. Close ends them.
func New(ctx context.Context, tool cluster.Tool, numProcesses int) *Local {
	l := &Local{tool: tool, slots: make(chan struct{}, numProcesses), live: make(map[cluster.TaskID]bool)}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

// Close kills all processes and waits for their end.
func (l *Local) Close() {
	l.end()
	l.tasks.Wait()
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

// Submit implements cluster.Backend. It starts a goroutine for each task, which waits for a slot and then runs the shards of the task one after the
// other.
func (l *Local) Submit(_ context.Context, round *cluster.Round) (string, error) {
	// The processes share the processors.
	threads := max(1, runtime.GOMAXPROCS(0)/cap(l.slots))
	tool, err := l.tool(round.Dir.Program(round.Job), round.Dir.Work(round.Job), "GOMAXPROCS="+strconv.Itoa(threads))
	if err != nil {
		return "", &cluster.Refused{Msg: err.Error()}
	}
	for i := range round.Tasks {
		id := cluster.TaskID{Round: round.Number, Task: i + 1}
		l.set(id, false)
		l.tasks.Go(func() {
			defer l.forget(id)
			select {
			case l.slots <- struct{}{}:
				defer func() { <-l.slots }()
			case <-l.ctx.Done():
				return
			}
			l.set(id, true)
			l.runTask(round, tool, id.Task)
		})
	}
	return strconv.Itoa(os.Getpid()), nil
}

// runTask runs the shards of a task of the round, until the context ends. It ignores errors, because the driver notices a shard without a record.
func (l *Local) runTask(round *cluster.Round, tool runner.Commander, task int) {
	for _, shard := range round.Tasks[task-1] {
		if l.ctx.Err() != nil {
			return
		}
		_, _ = round.Do(l.ctx, tool, task, shard, cluster.Place{Host: "local"}, nil)
	}
}

// set records that a task runs, or that it waits.
func (l *Local) set(id cluster.TaskID, isRunning bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[id] = isRunning
}

// forget records that a task has ended.
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
	for _, round := range rounds {
		for i := range round.Tasks {
			id := cluster.TaskID{Round: round.Number, Task: i + 1}
			if isRunning, ok := l.live[id]; ok {
				live.Tasks[id] = isRunning
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
