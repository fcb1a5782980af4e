// Package local is this machine as a back end of package cluster: every shard is
// a process, and so many run at a time. They end with the driver.
package local

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"tilecheck/cluster"
	"tilecheck/runner"
)

// Local is a back end.
type Local struct {
	tool  Tool
	slots chan struct{}
	all   sync.WaitGroup
	ctx   context.Context
	end   context.CancelFunc

	mu   sync.Mutex
	live map[cluster.TaskID]bool // true if it runs
}

var _ cluster.Backend = (*Local)(nil)

// Tool returns a program that runs in a directory, with more environment.
type Tool func(program, dir string, env ...string) (runner.Commander, error)

// New returns this machine with so many processes at a time. Close ends them.
func New(ctx context.Context, tool Tool, processes int) *Local {
	l := &Local{tool: tool, slots: make(chan struct{}, processes), live: make(map[cluster.TaskID]bool)}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

// Close ends all processes, and returns when they have ended.
func (l *Local) Close() {
	l.end()
	l.all.Wait()
}

// Name implements cluster.Backend.
func (*Local) Name() string { return "local" }

// Detached implements cluster.Backend.
func (*Local) Detached() bool { return false }

// Pace implements cluster.Backend.
func (*Local) Pace(elapsed time.Duration) time.Duration {
	return min(max(elapsed/20, 20*time.Millisecond), 250*time.Millisecond)
}

// Limits implements cluster.Backend: a process costs nothing until it is started.
func (*Local) Limits(context.Context) (int, error) { return int(^uint(0) >> 1), nil }

// Find implements cluster.Backend: what a driver that is gone had started is gone with it.
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
				l.run(tool, r, id.Task, strconv.Itoa(shard))
			}
		})
	}
	return strconv.Itoa(os.Getpid()), nil
}

// run does one shard. What goes wrong is in its record, or there is none.
func (l *Local) run(tool runner.Commander, r *cluster.Round, task int, shard string) {
	log, err := os.OpenFile(r.Dir.Log(r.Number, strconv.Itoa(task)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return
	}
	defer log.Close()
	exit, err := tool.Run(l.ctx, runner.Command{Args: r.Job.Args(shard, r.Dir.Part(shard)), Stdout: log, Stderr: log})
	if l.ctx.Err() != nil {
		return
	}
	if err != nil {
		fmt.Fprintln(log, "tilecheck:", err)
		exit.Code = cmp.Or(exit.Code, 1)
	}
	record := fmt.Sprintf("%d %.0f local 0\n", exit.Code, exit.Elapsed.Seconds())
	_ = os.WriteFile(r.Dir.Run(r.Number, shard), []byte(record), 0o666) // without it the task is gone
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

// Cancel implements cluster.Backend. There is but one driver, with all rounds.
func (l *Local) Cancel(context.Context, []*cluster.Round) error {
	l.Close()
	return nil
}
