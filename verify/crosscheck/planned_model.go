package crosscheck

import (
	"context"
	"math"

	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/verify/validity"
)

// DefaultMaxStates is the default number of states that the strict check explores.
const DefaultMaxStates = 5_000_000

// plannedModel is a model to check with its properties and the valuations of its constants.
type plannedModel struct {
	plan      *runner.Plan
	instances []*instance
}

// instance is a model under one valuation of its constants.
type instance struct {
	*validity.Instance // nil before the strict check
	valuation          sema.Valuation
	check              ModelCheck
}

// newPlannedModel returns the model of a plan. Its parameters are the two results of making a plan: if err is not nil, it returns err.
func newPlannedModel(plan *runner.Plan, err error) (*plannedModel, error) {
	if err != nil {
		return nil, err
	}
	model := &plannedModel{plan: plan}
	for valuation := range plan.Models() {
		model.instances = append(model.instances, &instance{
			valuation: valuation, check: ModelCheck{Model: plan.Job.File, Constants: runner.Constants(valuation)},
		})
	}
	return model, nil
}

// checkInstances runs the strict check on every instance of the model. If there are several, it frees their state spaces to save memory; a
// diagnosis then builds them again.
func (s *plannedModel) checkInstances(ctx context.Context, opt *Options) {
	for _, instance := range s.instances {
		instance.runStrictCheck(ctx, s.plan, opt)
		if len(s.instances) > 1 {
			instance.Forget()
		}
	}
}

// runStrictCheck runs the strict check of the instance.
func (in *instance) runStrictCheck(ctx context.Context, plan *runner.Plan, opt *Options) {
	limits := validity.Limits{MaxStates: opt.MaxStates, NoDeadlocks: opt.NoDeadlocks}
	in.Instance = opt.Checker.Instance(ctx, plan, in.valuation, limits)
	in.check = in.Check
}

// space returns the state space; with fractions if exact is true.
func (in *instance) space(ctx context.Context, exact bool) (*explicit.Space, error) {
	if exact {
		return in.Exact(ctx)
	}
	return in.Space(ctx)
}

// question returns what a property asks under a valuation of the constants: its operator, its bound, and whether schedulers matter.
func (in *instance) question(task *runner.Task, valuation sema.Valuation, constants []result.Constant) agree.Question {
	question := agree.About(task.Property.X, constants)
	if in.Program == nil || task.Rejected != nil {
		return question
	}
	switch in.Program.Type {
	case syntax.DTMC, syntax.CTMC:
	default:
		question.Choices, question.NoChoices = !in.check.Deterministic, in.check.Deterministic
	}
	property, err := task.Instance(in.Program, valuation)
	if err != nil {
		return question
	}
	objective, err := simulate.NewObjective(&property, simulate.DefaultMaxPath)
	if err != nil { // its samples may not be independent paths, so there is no statistical test
		question.Operator, question.Bound = 0, math.NaN()
		return question
	}
	question.Rel, question.Bound = objective.Rel, objective.Bound
	return question
}
