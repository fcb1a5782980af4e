package crosscheck

import (
	"context"
	"math"

	"tilecheck/native/simulate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/agree"
	"tilecheck/verify/validity"
)

// DefaultMaxStates is how many states the strict check looks at by default.
const DefaultMaxStates = 5_000_000

// subject is a model that is checked.
type subject struct {
	plan      *runner.Plan
	instances []*instance
}

// instance is a subject under one valuation of its constants.
type instance struct {
	*validity.Instance // nil until it is checked
	valuation          sema.Valuation
	check              ModelCheck
}

func newSubject(ctx context.Context, job runner.Job) (*subject, error) {
	p, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	s := &subject{plan: p}
	for v := range p.Models() {
		s.instances = append(s.instances, &instance{
			valuation: v, check: ModelCheck{Model: job.File, Constants: runner.Constants(v)},
		})
	}
	return s, nil
}

// strict checks every instance of the model in all of its states. The states of
// one instance are kept for a diagnosis, those of many may be too many.
func (s *subject) strict(ctx context.Context, opt *Options) {
	limits := validity.Limits{MaxStates: opt.MaxStates, NoDeadlocks: opt.NoDeadlocks}
	for _, in := range s.instances {
		in.Instance = opt.Checker.Instance(ctx, s.plan, in.valuation, limits)
		if in.check = in.Check; len(s.instances) > 1 {
			in.Forget()
		}
	}
}

// question says what a property asks under a valuation. Its bound may be an
// expression over constants of the model.
func (in *instance) question(t *runner.Task, v sema.Valuation, constants []result.Constant) agree.Question {
	q := agree.About(t.Property.X, constants)
	if in.Program == nil || t.Rejected != nil {
		return q
	}
	switch in.Program.Type {
	case syntax.DTMC, syntax.CTMC:
	default:
		q.Choices, q.NoChoices = !in.check.Deterministic, in.check.Deterministic
	}
	props, full, err := t.Source.Props.Instantiate(in.Program, []int{t.Index}, v.Map())
	if err != nil {
		return q
	}
	p := &simulate.Property{Property: props[0], Program: full, File: t.Source.File}
	o, err := simulate.NewObjective(p, simulate.DefaultMaxPath)
	if err != nil { // nothing says that samples of it are independent paths
		q.Operator, q.Bound = 0, math.NaN()
		return q
	}
	q.Rel, q.Bound = o.Rel, o.Bound
	return q
}
