package crosscheck

import (
	"context"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// StateBuilder is an engine that can tell of the states that its tool builds.
type StateBuilder interface {
	States(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.Told, error)
}

// diagnoseTools compares the tools' state spaces with ours, under the valuations
// where engines disagree.
func (c *comparison) diagnoseTools(ctx context.Context) {
	s := c.subjects[0]
	for i, in := range s.instances {
		if !c.disagrees(i) {
			continue
		}
		for _, p := range c.entries {
			tool, ok := runner.As[StateBuilder](p.Engine)
			if !ok || s.plan.Job.States != nil {
				continue
			}
			c.diagnose(ctx, Diagnosis{First: "strict check", Second: p.label, Constants: in.check.Constants, instance: i}, in.Space,
				func(ctx context.Context) (*explicit.Told, error) { return tool.States(ctx, s.plan, in.valuation) })
		}
	}
}

// diagnoseModels compares the models with each other. Of several parts the one
// with the first property does.
func (c *comparison) diagnoseModels(ctx context.Context) {
	if c.mine[0] != c.rows[0] {
		return
	}
	a, b := c.subjects[0], c.subjects[1]
	called := names(c.subjects)
	for i, in := range a.instances {
		other := b.instances[i]
		if in.check.Validity == Broken || other.check.Validity == Broken {
			continue
		}
		c.diagnose(ctx, Diagnosis{First: called[0], Second: called[1], Constants: in.check.Constants, instance: i}, in.Space, told(other.Space))
	}
}

// diagnose compares what two functions return.
func (c *comparison) diagnose(ctx context.Context, d Diagnosis, first func(context.Context) (*explicit.Space, error), second func(context.Context) (*explicit.Told, error)) {
	a, err := first(ctx)
	var b *explicit.Told
	if err == nil {
		b, err = second(ctx)
	}
	if err == nil {
		d.Difference, err = Diff(ctx, ofModel(d.First, a), Side{d.Second, *b})
	}
	if err != nil {
		d.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, d)
}

// told is the space of another model: labels and rewards that only one has are no difference.
func told(space func(context.Context) (*explicit.Space, error)) func(context.Context) (*explicit.Told, error) {
	return func(ctx context.Context) (*explicit.Told, error) {
		s, err := space(ctx)
		return &explicit.Told{Space: s, Actions: err == nil && !s.Imported()}, err
	}
}

func (c *comparison) disagrees(instance int) bool {
	for _, r := range c.mine {
		if r.instance == instance && r.Status == Disagree {
			return true
		}
	}
	return false
}
