package native

import (
	"context"
	"sync"

	"tilecheck/internal/ending"
	"tilecheck/result"
	"tilecheck/runner"
)

// shared is what a run shares with whoever waits for it: they may part.
type shared struct {
	mu       sync.Mutex
	left     bool // nobody waits any more
	verdicts []result.Verdict
	kept     *incomplete // to the property that is being checked; nil before it is there
}

// incomplete is a verdict that lacks something that was asked for besides its value.
type incomplete struct {
	verdict result.Verdict
	missing string // begins the message
}

// await runs a plan, and returns soon after its context has ended, with the
// verdicts that are there.
func await(ctx context.Context, p *runner.Plan, work func(*run) error) ([]result.Verdict, error) {
	r := &run{ctx: ctx, plan: p, shared: &shared{}}
	if tell := p.Job.Progress; tell != nil {
		r.plan = p.WithOutputs(func(o *runner.Outputs) {
			o.Progress = func(p runner.Progress) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if !r.left {
					tell(p)
				}
			}
		})
	}
	var failure error
	if err := ending.Await(ctx, func() { failure = work(r) }); err != nil {
		return r.leave(err), nil
	}
	return r.verdicts, failure
}

// leave returns the verdicts that are there, and those that are not with the
// reason why.
func (r *run) leave(why error) []result.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	finished := len(r.verdicts)
	for model := range r.plan.Models() {
		for _, t := range r.plan.Tasks {
			for _, constants := range valuations(t, model) {
				if finished--; finished < 0 {
					v := result.Verdict{Err: failure(why, result.Other, t.Source.File, t.Pos)}
					if r.kept != nil {
						v = unfinished(r.kept.verdict, r.kept.missing, v.Err)
						r.kept = nil
					}
					r.verdicts = append(r.verdicts, r.complete(t, constants, v))
				}
			}
		}
	}
	return r.verdicts
}

// add keeps a verdict.
func (r *run) add(t *runner.Task, constants []result.Constant, v result.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return
	}
	r.verdicts, r.kept = append(r.verdicts, r.complete(t, constants, v)), nil
	if report := r.plan.Job.Verdict; report != nil {
		report(&r.verdicts[len(r.verdicts)-1])
	}
}

// keep keeps the answer to the property that is being checked.
func (r *run) keep(a *incomplete) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = a
}
