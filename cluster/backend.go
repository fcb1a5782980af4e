package cluster

import (
	"context"
	"time"

	"tilecheck/cluster/settings"
)

// Backend is where tasks run.
type Backend interface {
	// Name is that of the command: "slurm".
	Name() string
	// Limits asks how many tasks a round may have.
	Limits(ctx context.Context) (maxTasks int, err error)
	// Submit starts a round, and returns what people find it under there. What is
	// wrong with an error that is a *Refused is not going to change.
	Submit(ctx context.Context, r *Round) (handle string, err error)
	// Find returns the handle of a round that was submitted by a driver that did not
	// live to see it, empty if there is none.
	Find(ctx context.Context, r *Round) (handle string, err error)
	// Live returns the tasks of rounds that wait or run. An error says that it is
	// not known.
	Live(ctx context.Context, rounds []*Round) (Live, error)
	// Cancel ends all tasks of rounds.
	Cancel(ctx context.Context, rounds []*Round) error
	// Detached reports whether tasks go on without a driver.
	Detached() bool
	// Lag is how long what a task has written may take to be seen here.
	Lag() time.Duration
	// Pace is how long to wait before it is asked again, after so much time.
	Pace(elapsed time.Duration) time.Duration
}

// Live are the tasks of rounds that a back end still has.
type Live struct {
	Tasks   map[TaskID]bool   // true if it runs, false if it waits
	Waiting string            // why tasks wait, if there is a word for it
	Ended   map[TaskID]string // why tasks ended that are not there, as far as it is known
}

// TaskID is a task of a round, both from 1.
type TaskID struct{ Round, Task int }

// Refused is the error of a round that a back end does not take.
type Refused struct{ Msg string }

func (e *Refused) Error() string { return e.Msg }

// Round is a number of shards that are submitted together. Its files are there
// before it is submitted.
type Round struct {
	Number   int               `json:"number"` // from 1
	Tasks    [][]int           `json:"tasks"`  // the shards of each
	Handle   string            `json:"handle,omitzero"`
	Name     string            `json:"-"` // of its own among all rounds of all jobs
	Job      *Job              `json:"-"`
	Settings settings.Settings `json:"-"`
	Dir      Dir               `json:"-"`
}

// Task returns the task that has a shard, 0 if none does.
func (r *Round) Task(shard int) int {
	for i, shards := range r.Tasks {
		for _, s := range shards {
			if s == shard {
				return i + 1
			}
		}
	}
	return 0
}
