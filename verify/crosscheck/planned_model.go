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
	strictCheck        ModelCheck
}

// newPlannedModel returns the model of a plan with an instance for each valuation of the constants. Its parameters are the two results of
// [runner.NewPlan] or [runner.PlanModel]; an error is returned unchanged.
func newPlannedModel(plan *runner.Plan, err error) (*plannedModel, error) {
	if err != nil {
		return nil, err
	}
	model := &plannedModel{plan: plan}
	for valuation := range plan.Models() {
		model.instances = append(model.instances, &instance{
			valuation: valuation, strictCheck: ModelCheck{Model: plan.Job.File, Constants: runner.Constants(valuation)},
		})
	}
	return model, nil
}

// checkInstances runs the strict check on every instance of the model. If there are several instances, it frees their state spaces.
func (m *plannedModel) checkInstances(ctx context.Context, options *Options) {
	for _, instance := range m.instances {
		instance.runStrictCheck(ctx, m.plan, options)
		if len(m.instances) > 1 { // a diagnosis builds the state space again
			instance.Forget()
		}
	}
}

// runStrictCheck runs the strict check of the instance.
func (in *instance) runStrictCheck(ctx context.Context, plan *runner.Plan, options *Options) {
	limits := validity.Limits{MaxStates: options.MaxStates, NoDeadlocks: options.NoDeadlocks}
	in.Instance = options.Checker.Instance(ctx, plan, in.valuation, limits)
	in.strictCheck = in.Check
}

// space returns the state space of the instance. Its weights are fractions if exact is true, and float64 numbers otherwise.
func (in *instance) space(ctx context.Context, exact bool) (*explicit.Space, error) {
	if exact {
		return in.Exact(ctx)
	}
	return in.Space(ctx)
}

// question returns the facts about a property that decide whether two answers agree: its operator and bound, and whether its value may depend on a scheduler.
func (in *instance) question(task *runner.Task, valuation sema.Valuation, constants []result.Constant) agree.Question {
	question := agree.QuestionAbout(task.Property.X, constants)
	if in.Program == nil || task.Rejected != nil {
		return question
	}
	isMarkovChain := in.Program.Type == syntax.DTMC || in.Program.Type == syntax.CTMC
	if !isMarkovChain {
		question.Choices, question.NoChoices = !in.strictCheck.Deterministic, in.strictCheck.Deterministic
	}
	property, err := task.Instance(in.Program, valuation)
	if err != nil {
		return question
	}
	objective, err := simulate.NewObjective(&property, simulate.DefaultMaxPath)
	if err != nil { // the samples may not be independent paths, so no statistical test is possible
		question.Operator, question.Bound = 0, math.NaN()
		return question
	}
	question.Rel, question.Bound = objective.Rel, objective.Bound
	return question
}
