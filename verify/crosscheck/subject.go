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

// subject is a model to check, with its properties.
type subject struct {
	plan      *runner.Plan
	instances []*instance
}

// instance is a subject under one valuation of its constants.
type instance struct {
	*validity.Instance // nil before the strict check
	valuation          sema.Valuation
	check              ModelCheck
}

func subjectOf(p *runner.Plan, err error) (*subject, error) {
	if err != nil {
		return nil, err
	}
	s := &subject{plan: p}
	for v := range p.Models() {
		s.instances = append(s.instances, &instance{
			valuation: v, check: ModelCheck{Model: p.Job.File, Constants: runner.Constants(v)},
		})
	}
	return s, nil
}

// strict runs the strict check on every instance of the model. If there are several it drops their state spaces, to
// save memory; a diagnosis then builds them again.
func (s *subject) strict(ctx context.Context, opt *Options) {
	for _, in := range s.instances {
		if in.strict(ctx, s.plan, opt); len(s.instances) > 1 {
			in.Forget()
		}
	}
}

func (in *instance) strict(ctx context.Context, plan *runner.Plan, opt *Options) {
	limits := validity.Limits{MaxStates: opt.MaxStates, NoDeadlocks: opt.NoDeadlocks}
	in.Instance = opt.Checker.Instance(ctx, plan, in.valuation, limits)
	in.check = in.Check
}

// space returns the state space, with fractions if exact.
func (in *instance) space(ctx context.Context, exact bool) (*explicit.Space, error) {
	if exact {
		return in.Exact(ctx)
	}
	return in.Space(ctx)
}

// question returns what a property asks under a valuation. Its bound may depend on constants of the model.
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
	of, err := t.Instance(in.Program, v)
	if err != nil {
		return q
	}
	p := &of
	o, err := simulate.NewObjective(p, simulate.DefaultMaxPath)
	if err != nil { // its samples may not be independent paths, so there is no statistical test
		q.Operator, q.Bound = 0, math.NaN()
		return q
	}
	q.Rel, q.Bound = o.Rel, o.Bound
	return q
}
