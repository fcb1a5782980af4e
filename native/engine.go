package native

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/plan"
)

// Name is what the engine calls itself.
const Name = "native"

// Engine is the embedded engine. It has no state and is safe for concurrent use.
type Engine struct{}

var _ runner.Engine = (*Engine)(nil)

// New returns the engine.
func New() *Engine { return &Engine{} }

// Name implements runner.Engine.
func (*Engine) Name() string { return Name }

// Check implements runner.Engine. Every model and properties file is checked
// as PRISM does before anything runs; the error is then a syntax.ErrorList, or
// several joined.
func (*Engine) Check(ctx context.Context, job runner.Job) ([]result.Verdict, error) {
	if job.States != nil {
		return nil, errors.New("files of states are for CheckSpace")
	}
	return await(ctx, job, func(r *run) error {
		method, err := newMethod(r.job)
		if err != nil {
			return err
		}
		tasks, err := plan.New(r.job)
		if err != nil {
			return err
		}
		r.build = func(model sema.Valuation) (*sema.Program, instance, error) {
			return r.compile(method, model)
		}
		return r.all(tasks)
	})
}

// CheckSpace is Check for a state space that is there already, one that was
// imported, say. Job.Model is not read, and the method is Exact.
func (*Engine) CheckSpace(ctx context.Context, space *explicit.Space, job runner.Job) ([]result.Verdict, error) {
	return await(ctx, job, func(r *run) error {
		method, err := newExact(r.job)
		if err != nil {
			return err
		}
		tasks, err := plan.Over(space.Program().Model(), r.job)
		if err != nil {
			return err
		}
		in := method.over(space)
		r.build = func(sema.Valuation) (*sema.Program, instance, error) { return space.Program(), in, ctx.Err() }
		return r.all(tasks)
	})
}

// method is a way to check the properties of an instance of the model.
type method interface {
	// instance prepares what all properties of an instance need. The error is
	// that of every property.
	instance(ctx context.Context, m *compile.Model, constants []result.Constant) (instance, error)
}

// instance checks one property at a time.
type instance interface {
	check(ctx context.Context, p *property, constants []result.Constant) result.Verdict
}

// property is a property to check. Program has the labels of its file, which
// File names in diagnostics.
type property struct {
	sema.Property
	program *sema.Program
	file    string
}

// newMethod returns the method that a job asks for.
func newMethod(job *runner.Job) (method, error) {
	if job.Method == "" || job.Method == runner.Exact {
		return newExact(job)
	}
	return newStatistical(job)
}

// run collects the verdicts of a job.
type run struct {
	*shared
	ctx   context.Context
	job   *runner.Job
	build func(model sema.Valuation) (*sema.Program, instance, error)
}

// all checks everything.
func (r *run) all(tasks *plan.Plan) error {
	if r.job.Scheduler != nil {
		if n := tasks.Verdicts(); n != 1 {
			return fmt.Errorf("a scheduler is exported of one property under one valuation of the constants, found %d", n)
		}
	}
	r.begin(tasks)
	for model := range tasks.Models() {
		r.instance(model)
	}
	return nil
}

// instance checks every property under one valuation of the model's constants.
func (r *run) instance(model sema.Valuation) {
	prog, in, err := r.build(model)
	for _, t := range r.plan.Tasks {
		for property, constants := range valuations(t, model) {
			switch {
			case t.Rejected != nil:
				r.add(t, constants, result.Verdict{Err: failure(t.Rejected, result.TypeError, t.Source.File, t.Pos)})
			case err != nil:
				r.add(t, constants, result.Verdict{Err: failure(err, result.Build, r.job.File, syntax.Pos{})})
			default:
				r.add(t, constants, r.property(t, prog, in, property, constants))
			}
		}
	}
}

// valuations yields those of the constants of a task's property, with all
// constants of the verdict. A task that is rejected has one.
func valuations(t *plan.Task, model sema.Valuation) iter.Seq2[sema.Valuation, []result.Constant] {
	return func(yield func(sema.Valuation, []result.Constant) bool) {
		if t.Rejected != nil {
			yield(nil, plan.Constants(model))
			return
		}
		for property := range t.Valuations() {
			if !yield(property, plan.Constants(model, property)) {
				return
			}
		}
	}
}

// complete adds what every verdict has.
func (r *run) complete(t *plan.Task, constants []result.Constant, v result.Verdict) result.Verdict {
	v.Property, v.Name = t.Text, t.Name
	v.Engine, v.Constants = Name, constants
	v.Warnings = append(slices.Clip(r.plan.Warnings), v.Warnings...)
	return v
}

// compile makes an instance of the job's model.
func (r *run) compile(method method, model sema.Valuation) (*sema.Program, instance, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	prog, err := r.plan.Model.Instantiate(model.Map())
	if err != nil {
		return nil, nil, err
	}
	m, err := compile.Compile(prog, compile.Options{NoFixDeadlocks: r.job.NoFixDeadlocks})
	if err != nil {
		return nil, nil, err
	}
	in, err := method.instance(r.ctx, m, plan.Constants(model))
	return prog, in, err
}

// property checks one property of an instance.
func (r *run) property(t *plan.Task, prog *sema.Program, in instance, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	if err := r.ctx.Err(); err != nil {
		return result.Verdict{Err: failure(err, result.Other, t.Source.File, t.Pos)}
	}
	props, full, err := t.Source.Props.Instantiate(prog, []int{t.Index}, valuation.Map())
	if err != nil {
		return result.Verdict{Err: failure(err, result.Constants, t.Source.File, t.Pos)}
	}
	v := in.check(r.ctx, &property{Property: props[0], program: full, file: t.Source.File}, constants)
	var warnings []string
	for _, w := range full.Warnings {
		warnings = append(warnings, w.Error())
	}
	v.Warnings = append(warnings, v.Warnings...)
	return v
}

// failure is check.Failure for errors that may also be diagnostics of a file;
// those get the class given, and the first one's place.
func failure(err error, class result.Class, file string, at syntax.Pos) *result.Failure {
	if d, ok := errors.AsType[*syntax.Error](err); ok {
		return &result.Failure{Class: class, Message: d.Msg, File: d.File, Pos: d.Pos}
	}
	return check.Failure(err, file, at)
}
