package load

import (
	"context"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// Model reads a job's model and compiles it under the values that the job gives to its undefined constants. There must be one
// valuation: a range of several values is refused. The warnings are about the definitions; diagnostics of the file are a
// syntax.ErrorList.
func Model(ctx context.Context, job runner.Job) (m *compile.Model, warnings []string, err error) {
	p, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	if m, err = single(p); err != nil {
		return nil, nil, err
	}
	warnings = p.Warnings
	for _, w := range m.Program().Warnings {
		warnings = append(warnings, w.Error())
	}
	return m, warnings, nil
}

// Space returns the states of a plan's model under the one valuation of its constants.
func Space(ctx context.Context, p *runner.Plan) (*explicit.Space, error) {
	opts := Options(&p.Job)
	if p.Job.States != nil {
		return explicit.SpaceOf(ctx, p.Job.States, explicit.StrictIf(opts.Exact))
	}
	m, err := single(p)
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, m, opts)
}

// Properties returns the states of a plan's model, as Space does, and its properties under every valuation of their constants.
func Properties(ctx context.Context, p *runner.Plan) (*explicit.Space, []runner.Instance, error) {
	space, err := Space(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	var out []runner.Instance
	for _, t := range p.Tasks {
		if t.Rejected != nil {
			continue
		}
		for v := range t.Valuations() {
			in, err := t.Instance(space.Program(), v)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, in)
		}
	}
	return space, out, nil
}

// Options returns the options of the exploration that a job asks for.
func Options(job *runner.Job) explicit.Options {
	num := &job.Numeric
	exact := num.Accuracy == result.Exact
	return explicit.Options{
		MaxStates: num.MaxStates, MaxMemory: num.MaxMemory, Workers: num.Workers,
		NoFixDeadlocks: job.NoFixDeadlocks, Progress: job.Progress,
		Exact: exact || num.Fractions || num.Reduce, Normalise: num.Reduce && !exact,
	}
}

// single compiles a plan's model under the one valuation of its constants.
func single(p *runner.Plan) (*compile.Model, error) {
	v, err := runner.Single(p.Models())
	if err != nil {
		return nil, err
	}
	return Instance(p, v)
}

// Instance compiles a plan's model under a valuation of its constants.
func Instance(p *runner.Plan, v sema.Valuation) (*compile.Model, error) {
	program, err := p.Model.Instantiate(v.Map())
	if err != nil {
		return nil, err
	}
	return Compile(program, &p.Job)
}

// Compile compiles a program as a job wants it.
func Compile(program *sema.Program, job *runner.Job) (*compile.Model, error) {
	return compile.Compile(program, compile.Options{NoFixDeadlocks: job.NoFixDeadlocks})
}

// Fractions builds the states of a model with fractions. If the model has none, it builds them with float64 numbers
// only, and inexact is the reason.
func Fractions(ctx context.Context, m *compile.Model, opts explicit.Options) (space *explicit.Space, inexact, err error) {
	exact := opts
	exact.Exact = true
	space, inexact = explicit.Build(ctx, m, exact)
	if inexact == nil || ctx.Err() != nil || opts.Exact {
		return space, nil, inexact
	}
	space, err = explicit.Build(ctx, m, opts)
	return space, inexact, err
}
