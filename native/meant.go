package native

import (
	"context"
	"errors"

	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Meant returns the states of a job's model, with fractions, and its properties as they
// are translated into certificates. There must be one valuation of the model's constants.
func (e *Engine) Meant(ctx context.Context, job runner.Job) (*explicit.Space, []*prove.Property, error) {
	p, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	var models []sema.Valuation
	for v := range p.Models() {
		if models = append(models, v); len(models) > 1 {
			return nil, nil, errors.New("the constants have several values, want one of each")
		}
	}
	m, err := instantiate(p, models[0])
	if err != nil {
		return nil, nil, err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{Exact: true})
	if err != nil {
		return nil, nil, err
	}
	var out []*prove.Property
	for _, t := range p.Tasks {
		if t.Rejected != nil {
			continue // which no claim answers
		}
		for v := range t.Valuations() {
			props, full, err := t.Source.Props.Instantiate(m.Program(), []int{t.Index}, v.Map())
			if err != nil {
				return nil, nil, err
			}
			out = append(out, &prove.Property{Property: props[0], Program: full, File: t.Source.File})
		}
	}
	return space, out, nil
}
