package crosscheck

import (
	"context"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// StateBuilder is an engine that can export the state space that its tool builds.
type StateBuilder interface {
	States(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error)
}

// diagnoseTools compares the state spaces of the tools with the native one, for each valuation of the constants where engines disagree.
func (c *comparison) diagnoseTools(ctx context.Context) {
	model := c.models[0]
	for i, instance := range model.instances {
		if !c.disagrees(i) {
			continue
		}
		for _, run := range c.engineRuns {
			tool, ok := runner.As[StateBuilder](run.Engine)
			if !ok || model.plan.Job.States != nil {
				continue
			}
			c.diagnose(ctx, Diagnosis{First: "strict check", Second: run.label, Constants: instance.check.Constants, instance: i}, instance.Space,
				func(ctx context.Context) (*explicit.ToolSpace, error) {
					return tool.States(ctx, model.plan, instance.valuation)
				})
		}
	}
}

// diagnoseModels compares the state spaces of the two models. In a sharded run only the shard with the first property does it.
func (c *comparison) diagnoseModels(ctx context.Context) {
	if c.rowsToCheck[0] != c.allRows[0] {
		return
	}
	reference, compared := c.models[0], c.models[1]
	labels := modelNames(c.models)
	for i, instance := range reference.instances {
		other := compared.instances[i]
		if instance.check.Validity == Broken || other.check.Validity == Broken {
			continue
		}
		c.diagnose(ctx, Diagnosis{First: labels[0], Second: labels[1], Constants: instance.check.Constants, instance: i}, instance.Space, asToolSpace(other.Space))
	}
}

// diagnose compares the state spaces that two functions return, and adds the diagnosis to the report.
func (c *comparison) diagnose(ctx context.Context, diagnosis Diagnosis, first func(context.Context) (*explicit.Space, error), second func(context.Context) (*explicit.ToolSpace, error)) {
	firstSpace, err := first(ctx)
	var secondSpace *explicit.ToolSpace
	if err == nil {
		secondSpace, err = second(ctx)
	}
	if err == nil {
		diagnosis.Difference, err = Diff(ctx, builtSide(diagnosis.First, firstSpace), Side{diagnosis.Second, *secondSpace})
	}
	if err != nil {
		diagnosis.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, diagnosis)
}

// asToolSpace converts a function that returns the state space of another model to one that returns it as a tool's. Labels and rewards that only
// one model has are then not compared.
func asToolSpace(space func(context.Context) (*explicit.Space, error)) func(context.Context) (*explicit.ToolSpace, error) {
	return func(ctx context.Context) (*explicit.ToolSpace, error) {
		built, err := space(ctx)
		return &explicit.ToolSpace{Space: built, AllActions: err == nil && !built.Imported()}, err
	}
}

// disagrees reports whether engines disagree about a property under this valuation.
func (c *comparison) disagrees(instance int) bool {
	for _, row := range c.rowsToCheck {
		if row.instance == instance && row.Status == Disagree {
			return true
		}
	}
	return false
}
