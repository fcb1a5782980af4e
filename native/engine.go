package native

import (
	"context"
	"errors"
	"fmt"
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
	method, err := newMethod(&job)
	if err != nil {
		return nil, err
	}
	tasks, err := plan.New(&job)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, job: &job, plan: tasks}
	r.build = func(model sema.Valuation) (*sema.Program, instance, error) {
		return r.compile(method, model)
	}
	return r.all()
}

// CheckSpace is Check for a state space that is there already, one that was
// imported, say. Job.Model is not read, and the method is Exact.
func (*Engine) CheckSpace(ctx context.Context, space *explicit.Space, job runner.Job) ([]result.Verdict, error) {
	method, err := newExact(&job)
	if err != nil {
		return nil, err
	}
	tasks, err := plan.Over(space.Program().Model(), &job)
	if err != nil {
		return nil, err
	}
	in := method.over(space)
	r := &run{ctx: ctx, job: &job, plan: tasks}
	r.build = func(sema.Valuation) (*sema.Program, instance, error) { return space.Program(), in, ctx.Err() }
	return r.all()
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
	ctx      context.Context
	job      *runner.Job
	plan     *plan.Plan
	build    func(model sema.Valuation) (*sema.Program, instance, error)
	verdicts []result.Verdict
}

// all checks everything.
func (r *run) all() ([]result.Verdict, error) {
	if n := r.plan.Verdicts(); r.job.Scheduler != nil && n != 1 {
		return nil, fmt.Errorf("a scheduler is exported of one property under one valuation of the constants, found %d", n)
	}
	for model := range r.plan.Models() {
		r.instance(model)
	}
	return r.verdicts, nil
}

// instance checks every property under one valuation of the model's constants.
func (r *run) instance(model sema.Valuation) {
	prog, in, err := r.build(model)
	for _, t := range r.plan.Tasks {
		if t.Rejected != nil {
			f := failure(t.Rejected, result.TypeError, t.Source.File, t.Pos)
			r.add(t, plan.Constants(model), result.Verdict{Err: f})
			continue
		}
		for property := range t.Valuations() {
			constants := plan.Constants(model, property)
			var v result.Verdict
			if err == nil {
				v = r.property(t, prog, in, property, constants)
			} else {
				v = result.Verdict{Err: failure(err, result.Build, r.job.File, syntax.Pos{})}
			}
			r.add(t, constants, v)
		}
	}
}

// add completes a verdict.
func (r *run) add(t *plan.Task, constants []result.Constant, v result.Verdict) {
	v.Property, v.Name = t.Text, t.Name
	v.Engine, v.Constants = Name, constants
	v.Warnings = append(slices.Clip(r.plan.Warnings), v.Warnings...)
	r.verdicts = append(r.verdicts, v)
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
