package load

import (
	"context"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/symmetry"
	"tilecheck/result"
	"tilecheck/runner"
)

// Model reads and compiles a job's model. A constant with several values is an error. The warnings are about the
// definitions of the model. If the text is wrong, the error is a syntax.ErrorList.
func Model(ctx context.Context, job runner.Job) (compiled *compile.Model, warnings []string, err error) {
	plan, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	return PlannedModel(plan)
}

// PlannedModel compiles the model of a plan. It also returns the warnings about the plan and the model. It is an error if the constants of the model
// have several valuations.
func PlannedModel(plan *runner.Plan) (compiled *compile.Model, warnings []string, err error) {
	compiled, err = onlyInstance(plan)
	if err != nil {
		return nil, nil, err
	}
	warnings = plan.Warnings
	for _, warning := range compiled.Program().Warnings {
		warnings = append(warnings, warning.Error())
	}
	return compiled, warnings, nil
}

// Space returns the state space of a plan's model. It is an error if the model's constants have several valuations.
func Space(ctx context.Context, plan *runner.Plan) (*explicit.Space, error) {
	opts := Options(&plan.Job)
	if plan.Job.States != nil {
		return explicit.SpaceOf(ctx, plan.Job.States, explicit.FractionsFor(opts.Exact, opts.Normalise))
	}
	compiled, err := onlyInstance(plan)
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, compiled, opts)
}

// Properties returns the state space of a plan's model, and the plan's properties for every valuation of their
// constants. It omits rejected properties.
func Properties(ctx context.Context, plan *runner.Plan) (*explicit.Space, []runner.Instance, error) {
	space, err := Space(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	instances, err := plannedInstances(plan, space.Program())
	return space, instances, err
}

// QuotientProperties returns the states of a plan's model up to a symmetry, with fractions, and the plan's properties like [Properties]. reduction returns the
// symmetry for a program, which is not checked.
func QuotientProperties(ctx context.Context, plan *runner.Plan, reduction func(program *sema.Program) ([]symmetry.Class, []symmetry.Permutation, error)) (*explicit.Space, []runner.Instance, error) {
	compiled, err := onlyInstance(plan)
	if err != nil {
		return nil, nil, err
	}
	options := Options(&plan.Job)
	options.Exact = true
	if options.Symmetry, options.Permutations, err = reduction(compiled.Program()); err != nil {
		return nil, nil, err
	}
	space, err := explicit.Build(ctx, compiled, options)
	if err != nil {
		return nil, nil, err
	}
	instances, err := plannedInstances(plan, space.Program())
	return space, instances, err
}

// plannedInstances returns the plan's properties for each valuation of their constants. It omits rejected properties.
func plannedInstances(plan *runner.Plan, program *sema.Program) ([]runner.Instance, error) {
	var instances []runner.Instance
	for _, task := range plan.Tasks {
		if task.Rejected != nil {
			continue
		}
		for valuation := range task.Valuations() {
			instance, err := task.Instance(program, valuation)
			if err != nil {
				return nil, err
			}
			instances = append(instances, instance)
		}
	}
	return instances, nil
}

// Options returns the options for exploring the states of a job's model.
func Options(job *runner.Job) explicit.Options {
	numeric := &job.Numeric
	exact := numeric.Accuracy == result.Exact
	return explicit.Options{
		MaxStates: numeric.MaxStates, MaxMemory: numeric.MaxMemory, Workers: numeric.Workers,
		NoFixDeadlocks: job.NoFixDeadlocks, Progress: job.Progress,
		Exact:     exact || numeric.Fractions || numeric.Reduce,
		Normalise: numeric.Reduce && !exact,
	}
}

// onlyInstance compiles a plan's model. The error says so if the model's constants have several valuations.
func onlyInstance(plan *runner.Plan) (*compile.Model, error) {
	program, err := Program(plan)
	if err != nil {
		return nil, err
	}
	return Compile(program, &plan.Job)
}

// Program returns a plan's model with the values of its constants. It is an error if the constants have several valuations.
func Program(plan *runner.Plan) (*sema.Program, error) {
	valuation, err := runner.Single(plan.Models())
	if err != nil {
		return nil, err
	}
	return plan.Model.Instantiate(valuation.Map())
}

// Instance compiles a plan's model with values for its constants.
func Instance(plan *runner.Plan, v sema.Valuation) (*compile.Model, error) {
	program, err := plan.Model.Instantiate(v.Map())
	if err != nil {
		return nil, err
	}
	return Compile(program, &plan.Job)
}

// Compile compiles a program with the job's treatment of deadlocks.
func Compile(program *sema.Program, job *runner.Job) (*compile.Model, error) {
	return compile.Compile(program, compile.Options{NoFixDeadlocks: job.NoFixDeadlocks})
}

// Fractions builds the state space of a model with fractions as weights. If this fails and opts.Exact is false, inexactErr is the reason, and the space
// has float64 weights. If opts.Exact is true, the failure is an error.
func Fractions(ctx context.Context, compiled *compile.Model, opts explicit.Options) (space *explicit.Space, inexactErr, err error) {
	withFractions := opts
	withFractions.Exact = true
	space, err = explicit.Build(ctx, compiled, withFractions)
	if err == nil || opts.Exact || ctx.Err() != nil {
		return space, nil, err
	}
	inexactErr = err
	space, err = explicit.Build(ctx, compiled, opts)
	return space, inexactErr, err
}
