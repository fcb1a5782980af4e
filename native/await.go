package native

import (
	"context"
	"sync"
	"time"

	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/plan"
)

// patience is how long a run may go on after its context has ended. All long
// work looks at its context, but some steps can be long themselves: to parse a
// huge file, or to multiply two huge numbers.
const patience = 300 * time.Millisecond

// shared is what a run shares with whoever waits for it: they may part.
type shared struct {
	mu       sync.Mutex
	left     bool // nobody waits any more
	plan     *plan.Plan
	verdicts []result.Verdict
}

// await runs a job, and returns soon after its context has ended, with the
// verdicts that are there. What is under way then is left to itself.
func await(ctx context.Context, job runner.Job, work func(*run) error) ([]result.Verdict, error) {
	r := &run{ctx: ctx, job: &job, shared: &shared{}}
	if tell := job.Progress; tell != nil {
		job.Progress = func(p runner.Progress) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if !r.left {
				tell(p)
			}
		}
	}
	done := make(chan error, 1)
	go func() { done <- work(r) }()
	select {
	case err := <-done:
		return r.verdicts, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return r.verdicts, err
	case <-time.After(patience):
		return r.leave()
	}
}

// leave returns the verdicts that are there, and those that are not with the
// reason why.
func (r *run) leave() ([]result.Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	why := r.ctx.Err()
	if r.plan == nil {
		return nil, why
	}
	finished := len(r.verdicts)
	for model := range r.plan.Models() {
		for _, t := range r.plan.Tasks {
			for _, constants := range valuations(t, model) {
				if finished--; finished < 0 {
					v := result.Verdict{Err: failure(why, result.Other, t.Source.File, t.Pos)}
					r.verdicts = append(r.verdicts, r.complete(t, constants, v))
				}
			}
		}
	}
	return r.verdicts, nil
}

// begin says what is to be done.
func (r *run) begin(tasks *plan.Plan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan = tasks
}

// add keeps a verdict.
func (r *run) add(t *plan.Task, constants []result.Constant, v result.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.left {
		r.verdicts = append(r.verdicts, r.complete(t, constants, v))
	}
}
