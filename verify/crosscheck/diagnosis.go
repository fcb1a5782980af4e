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

// diagnoseTools compares the state space that each tool builds with the one of the strict check, under each valuation of the constants for which
// engines disagree. It does nothing if the model is given by files of states, because no tool builds those.
func (c *comparison) diagnoseTools(ctx context.Context) {
	model := c.models[0]
	if model.plan.Job.States != nil {
		return
	}
	for i, instance := range model.instances {
		if !c.disagrees(i) {
			continue
		}
		for _, run := range c.engineRuns {
			tool, ok := runner.As[StateBuilder](run.Engine)
			if !ok {
				continue
			}
			build := func(ctx context.Context) (*explicit.ToolSpace, error) {
				return tool.States(ctx, model.plan, instance.valuation)
			}
			c.diagnose(ctx, Diagnosis{First: "strict check", Second: run.label, Constants: instance.check.Constants, instance: i}, instance.Space, build)
		}
	}
}

// diagnoseModels compares the state spaces of the two models under each valuation of the constants, except for a model that fails the strict check.
// In a sharded run only the shard with the first property does it.
func (c *comparison) diagnoseModels(ctx context.Context) {
	if c.rowsToCheck[0] != c.allRows[0] {
		return
	}
	names := modelNames(c.models)
	for i, first := range c.models[0].instances {
		second := c.models[1].instances[i]
		if first.check.Validity == Broken || second.check.Validity == Broken {
			continue
		}
		c.diagnose(ctx, Diagnosis{First: names[0], Second: names[1], Constants: first.check.Constants, instance: i}, first.Space, asToolSpace(second.Space))
	}
}

// diagnose compares the state spaces that buildFirst and buildSecond return, and adds the diagnosis to the report. If a space cannot be built or
// compared, the diagnosis gets the error.
func (c *comparison) diagnose(ctx context.Context, diagnosis Diagnosis, buildFirst func(context.Context) (*explicit.Space, error), buildSecond func(context.Context) (*explicit.ToolSpace, error)) {
	firstSpace, err := buildFirst(ctx)
	var secondSpace *explicit.ToolSpace
	if err == nil {
		secondSpace, err = buildSecond(ctx)
	}
	if err == nil {
		diagnosis.Difference, err = Diff(ctx, builtSide(diagnosis.First, firstSpace), Side{diagnosis.Second, *secondSpace})
	}
	if err != nil {
		diagnosis.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, diagnosis)
}

// asToolSpace returns a function that builds a state space with build, and returns it as if a tool had exported only some labels and rewards: those
// that only one model has are then not compared.
func asToolSpace(build func(context.Context) (*explicit.Space, error)) func(context.Context) (*explicit.ToolSpace, error) {
	return func(ctx context.Context) (*explicit.ToolSpace, error) {
		space, err := build(ctx)
		return &explicit.ToolSpace{Space: space, AllActions: err == nil && !space.Imported()}, err
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
