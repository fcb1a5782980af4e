package native

import (
	"context"
	"errors"

	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Name is the name of the engine.
const Name = "native"

// Engine is the embedded engine. It has no state and is safe for concurrent use.
type Engine struct{}

var _ runner.Engine = (*Engine)(nil)

// New returns the engine.
func New() *Engine { return &Engine{} }

// Name implements runner.Engine.
func (*Engine) Name() string { return Name }

// Check implements runner.Engine. It checks every property of a plan. The states come from files if the job has
// them, and otherwise from the model.
func (*Engine) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	return await(ctx, plan, (*run).checkByMethod)
}

// checkByMethod checks every property of the plan with the method that the job selects.
func (run *run) checkByMethod() error {
	if err := run.composeAutomata(); err != nil {
		return err
	}
	method, err := newMethod(run.plan)
	switch {
	case err != nil:
		return err
	case len(run.plan.Params) > 0:
		return run.parametric(method)
	case run.plan.Job.States != nil:
		return run.checkImported(method)
	}
	run.build = func(model sema.Valuation) (*sema.Program, instance, error) { return run.compile(method, model) }
	return run.checkPlan()
}

// composeAutomata replaces the plan by a plan whose automata are composed and minimised, if the job asks for this. The plan gets a warning instead if no
// automata can be composed: all automata have variables, or a property depends on their states or counts steps.
func (run *run) composeAutomata() error {
	job := &run.plan.Job
	switch {
	case !job.Numeric.Compose:
		return nil
	case job.Numeric.Disk != "" || job.States != nil || len(run.plan.Params) > 0 || needsAllStates(job):
		return errors.New("composed automata have no schedulers, certificates, witnesses, quotients, parameters and states on disk")
	}
	var composed *runner.Plan
	if run.ignoresStuttering() {
		var err error
		if composed, err = run.plan.Composed(run.ctx); err != nil {
			return err
		}
	}
	if composed == nil {
		composed = run.plan.WithWarning("no automata were composed: the model has none without variables, or a property depends on their states or counts steps")
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.plan = composed
	return nil
}

// ignoresStuttering reports whether no property of the plan counts steps. Then internal steps of automata can be removed without changing an answer. It
// is false if a property cannot be read.
func (run *run) ignoresStuttering() bool {
	_, properties, err := run.plan.Instances()
	if err != nil {
		return false
	}
	for i := range properties {
		if !logic.IgnoresStuttering(&properties[i]) {
			return false
		}
	}
	return true
}

// checkImported checks every property of the plan on a state space that was read from files.
func (run *run) checkImported(method method) error {
	space, err := explicit.SpaceOf(run.ctx, run.plan.Job.States, fractionsOf(method, run.plan))
	if err != nil {
		return err
	}
	if declaredModel := space.Declares(); declaredModel != run.plan.Model {
		if err := run.replaceModel(declaredModel); err != nil {
			return err
		}
	}
	run.build = func(sema.Valuation) (*sema.Program, instance, error) {
		return space.Program(), method.imported(space), run.ctx.Err()
	}
	return run.checkPlan()
}

// fractionsOf returns the kind of fractions for states from files. A POMDP always needs fractions. They are
// normalised unless answers must be exact or proven.
func fractionsOf(method method, plan *runner.Plan) explicit.Fractions {
	numeric := &plan.Job.Numeric
	needsFractions := method.fractions() || plan.Model.ModelType() == syntax.POMDP
	mustBeExact := accuracy(numeric) == result.Exact || numeric.Accuracy == result.Proven
	return explicit.FractionsFor(needsFractions, !mustBeExact)
}

// Build explores the states of the model of a plan, for the given values of its constants.
func (*Engine) Build(ctx context.Context, plan *runner.Plan, constants sema.Valuation) (*explicit.Space, error) {
	if _, err := newStatesMethod(plan); err != nil {
		return nil, err
	}
	model, err := load.Instance(plan, constants)
	if err != nil {
		return nil, err
	}
	return explicit.Build(ctx, model, load.Options(&plan.Job))
}

// replaceModel replaces the model of the plan by the model that files of states declare. Properties may refer only to variables and labels that both
// models declare.
func (run *run) replaceModel(model *sema.Model) error {
	plan, err := run.plan.Over(model)
	if err != nil {
		return err
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.plan = plan
	return nil
}

// method is a way to check properties: on the states, or on samples.
type method interface {
	// instance prepares a model for all properties. Its error is the error of every property.
	instance(ctx context.Context, m *compile.Model) (instance, error)
	// imported is instance for states that come from files.
	imported(space *explicit.Space) instance
	// fractions reports whether such states are read with fractions.
	fractions() bool
}

// instance is a model under one valuation of its constants. It checks one property at a time.
type instance interface {
	check(ctx context.Context, p *checkedProperty) result.Verdict
}

// checkedProperty is a property to check.
type checkedProperty struct {
	runner.Instance
	constants []result.Constant // the constants of the model and of the property
	// keepVerdict stores a verdict that has its value but is not complete, in case the check is interrupted. missing is the beginning
	// of the message that says what the verdict lacks.
	keepVerdict func(v result.Verdict, missing string)
}

// newMethod returns the method that a plan selects: sampling, states in a directory, or states in memory.
func newMethod(plan *runner.Plan) (method, error) {
	job := &plan.Job
	isSampling := job.Method != "" && job.Method != runner.States
	switch {
	case isSampling:
		return newSampling(job)
	case job.Numeric.Disk != "":
		return newDiskMethod(plan)
	}
	return newStatesMethod(plan)
}

// failure converts an error to the failure of a verdict. A diagnostic of a file gets the given class and keeps its
// position. Any other error is classified by check.Failure and gets the given position.
func failure(err error, class result.Class, file string, position syntax.Pos) *result.Failure {
	if diagnostic, ok := errors.AsType[*syntax.Error](err); ok {
		return &result.Failure{Class: class, Message: diagnostic.Msg, File: diagnostic.File, Pos: diagnostic.Pos}
	}
	return check.Failure(err, file, position)
}
