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

// diagnoseTools compares the state space of each tool with that of the strict check, for each valuation of the constants with a disagreement.
func (c *comparison) diagnoseTools(ctx context.Context) {
	model := c.models[0]
	if model.plan.Job.States != nil { // no tool builds the states of files
		return
	}
	for i := range model.instances {
		if !c.disagrees(i) {
			continue
		}
		for _, run := range c.engineRuns {
			c.diagnoseTool(ctx, run, i)
		}
	}
}

// diagnoseTool compares the state space that a tool builds with the state space of the strict check, for the valuation with the given index. It does
// nothing if the tool cannot export states.
func (c *comparison) diagnoseTool(ctx context.Context, run *engineRun, index int) {
	tool, exportsStates := runner.As[StateBuilder](run.Engine)
	if !exportsStates {
		return
	}
	plan, instance := c.models[0].plan, c.models[0].instances[index]
	build := func(ctx context.Context) (*explicit.ToolSpace, error) {
		return tool.States(ctx, plan, instance.valuation)
	}
	c.diagnose(ctx, Diagnosis{First: "strict check", Second: run.label, Constants: instance.strictCheck.Constants, instance: index}, instance.Space, build)
}

// diagnoseModels compares the state spaces of the two models for each valuation of the constants. It skips models that fail the strict check.
func (c *comparison) diagnoseModels(ctx context.Context) {
	if c.rowsToCheck[0] != c.allRows[0] { // only the first shard compares the models
		return
	}
	names := modelNames(c.models)
	for i, first := range c.models[0].instances {
		second := c.models[1].instances[i]
		if first.strictCheck.Validity == Broken || second.strictCheck.Validity == Broken {
			continue
		}
		c.diagnose(ctx, Diagnosis{First: names[0], Second: names[1], Constants: first.strictCheck.Constants, instance: i}, first.Space, asToolSpace(second.Space))
	}
}

// diagnose compares the state spaces that buildFirst and buildSecond return. It adds the diagnosis, or its error, to the report.
func (c *comparison) diagnose(ctx context.Context, diagnosis Diagnosis, buildFirst func(context.Context) (*explicit.Space, error), buildSecond func(context.Context) (*explicit.ToolSpace, error)) {
	firstSpace, err := buildFirst(ctx)
	var secondSpace *explicit.ToolSpace
	if err == nil {
		secondSpace, err = buildSecond(ctx)
	}
	if err == nil {
		diagnosis.Difference, err = Diff(ctx, builtSpace(diagnosis.First, firstSpace), NamedSpace{diagnosis.Second, *secondSpace})
	}
	if err != nil {
		diagnosis.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, diagnosis)
}

// asToolSpace returns a function that builds a state space with build. The result does not claim to have all labels and rewards. A label or reward
// that only one model has is therefore not compared.
func asToolSpace(build func(context.Context) (*explicit.Space, error)) func(context.Context) (*explicit.ToolSpace, error) {
	return func(ctx context.Context) (*explicit.ToolSpace, error) {
		space, err := build(ctx)
		return &explicit.ToolSpace{Space: space, AllActions: err == nil && !space.Imported()}, err
	}
}

// disagrees reports whether the engines disagree about a property of the instance with this index.
func (c *comparison) disagrees(instance int) bool {
	for _, row := range c.rowsToCheck {
		if row.instance == instance && row.Status == Disagree {
			return true
		}
	}
	return false
}
