package native

import (
	"context"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Load reads a job's model and compiles it under the values that the job gives
// to its undefined constants. There must be one valuation: a range of several
// values is refused. The warnings are about the definitions; diagnostics of the
// file are a syntax.ErrorList.
func Load(ctx context.Context, job runner.Job) (m *compile.Model, warnings []string, err error) {
	p, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	values, err := runner.Single(p.Models())
	if err != nil {
		return nil, nil, err
	}
	m, err = instantiate(p, values)
	if err != nil {
		return nil, nil, err
	}
	warnings = p.Warnings
	for _, w := range m.Program().Warnings {
		warnings = append(warnings, w.Error())
	}
	return m, warnings, nil
}

// Build builds the states of a plan's model under a valuation of its constants,
// as Check does.
func (*Engine) Build(ctx context.Context, p *runner.Plan, v sema.Valuation) (*explicit.Space, error) {
	x, err := newExact(p)
	if err != nil {
		return nil, err
	}
	m, err := instantiate(p, v)
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, m, x.build)
}

// instantiate compiles a plan's model.
func instantiate(p *runner.Plan, v sema.Valuation) (*compile.Model, error) {
	prog, err := p.Model.Instantiate(v.Map())
	if err != nil {
		return nil, err
	}
	return compile.Compile(prog, compile.Options{NoFixDeadlocks: p.Job.NoFixDeadlocks})
}
