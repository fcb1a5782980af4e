package native

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/simulate"
	"tilecheck/native/stats"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
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
	plan, err := newPlan(&job)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, job: &job, plan: plan, method: method}
	for model := range plan.tasks[0].source.experiment.Models() {
		r.instance(model)
	}
	return r.verdicts, nil
}

// method checks one property of one instance of the model.
type method interface {
	check(ctx context.Context, m *compile.Model, p *simulate.Property, constants []result.Constant) result.Verdict
}

// newMethod returns the method that a job asks for.
func newMethod(job *runner.Job) (method, error) {
	if job.Method == runner.Exact {
		return nil, &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("the %s engine has no method %q yet, want ci, aci, apmc or sprt", Name, job.Method)}
	}
	m, err := stats.ParseMethod(string(job.Method))
	if err != nil {
		return nil, err
	}
	sim := &job.Simulation
	switch {
	case sim.MaxPath < 0:
		return nil, fmt.Errorf("maximum path length %d: want a positive number", sim.MaxPath)
	case sim.Workers < 0:
		return nil, fmt.Errorf("%d workers: want a positive number", sim.Workers)
	}
	return &statistical{
		progress: job.Progress,
		opt: simulate.Options{
			Params: stats.Params{
				Method: m, Width: sim.Width, Confidence: sim.Confidence, Samples: sim.Samples, Approx: sim.Approximation,
				MaxReward: sim.MaxReward, ZeroVarianceSamples: sim.MinSamples, MaxSamples: sim.MaxSamples,
			},
			MaxPath: sim.MaxPath, Seed: sim.Seed, Workers: sim.Workers,
		},
	}, nil
}

// statistical is the method of sampling paths.
type statistical struct {
	opt      simulate.Options
	progress func(runner.Progress)
}

func (s *statistical) check(ctx context.Context, m *compile.Model, p *simulate.Property, constants []result.Constant) result.Verdict {
	opt := s.opt
	if s.progress != nil {
		opt.Progress = func(sp simulate.Progress) {
			s.progress(runner.Progress{
				Property: p.Text, Constants: constants, Done: sp.Done, Target: sp.Target,
				Estimate: sp.Estimate, HalfWidth: sp.HalfWidth, Rate: sp.Rate,
			})
		}
	}
	return simulate.Check(ctx, m, p, opt).Verdict
}

// run collects the verdicts of a job.
type run struct {
	ctx      context.Context
	job      *runner.Job
	plan     *plan
	method   method
	verdicts []result.Verdict
}

// instance checks every property under one valuation of the model's constants.
func (r *run) instance(model sema.Valuation) {
	prog, m, err := r.build(model)
	for _, t := range r.plan.tasks {
		for property := range t.source.experiment.Properties(t.index) {
			constants := append(texts(model), texts(property)...)
			var v result.Verdict
			if err == nil {
				v = r.property(t, prog, m, property, constants)
			} else {
				v = result.Verdict{Err: failure(err, result.Build, r.job.File, syntax.Pos{})}
			}
			v.Property, v.Name = t.text, t.name
			v.Engine, v.Constants = Name, constants
			v.Warnings = append(r.plan.warnings[:len(r.plan.warnings):len(r.plan.warnings)], v.Warnings...)
			r.verdicts = append(r.verdicts, v)
		}
	}
}

func (r *run) build(model sema.Valuation) (*sema.Program, *compile.Model, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	prog, err := r.plan.model.Instantiate(model.Map())
	if err != nil {
		return nil, nil, err
	}
	m, err := compile.Compile(prog, compile.Options{NoFixDeadlocks: r.job.NoFixDeadlocks})
	return prog, m, err
}

// property checks one property of an instance.
func (r *run) property(t *task, prog *sema.Program, m *compile.Model, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	if err := r.ctx.Err(); err != nil {
		return result.Verdict{Err: simulate.Failure(err, t.source.file, t.pos)}
	}
	props, full, err := t.source.props.Instantiate(prog, []int{t.index}, valuation.Map())
	if err != nil {
		return result.Verdict{Err: failure(err, result.Constants, t.source.file, t.pos)}
	}
	v := r.method.check(r.ctx, m, &simulate.Property{Property: props[0], Program: full, File: t.source.file}, constants)
	var warnings []string
	for _, w := range full.Warnings {
		warnings = append(warnings, w.Error())
	}
	v.Warnings = append(warnings, v.Warnings...)
	return v
}

// failure is simulate.Failure for errors that may also be diagnostics of a
// file; those get the class given, and the first one's place.
func failure(err error, class result.Class, file string, at syntax.Pos) *result.Failure {
	if d, ok := errors.AsType[*syntax.Error](err); ok {
		return &result.Failure{Class: class, Message: d.Msg, File: d.File, Pos: d.Pos}
	}
	return simulate.Failure(err, file, at)
}

// texts returns a valuation as verdicts carry it.
func texts(v sema.Valuation) []result.Constant {
	out := make([]result.Constant, len(v))
	for i, c := range v {
		out[i] = result.Constant{Name: c.Name, Value: c.Val.String()}
	}
	return out
}
