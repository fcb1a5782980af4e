package native

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"tilecheck/internal/ending"
	"tilecheck/native/load"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// run is the check of a plan. If its context ends, await returns before it, and the run goes on in the background until it
// notices.
type run struct {
	*shared
	ctx   context.Context
	plan  *runner.Plan
	build func(model sema.Valuation) (*sema.Program, instance, error)
}

// shared is the part of a run that await reads.
type shared struct {
	mu       sync.Mutex
	left     bool // await has returned
	verdicts []result.Verdict
	kept     *incomplete // the verdict of the property that is being checked; nil if it has no value yet
}

// incomplete is a verdict that has its value and lacks something else.
type incomplete struct {
	verdict result.Verdict
	missing string // the beginning of the message that says what it lacks
}

// await runs the work of a plan. When the context ends, it returns at once, with the verdicts found so far.
func await(ctx context.Context, p *runner.Plan, work func(*run) error) ([]result.Verdict, error) {
	r := &run{ctx: ctx, plan: p, shared: &shared{}}
	if report := p.Job.Progress; report != nil {
		r.plan = p.WithOutputs(func(o *runner.Outputs) {
			o.Progress = func(p runner.Progress) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if !r.left {
					report(p)
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

// leave returns the verdicts of all properties when await returns early. Properties that were not finished have the error why.
func (r *run) leave(why error) []result.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	finished := len(r.verdicts)
	for model := range r.plan.Models() {
		for _, t := range r.plan.Tasks {
			for _, constants := range valuations(t, model) {
				finished--
				if finished < 0 {
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

// add adds a verdict to the results and reports it, unless await has returned.
func (r *run) add(t *runner.Task, constants []result.Constant, v result.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return
	}
	r.verdicts = append(r.verdicts, r.complete(t, constants, v))
	r.kept = nil
	if report := r.plan.Job.Verdict; report != nil {
		report(&r.verdicts[len(r.verdicts)-1])
	}
}

// keep stores the incomplete verdict of the property that is being checked.
func (r *run) keep(a *incomplete) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = a
}

// all checks the plan. It is an error if an output is for one property and the plan has several verdicts.
func (r *run) all() error {
	if n := r.plan.Verdicts(); n != 1 {
		switch {
		case r.plan.Job.Scheduler != nil:
			return fmt.Errorf("--export-scheduler writes the scheduler of one property under one valuation of the constants, found %d: want --select with one property, --const with one value each", n)
		case r.plan.Job.Partition != nil:
			return fmt.Errorf("a partition is that of one property under one valuation of the constants, found %d", n)
		}
	}
	return r.instances()
}

// instances checks every instance of the model and writes its certificates.
func (r *run) instances() error {
	c := r.plan.Job.Certificate
	if c != nil {
		n := 0
		for range r.plan.Models() {
			n++
		}
		if n != 1 {
			return fmt.Errorf("certificates are written of one model, found %d valuations of its constants", n)
		}
	}
	for model := range r.plan.Models() {
		in := r.instance(model)
		if b, ok := in.(*states); ok && c != nil && r.ctx.Err() == nil {
			if err := b.proofs.write(r.ctx, c); err != nil {
				return fmt.Errorf("write certificates: %w", err)
			}
		}
	}
	return nil
}

// instance checks every property under one valuation of the model's constants.
func (r *run) instance(model sema.Valuation) instance {
	prog, in, err := r.build(model)
	fresh := true
	for _, t := range r.plan.Tasks {
		for property, constants := range valuations(t, model) {
			switch {
			case t.Rejected != nil:
				r.add(t, constants, result.Verdict{Err: failure(t.Rejected, t.Class, t.Source.File, t.Pos)})
			case err != nil:
				r.add(t, constants, result.Verdict{Err: failure(err, result.Build, r.plan.Job.File, syntax.Pos{})})
			default:
				v := r.property(t, prog, in, property, constants)
				if !fresh && v.Err != nil && v.Err.Class == result.Memory && r.plan.Job.Certificate == nil && r.ctx.Err() == nil {
					// The instance keeps memory for properties that were checked before, so the check is repeated on a new one.
					in = nil
					if prog, in, err = r.build(model); err != nil {
						r.add(t, constants, result.Verdict{Err: failure(err, result.Build, r.plan.Job.File, syntax.Pos{})})
						continue
					}
					v = r.property(t, prog, in, property, constants)
				}
				fresh = false
				r.add(t, constants, v)
			}
		}
	}
	return in
}

// valuations yields the valuations of the constants of a task's property, each with all constants of the verdict. A rejected task
// has one verdict.
func valuations(t *runner.Task, model sema.Valuation) iter.Seq2[sema.Valuation, []result.Constant] {
	return func(yield func(sema.Valuation, []result.Constant) bool) {
		if t.Rejected != nil {
			yield(nil, runner.Constants(model))
			return
		}
		for property := range t.Valuations() {
			if !yield(property, runner.Constants(model, property)) {
				return
			}
		}
	}
}

// complete sets the fields of a verdict that the run knows, and adds the plan's warnings.
func (r *run) complete(t *runner.Task, constants []result.Constant, v result.Verdict) result.Verdict {
	v.Property, v.Name = t.Text, t.Name
	v.Engine, v.Constants = Name, constants
	v.Warnings = append(slices.Clip(r.plan.Warnings), v.Warnings...)
	return v
}

// compile returns the instance of the model under a valuation.
func (r *run) compile(method method, model sema.Valuation) (*sema.Program, instance, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	prog, err := r.plan.Model.Instantiate(model.Map())
	if err != nil {
		return nil, nil, err
	}
	return r.closed(method, prog)
}

// closed returns the instance of a program without parameters.
func (r *run) closed(method method, prog *sema.Program) (*sema.Program, instance, error) {
	if prog.Type == syntax.PTA {
		in, err := newTimedStates(method, prog)
		return prog, in, err
	}
	m, err := load.Compile(prog, &r.plan.Job)
	if err != nil {
		return nil, nil, err
	}
	in, err := method.instance(r.ctx, m)
	return prog, in, err
}

// property checks one property of an instance. If that takes too much memory, only this property fails.
func (r *run) property(t *runner.Task, prog *sema.Program, in instance, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	if err := r.ctx.Err(); err != nil {
		return result.Verdict{Err: failure(err, result.Other, t.Source.File, t.Pos)}
	}
	of, err := t.Instance(prog, valuation)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Constants, t.Source.File, t.Pos)}
	}
	if len(r.plan.Params) > 0 {
		if err := independent(prog, in, t, valuation); err != nil {
			return result.Verdict{Err: failure(err, result.Unsupported, t.Source.File, t.Pos)}
		}
	}
	var warnings []string
	for _, w := range of.Program.Warnings {
		warnings = append(warnings, w.Error())
	}
	ctx, done := ending.Part(r.ctx)
	defer done()
	v := in.check(ctx, &property{of, constants, func(v result.Verdict, missing string) {
		v.Warnings = slices.Concat(warnings, v.Warnings)
		r.keep(&incomplete{v, missing})
	}})
	v.Warnings = append(warnings, v.Warnings...)
	return v
}
