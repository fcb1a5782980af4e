package cluster

import (
	"context"
	"time"

	"tilecheck/cluster/settings"
)

// Backend submits and watches tasks on a cluster or on this machine.
type Backend interface {
	// Name returns the name of the back end, which is also the name of its command: "slurm".
	Name() string
	// Limits returns the largest number of tasks in a round.
	Limits(ctx context.Context) (maxTasks int, err error)
	// Submit starts a round and returns the name by which people find it there. If the error is a *Refused, another attempt would fail in the
	// same way.
	Submit(ctx context.Context, r *Round) (handle string, err error)
	// Find returns the handle of a round that a driver submitted before it was killed, empty if the round was not submitted.
	Find(ctx context.Context, r *Round) (handle string, err error)
	// Live returns the waiting and running tasks of rounds. After an error the tasks are unknown.
	Live(ctx context.Context, rounds []*Round) (Live, error)
	// Cancel ends all tasks of rounds.
	Cancel(ctx context.Context, rounds []*Round) error
	// Detached reports whether tasks continue without a driver.
	Detached() bool
	// Lag returns how long it may take until this process sees the files that a task has written.
	Lag() time.Duration
	// Pace returns the pause before the next call of Live, given the time since the driver started to wait.
	Pace(elapsed time.Duration) time.Duration
}

// Live has the tasks of rounds that a back end still has.
type Live struct {
	Tasks   map[TaskID]bool   // true for a running task, false for a waiting one
	Waiting string            // why tasks wait, if the back end says it
	Ended   map[TaskID]string // why tasks ended, for tasks whose reason is known
}

// TaskID identifies a task by the numbers of its round and of the task, both from 1.
type TaskID struct{ Round, Task int }

// Refused is the error for a round that a back end does not accept.
type Refused struct{ Msg string }

func (e *Refused) Error() string { return e.Msg }

// Round is a number of shards that are submitted together. Its files are written before it is submitted.
type Round struct {
	Number   int               `json:"number"` // from 1
	Tasks    [][]int           `json:"tasks"`  // the shards of each task
	Handle   string            `json:"handle,omitzero"`
	Name     string            `json:"-"` // unique among the rounds of all jobs
	Job      *Job              `json:"-"`
	Settings settings.Settings `json:"-"`
	Dir      Dir               `json:"-"`
}

// Task returns the number of the task with a shard, 0 if there is none.
func (r *Round) Task(shard int) int {
	for i, shards := range r.Tasks {
		for _, current := range shards {
			if current == shard {
				return i + 1
			}
		}
	}
	return 0
}
