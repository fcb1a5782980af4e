package crosscheck

import (
	"context"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// StateBuilder is an engine whose tool can export the state space that it builds.
type StateBuilder interface {
	States(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error)
}

// diagnoseTools compares the tools' state spaces with the native one, under the valuations where engines disagree.
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
				func(ctx context.Context) (*explicit.ToolSpace, error) { return tool.States(ctx, s.plan, in.valuation) })
		}
	}
}

// diagnoseModels compares the state spaces of the two models. In a sharded run only the shard with the first property does it.
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
		c.diagnose(ctx, Diagnosis{First: called[0], Second: called[1], Constants: in.check.Constants, instance: i}, in.Space, spaceTold(other.Space))
	}
}

// diagnose compares the state spaces that two functions return, and adds the diagnosis to the report.
func (c *comparison) diagnose(ctx context.Context, d Diagnosis, first func(context.Context) (*explicit.Space, error), second func(context.Context) (*explicit.ToolSpace, error)) {
	a, err := first(ctx)
	var b *explicit.ToolSpace
	if err == nil {
		b, err = second(ctx)
	}
	if err == nil {
		d.Difference, err = Diff(ctx, builtSide(d.First, a), Side{d.Second, *b})
	}
	if err != nil {
		d.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, d)
}

// spaceTold wraps the state space of another model. Labels and rewards that only one model has are not compared.
func spaceTold(space func(context.Context) (*explicit.Space, error)) func(context.Context) (*explicit.ToolSpace, error) {
	return func(ctx context.Context) (*explicit.ToolSpace, error) {
		s, err := space(ctx)
		return &explicit.ToolSpace{Space: s, AllActions: err == nil && !s.Imported()}, err
	}
}

// disagrees reports whether a row under this valuation disagrees.
func (c *comparison) disagrees(instance int) bool {
	for _, r := range c.mine {
		if r.instance == instance && r.Status == Disagree {
			return true
		}
	}
	return false
}
